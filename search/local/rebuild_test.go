package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codesage"
	"codesage/search"
	"codesage/search/index"
)

// rebuilder opens an index whose rebuilds write run 1 again, after before.
func rebuilder(t *testing.T, x *Index, o Options, before func()) *Index {
	t.Helper()
	var y *Index
	o.Rebuild = func(ctx context.Context, s codesage.Snapshot, _ Part) error {
		before()
		w, err := y.Begin(ctx, codesage.Repository{ID: s.Repository}, 0, codesage.Run{ID: s.Run, Attempt: search.Rebuilt})
		if err != nil {
			return err
		}
		defer w.Abort()
		r := search.Record{EntityType: codesage.EntityFunction, EntityName: "loadOne", Language: "go", LineStart: 1, LineEnd: 2}
		if err := w.Put(ctx, "loadOne.go", 0, []search.Record{r}); err != nil {
			return err
		}
		return w.Commit(ctx)
	}
	y = openAgain(t, x, o)
	return y
}

// searchAll searches run 1 by several processes at once.
func searchAll(t *testing.T, processes []*Index) {
	t.Helper()
	var group sync.WaitGroup
	for i, x := range processes {
		group.Go(func() {
			r, err := x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{one}, Limit: 10})
			if err != nil || r.TotalHits != 1 {
				t.Errorf("process %d: %d hits, %v, want 1", i, r.TotalHits, err)
			}
		})
	}
	group.Wait()
}

func TestProcessesTakeTurnsToRebuild(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	truncate(t, files(t, x, index.SegmentExt), 500)
	var calls atomic.Int32
	var processes []*Index
	for range 4 {
		processes = append(processes, rebuilder(t, x, Options{}, func() { calls.Add(1) }))
	}
	searchAll(t, processes)
	if n := calls.Load(); n != 1 {
		t.Errorf("rebuilt %d times, want once", n)
	}
}

// Rebuilds of several processes at the same time do no harm, and a sweep leaves
// one of them.
func TestProcessesMayRebuildAtOnce(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	truncate(t, files(t, x, index.SegmentExt), 500)
	var begun sync.WaitGroup
	begun.Add(3)
	var processes []*Index
	for range 3 {
		processes = append(processes, rebuilder(t, x, Options{RebuildTurn: time.Millisecond}, func() { begun.Done(); begun.Wait() }))
	}
	searchAll(t, processes)
	retain(t, x, map[codesage.RepositoryID][]codesage.RunID{1: {1}})
	searchAll(t, append(processes, openAgain(t, x, Options{})))
	if got := left(t, x); len(got) != 3 {
		t.Errorf("%q are left, want the lock, a manifest and its segment", got)
	}
}

// What a rebuild has replaced stays until a sweep, and nobody reads it.
func TestVerifyLooksAtNothingThatWasRebuilt(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	truncate(t, files(t, x, index.SegmentExt), 500)
	if n, err := x.Verify(t.Context()); !errors.Is(err, index.ErrCorrupt) || n != 1 {
		t.Errorf("before: %d segments, %v", n, err)
	}
	y := rebuilder(t, x, Options{}, func() {})
	searchAll(t, []*Index{y})
	if n, err := y.Verify(t.Context()); err != nil || n != 1 {
		t.Errorf("after: %d segments, %v", n, err)
	}
	if got := len(files(t, x, index.SegmentExt)); got != 2 {
		t.Errorf("there are %d segments, want the damaged one, too", got)
	}
}

// The process whose turn it is may stand still.
func TestARebuildWaitsForAnotherForAWhileOnly(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	f, err := x.folder(1, Entities)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := index.LockDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	remove(t, files(t, x, index.ManifestExt))
	searchAll(t, []*Index{rebuilder(t, x, Options{RebuildTurn: time.Millisecond}, func() {})})
}

// Another process has rebuilt what this one knows to be damaged.
func TestARebuildOfAnotherProcessIsFound(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	y := rebuilder(t, x, Options{}, func() { t.Error("rebuilt once more") })
	o, err := y.acquire(t.Context(), one, Entities, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	o.suspect()
	o.release()
	w := beginAttempt(t, x, 0, codesage.Run{ID: 1, Attempt: search.Rebuilt})
	putName(t, w, "loadOne.go", "loadOne")
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	searchAll(t, []*Index{y})
}

// A reader of an old run opens it although newer ones are open.
func TestAnOldRunOpensBesideNewerOnes(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	for run := codesage.RunID(1); run <= 4; run++ {
		put(t, x, 0, codesage.Snapshot{Repository: 1, Run: run}, fmt.Sprintf("load%d", run))
	}
	for _, run := range []codesage.RunID{4, 3, 2, 1, 2} {
		wantNames(t, x, codesage.Snapshot{Repository: 1, Run: run}, fmt.Sprintf("load%d", run))
	}
}
