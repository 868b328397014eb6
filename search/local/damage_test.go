package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/trace"
)

// indexInOtherSchema writes the first run again, as another version would.
func indexInOtherSchema(t *testing.T, x *Index) {
	f, err := x.folder(one.Repository, Entities)
	if err != nil {
		t.Fatal(err)
	}
	f.schema.Fields = slices.Clone(f.schema.Fields)
	f.schema.Fields[fExact].Name = "other"
	put(t, x, 0, one, "loadOne", "loadTwo")
}

func TestDamageIsRebuiltOnce(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, x *Index){
		"manifest gone":      func(t *testing.T, x *Index) { remove(t, files(t, x, "run-1-0.json")) },
		"manifest cut":       func(t *testing.T, x *Index) { truncate(t, files(t, x, "run-1-0.json"), 10) },
		"segment gone":       func(t *testing.T, x *Index) { remove(t, files(t, x, index.SegmentExt)) },
		"segment cut":        func(t *testing.T, x *Index) { truncate(t, files(t, x, index.SegmentExt), 500) },
		"segment empty":      func(t *testing.T, x *Index) { truncate(t, files(t, x, index.SegmentExt), 0) },
		"other version":      func(t *testing.T, x *Index) { flip(t, files(t, x, index.SegmentExt), 7) },
		"folder gone":        func(t *testing.T, x *Index) { os.RemoveAll(filepath.Join(x.dir, "1")) },
		"other schema":       indexInOtherSchema,
		"header overwritten": func(t *testing.T, x *Index) { flip(t, files(t, x, index.SegmentExt), 100) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := Open(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			put(t, first, 0, one, "loadOne", "loadTwo")
			damage(t, first)
			first.Close()

			var x *Index
			var calls atomic.Int32
			x, err = Open(dir, Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, p Part) error {
				calls.Add(1)
				if s != one || p != Entities {
					return fmt.Errorf("asked to rebuild %s of %v", p, s)
				}
				return tryPut(ctx, x, 0, s, "loadOne", "loadTwo")
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					r, err := x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{one}, Limit: 10})
					if err != nil || r.TotalHits != 2 {
						t.Errorf("got %d hits, %v, want 2", r.TotalHits, err)
					}
				})
			}
			group.Wait()
			if n := calls.Load(); n != 1 {
				t.Errorf("rebuilt %d times, want once", n)
			}
		})
	}
}

func remove(t *testing.T, paths []string) {
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

func truncate(t *testing.T, paths []string, n int64) {
	for _, p := range paths {
		if err := os.Truncate(p, n); err != nil {
			t.Fatal(err)
		}
	}
}

func flip(t *testing.T, paths []string, at int64) {
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		data[at] ^= 0xff
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Damage inside a section gives no error when it is read: only the check in the
// background finds it.
func TestSilentDamageIsFoundAndRebuilt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, first, 0, one, "loadOne")
	segments := files(t, first, index.SegmentExt)
	first.Close()
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(data), "loadOne")
	data[at] = 'X'
	if err := os.WriteFile(segments[0], data, 0o644); err != nil {
		t.Fatal(err)
	}

	rebuilt := make(chan struct{})
	var x *Index
	x, err = Open(dir, Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, p Part) error {
		defer close(rebuilt)
		return tryPut(ctx, x, 0, s, "loadOne")
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Verify(t.Context()); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("verify: got %v, want ErrCorrupt", err)
	}
	deadline := time.After(20 * time.Second)
	for done := false; !done; {
		hits(t, x, "load", one)
		select {
		case <-rebuilt:
			done = true
		case <-deadline:
			t.Fatal("the damage was not found")
		default:
		}
	}
	hits(t, x, "load", one)
	if err := x.Retain(t.Context(), keeping(map[codesage.RepositoryID][]codesage.RunID{1: {1}})); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Verify(t.Context()); err != nil || n != 1 {
		t.Errorf("verify after the rebuild: %d segments, %v, want 1 in order", n, err)
	}
}

// A meddler is a context that does something when it is asked for the n-th time.
type meddler struct {
	context.Context
	n  int
	do func()
}

func (m *meddler) Err() error {
	if m.n--; m.n == 0 {
		m.do()
	}
	return m.Context.Err()
}

// A check may run beside a server, which sweeps: what has gone is not damaged.
func TestVerifyBesideASweep(t *testing.T) {
	t.Parallel()
	for n := range 5 {
		x := openTest(t, Options{})
		put(t, x, 0, one, "loadOne")
		put(t, x, 0, two, "loadTwo")
		ctx := &meddler{t.Context(), n, func() { retain(t, x, map[codesage.RepositoryID][]codesage.RunID{1: {2}}) }}
		if _, err := openAgain(t, x, Options{ReadOnly: true}).Verify(ctx); err != nil {
			t.Errorf("swept at %d: %v", n, err)
		}
	}
}

// Of the repositories of a search only the damaged one is rebuilt.
func TestDamageInOneOfManyRebuildsThatOne(t *testing.T) {
	t.Parallel()
	rebuilt := make(chan codesage.Snapshot, 10)
	var x *Index
	x = openTest(t, Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, p Part) error {
		rebuilt <- s
		return tryPut(ctx, x, 0, s, "loadOne")
	}})
	two := codesage.Snapshot{Repository: 2, Run: 2}
	put(t, x, 0, one, "loadOne")
	put(t, x, 0, two, "loadOne")
	hits(t, x, "load", one, two)
	for _, path := range files(t, x, index.SegmentExt) {
		if strings.Contains(path, "/2/") {
			truncate(t, []string{path}, 1024) // under the readers
		}
	}
	deadline := time.After(20 * time.Second)
	for len(rebuilt) == 0 {
		x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{one, two}, Limit: 1})
		select {
		case <-deadline:
			t.Fatal("the damage was not found")
		default:
		}
	}
	if n := hits(t, x, "load", one, two); n != 2 {
		t.Errorf("got %d hits, want 2", n)
	}
	for range len(rebuilt) {
		if s := <-rebuilt; s != two {
			t.Errorf("rebuilt %v, want %v alone", s, two)
		}
	}
}

func TestUnavailableWhenItCannotBeRebuilt(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	for name, o := range map[string]Options{
		"no rebuild":   {},
		"read only":    {ReadOnly: true, Rebuild: func(context.Context, codesage.Snapshot, Part) error { panic("called") }},
		"fails":        {Rebuild: func(context.Context, codesage.Snapshot, Part) error { return errors.New("no such run") }},
		"takes long":   {RebuildWait: time.Millisecond, Rebuild: func(context.Context, codesage.Snapshot, Part) error { <-release; return nil }},
		"does nothing": {Rebuild: func(context.Context, codesage.Snapshot, Part) error { return nil }},
	} {
		x := openTest(t, o)
		_, err := x.Search(t.Context(), search.Query{Text: "a", Scope: []codesage.Snapshot{one}, Limit: 1})
		if !errors.Is(err, codesage.ErrUnavailable) || err.Error() != "Search is unavailable; try again later." {
			t.Errorf("%s: got %v", name, err)
		}
		if _, _, err := x.Candidates(t.Context(), one, index.Literal("abc")); !errors.Is(err, codesage.ErrUnavailable) {
			t.Errorf("%s: candidates: got %v", name, err)
		}
	}
	close(release)
}

func TestFailedRebuildIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	x := openTest(t, Options{Rebuild: func(context.Context, codesage.Snapshot, Part) error {
		calls.Add(1)
		return errors.New("store is away")
	}})
	for range 5 {
		x.Search(t.Context(), search.Query{Text: "a", Scope: []codesage.Snapshot{one}, Limit: 1})
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("called %d times, want once", n)
	}
}

func TestBeginRebuildsADamagedBase(t *testing.T) {
	t.Parallel()
	var x *Index
	x = openTest(t, Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, p Part) error {
		return tryPut(ctx, x, 0, s, "loadOne")
	}})
	put(t, x, 1, two, "loadTwo")
	if n := hits(t, x, "load", two); n != 2 {
		t.Errorf("got %d hits, want 2", n)
	}
}

// What is found damaged in a run's or a request's name is logged with its id.
func TestLinesAboutDamageHaveTheIDOfTheirCaller(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // complete after Close
	rebuiltFor := make(chan trace.Origin, 1)
	x := openTest(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Rebuild: func(ctx context.Context, _ codesage.Snapshot, _ Part) error {
		rebuiltFor <- trace.OriginOf(ctx)
		return errors.New("no such run")
	}})
	put(t, x, 0, one, "loadOne")
	segment := files(t, x, index.SegmentExt)[0]
	data, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	data[strings.LastIndex(string(data), "loadOne")] = 'X'
	if err := os.WriteFile(segment, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tryPut(trace.WithOrigin(t.Context(), trace.Origin{Run: 2}), x, 1, two, "loadTwo"); err != nil {
		t.Fatal(err)
	}
	asked := trace.WithOrigin(t.Context(), trace.Origin{Request: "r1"})
	if err := x.answer(asked, index.ErrCorrupt); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("got %v, want KindUnavailable", err)
	}
	if _, err := x.Languages(asked, []codesage.Snapshot{{Repository: 9, Run: 9}}); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("got %v, want KindUnavailable", err)
	}
	if got := <-rebuiltFor; got.Request != "r1" {
		t.Errorf("rebuilt for %+v", got)
	}
	x.Close()
	for _, want := range []string{
		`msg="search index is damaged; left unmerged" run=2 `,
		`msg="search index is damaged; it will be rebuilt" request=r1 `,
		`msg="rebuild search index" request=r1 repository=9 of_run=9 `,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in\n%s", want, log.String())
		}
	}
}
