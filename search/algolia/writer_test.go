package algolia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
)

// questions are what begin asks about a base: a deletion of nothing, behind all
// that was sent before, and two searches.
const questions = "batch+0-1 query query"

func TestRefreshSendsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	before := tree{"a.go": names("a", 5), "b.go": names("b", 4), "kept.go": names("k", 50)}
	index(t, e, 1, 1, before)
	s.Requests()

	after := tree{"a.go": names("x", 3), "kept.go": before["kept.go"], "new.go": names("n", 2)}
	w := begin(t, e, 1, 1, 2)
	write(t, w, 1, 2, before, after)
	if got := routes(s); got != questions {
		t.Errorf("before commit: asked %q, want the questions about the base only", got)
	}
	commit(t, w)
	requests := s.Requests()
	var adds, deletes []string
	lastAdd, firstDelete, published := -1, -1, 0
	for i, q := range requests {
		if len(q.Adds) > 0 {
			lastAdd = i
		}
		if len(q.Deletes) > 0 && firstDelete < 0 {
			firstDelete = i
		}
		if q.Route == "task" && firstDelete < 0 {
			published++
		}
		adds, deletes = append(adds, q.Adds...), append(deletes, q.Deletes...)
	}
	wantDeletes := []string{
		search.ObjectID(1, "a.go", 3), search.ObjectID(1, "a.go", 4),
		search.ObjectID(1, "b.go", 0), search.ObjectID(1, "b.go", 1), search.ObjectID(1, "b.go", 2), search.ObjectID(1, "b.go", 3),
	}
	slices.Sort(deletes)
	slices.Sort(wantDeletes)
	if len(adds) != 5 || !slices.Equal(deletes, wantDeletes) {
		t.Errorf("wrote %d and deleted %q, want 5 and %q", len(adds), deletes, wantDeletes)
	}
	if lastAdd < 0 || firstDelete < lastAdd || published < 2 {
		t.Errorf("the last write is request %d, the first deletion %d, with %d polls before it: want writes published first", lastAdd, firstDelete, published)
	}
	wantEntities(t, e, 1, after)
}

func TestRunWithoutChangesWritesNothing(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	index(t, e, 1, 1, tree{"a.go": names("a", 3)})
	s.Requests()
	commit(t, begin(t, e, 1, 1, 2))
	if got := routes(s); got != questions {
		t.Errorf("asked %q, want the questions about the base", got)
	}
}

func TestFirstRunIsSearchableWhenCommitReturns(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{TaskPolls: 5})
	e := openAt(t, s, Config{})
	index(t, e, 1, 1, tree{"a.go": names("load", 3)})
	if got := s.Records("entities"); got != 3 {
		t.Errorf("%d records are published, want 3", got)
	}
}

func TestBatchesAreBoundedByCountAndBytes(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{HoldBytes: 1 << 20})
	w := begin(t, e, 1, 0, 1)
	for i := range 500 {
		path := fmt.Sprintf("f%d.go", i)
		list := recordsOf(1, 1, path, names("n", 5))
		if i >= 250 {
			list = recordsOf(1, 1, path, names("n", 3))
			for j := range list {
				list[j].Content = strings.Repeat("x", 8500)
			}
		}
		if err := w.Put(t.Context(), path, 0, list); err != nil {
			t.Fatal(err)
		}
	}
	requests := s.Requests()
	if !slices.ContainsFunc(requests, func(q algoliatest.Request) bool { return q.Route == "batch" }) {
		t.Error("a writer with more than it may hold back sent nothing before commit")
	}
	commit(t, w)
	if got := s.Records("entities"); got != 2000 {
		t.Errorf("%d records, want 2000", got)
	}
	batches := 0
	for _, q := range append(requests, s.Requests()...) {
		if q.Route != "batch" {
			continue
		}
		batches++
		body, err := json.Marshal(q.Body)
		if err != nil || len(q.Adds) > maxBatch || len(body) > maxBatchBytes+100*maxBatch {
			t.Errorf("a batch of %d records has %d bytes, %v", len(q.Adds), len(body), err)
		}
	}
	if batches > 4 {
		t.Errorf("sent %d batches, want full ones", batches)
	}
}

func TestTooLargeRecordIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	w := begin(t, e, 1, 0, 1)
	list := recordsOf(1, 1, "a.go", names("n", 1))
	list[0].Content = strings.Repeat("x", maxRecordBytes)
	s.Requests()
	if err := w.Put(t.Context(), "a.go", 0, list); codesage.KindOf(err) != codesage.KindTooLarge {
		t.Errorf("got %v, want KindTooLarge", err)
	}
	if got := routes(s); got != "" {
		t.Errorf("asked %q, want nothing", got)
	}
}

func TestForceReplacesAllRecordsOfTheRepository(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{PageSize: 7})
	e := openAt(t, s, Config{})
	other := tree{"a.go": names("other", 9)}
	index(t, e, 2, 1, other)
	index(t, e, 1, 2, tree{"a.go": names("a", 40), "gone.go": names("g", 20)})
	after := tree{"a.go": names("b", 3), "c.go": names("c", 1)}
	index(t, e, 1, 3, after)
	wantEntities(t, e, 1, after)
	wantEntities(t, e, 2, other)
}

func TestForceRemovesWhatWasStillOnItsWay(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	w := begin(t, e, 1, 0, 1)
	write(t, w, 1, 1, nil, tree{"a.go": names("a", 3)})
	s.Fail("task", 1, 400, 0)
	if err := w.Commit(t.Context()); err == nil {
		t.Fatal("commit gave no error")
	}
	w.Abort()
	index(t, e, 1, 2, tree{})
	index(t, e, 2, 3, tree{"a.go": {"x"}}) // by now all is done that was on its way
	wantEntities(t, e, 1, tree{})
}

func TestShorterSecondPutOfAPathLeavesNothingOfTheFirst(t *testing.T) {
	t.Parallel()
	for _, hold := range []int{1, 0} {
		e, _ := openFake(t, Config{HoldBytes: hold})
		before := tree{"a.go": names("a", 2)}
		index(t, e, 1, 1, before)
		w := begin(t, e, 1, 1, 2)
		write(t, w, 1, 2, before, tree{"a.go": names("first", 9)})
		write(t, w, 1, 2, before, tree{"a.go": names("second", 1)})
		commit(t, w)
		wantEntities(t, e, 1, tree{"a.go": names("second", 1)})

		w = begin(t, e, 1, 2, 3)
		write(t, w, 1, 3, nil, tree{"a.go": names("third", 1100)})
		if err := w.Delete(t.Context(), "a.go", 1); err != nil {
			t.Fatal(err)
		}
		commit(t, w)
		wantEntities(t, e, 1, tree{})
	}
}

func TestSmallWriterThatIsGivenUpLeavesNoTrace(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	before := tree{"a.go": names("a", 3), "b.go": names("b", 3)}
	index(t, e, 1, 1, before)
	s.Requests()
	w := begin(t, e, 1, 1, 2)
	write(t, w, 1, 2, before, tree{"a.go": names("x", 30)})
	w.Abort()
	if got := routes(s); got != questions {
		t.Errorf("asked %q, want the questions of begin only", got)
	}
	if err := w.Commit(t.Context()); err == nil {
		t.Error("commit after abort gave no error")
	}
	wantEntities(t, e, 1, before)
}

// leaveHalfARun has a run of repository 1 write some of its records and end
// unpublished.
func leaveHalfARun(t *testing.T, e *Engine, s *algoliatest.Server, before tree) {
	t.Helper()
	w := begin(t, e, 1, 1, 2)
	write(t, w, 1, 2, before, tree{"a.go": names("half", 9), "b.go": before["b.go"]})
	s.Fail("task", triesOfWrite, 503, 0)
	if err := w.Commit(t.Context()); !errors.Is(err, codesage.ErrUnavailable) {
		t.Fatalf("commit: got %v, want KindUnavailable", err)
	}
	w.Abort()
}

func TestBeginRebuildsTheBaseAfterHalfARun(t *testing.T) {
	t.Parallel()
	before := tree{"a.go": names("a", 3), "b.go": names("b", 3)}
	var e *Engine
	rebuilt := 0
	e, s := openFake(t, Config{Rebuild: func(ctx context.Context, at codesage.Snapshot) error {
		rebuilt++
		w, err := e.Begin(ctx, codesage.Repository{ID: at.Repository}, 0, codesage.Run{ID: at.Run})
		if err != nil {
			return err
		}
		defer w.Abort()
		for path, list := range before {
			if err := w.Put(ctx, path, 0, recordsOf(at.Repository, at.Run, path, list)); err != nil {
				return err
			}
		}
		return w.Commit(ctx)
	}})
	index(t, e, 1, 1, before)
	leaveHalfARun(t, e, s, before)

	// a.go is as it was, so the next run does not put it.
	after := tree{"a.go": before["a.go"], "c.go": names("c", 2)}
	w := begin(t, e, 1, 1, 3)
	wantEntities(t, e, 1, before)
	write(t, w, 1, 3, before, after)
	commit(t, w)
	wantEntities(t, e, 1, after)
	commit(t, begin(t, e, 1, 3, 4))
	if rebuilt != 1 {
		t.Errorf("rebuilt %d times, want once", rebuilt)
	}
}

func TestSurplusOfHalfARunIsRemovedWithoutRebuild(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	before := tree{"a.go": names("a", 3), "b.go": names("b", 3)}
	index(t, e, 1, 1, before)
	leaveHalfARun(t, e, s, before)
	after := tree{"a.go": names("new", 2), "b.go": before["b.go"]}
	w := begin(t, e, 1, 1, 3)
	write(t, w, 1, 3, before, after)
	commit(t, w)
	wantEntities(t, e, 1, after)
}

func TestMissingBaseIsRebuilt(t *testing.T) {
	t.Parallel()
	var got []codesage.Snapshot
	e, _ := openFake(t, Config{Rebuild: func(_ context.Context, at codesage.Snapshot) error {
		got = append(got, at)
		return codesage.Errorf(codesage.KindNotFound, "run %d is no longer published", at.Run)
	}})
	_, err := e.Begin(t.Context(), codesage.Repository{ID: 4}, 8, codesage.Run{ID: 9})
	if len(got) != 1 || got[0] != (codesage.Snapshot{Repository: 4, Run: 8}) {
		t.Errorf("rebuilt %v, want run 8 of repository 4", got)
	}
	if !errors.Is(err, codesage.ErrNotFound) {
		t.Errorf("got %v, want the error of the rebuild", err)
	}
}

func TestOneWriterOfARepositoryAtATime(t *testing.T) {
	t.Parallel()
	e, _ := openFake(t, Config{LockWait: time.Millisecond})
	w := begin(t, e, 1, 0, 1)
	begin(t, e, 2, 0, 2)
	if _, err := e.Begin(t.Context(), codesage.Repository{ID: 1}, 0, codesage.Run{ID: 3}); !errors.Is(err, codesage.ErrConflict) {
		t.Errorf("got %v, want KindConflict", err)
	}
	w.Abort()
	begin(t, e, 1, 0, 3)
}

// Runs end in every way; what is published is always what the index has after
// the next one.
func TestRandomRunsLeaveWhatTheLastOneHas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			s := algoliatest.New(t, algoliatest.Options{TaskPolls: 1 + rnd.IntN(3), PageSize: 5})
			published, at := tree{}, codesage.RunID(0)
			var e *Engine
			e = openAt(t, s, Config{HoldBytes: 1 + rnd.IntN(3000), Rebuild: func(_ context.Context, b codesage.Snapshot) error {
				index(t, e, 1, b.Run, published)
				return nil
			}})
			for run := codesage.RunID(1); run <= 25; run++ {
				base, before := at, published
				if rnd.IntN(6) == 0 {
					base, before = 0, nil
				}
				after := randomTree(rnd, published)
				if rnd.IntN(4) == 0 {
					failRun(t, e, s, rnd, base, run, before, after)
					continue
				}
				w := begin(t, e, 1, base, run)
				write(t, w, 1, run, before, after)
				commit(t, w)
				// Now and then the process dies before the run is published.
				if rnd.IntN(5) > 0 {
					published, at = after, run
					wantEntities(t, e, 1, published)
				}
			}
		})
	}
}

// failRun has the service refuse a run at a random point.
func failRun(t *testing.T, e *Engine, s *algoliatest.Server, rnd *rand.Rand, base, run codesage.RunID, before, after tree) {
	t.Helper()
	w := begin(t, e, 1, base, run)
	var n, broken = 0, 1 + rnd.IntN(6)
	s.OnRequest(func(q algoliatest.Request) {
		if n++; n == broken {
			s.Fail("", 1, 400, 0)
		}
	})
	for path, list := range after {
		if !slices.Equal(before[path], list) {
			_ = w.Put(t.Context(), path, len(before[path]), recordsOf(1, run, path, list))
		}
	}
	for path, list := range before {
		if _, ok := after[path]; !ok {
			_ = w.Delete(t.Context(), path, len(list))
		}
	}
	_ = w.Commit(t.Context())
	w.Abort()
	s.OnRequest(nil)
	s.ClearFaults()
}

func randomTree(rnd *rand.Rand, from tree) tree {
	to := maps.Clone(from)
	for range rnd.IntN(6) {
		path := fmt.Sprintf("f%d.go", rnd.IntN(9))
		if rnd.IntN(3) == 0 {
			delete(to, path)
		} else {
			to[path] = names(fmt.Sprintf("v%d_", rnd.IntN(1000)), rnd.IntN(6))
		}
	}
	return to
}
