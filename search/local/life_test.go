package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// put writes a run with one function for each name, in a file of its own.
func put(t *testing.T, x *Index, base codesage.RunID, at codesage.Snapshot, names ...string) {
	t.Helper()
	if err := tryPut(t.Context(), x, base, at, names...); err != nil {
		t.Fatal(err)
	}
}

func tryPut(ctx context.Context, x *Index, base codesage.RunID, at codesage.Snapshot, names ...string) error {
	w, err := x.Begin(ctx, codesage.Repository{ID: at.Repository}, base, codesage.Run{ID: at.Run})
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, name := range names {
		r := search.Record{EntityType: codesage.EntityFunction, EntityName: name, Language: "go", LineStart: 1, LineEnd: 2, RankWeight: 3}
		if err := w.Put(ctx, name+".go", 0, []search.Record{r}); err != nil {
			return err
		}
	}
	return w.Commit(ctx)
}

// keeping names runs to keep.
func keeping(runs map[codesage.RepositoryID][]codesage.RunID) search.Keep {
	return func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) { return runs, nil }
}

func hits(t *testing.T, x *Index, text string, scope ...codesage.Snapshot) int {
	t.Helper()
	r, err := x.Search(t.Context(), search.Query{Text: text, Scope: scope, Limit: 10})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	return r.TotalHits
}

// files returns the files below a folder that end in ext.
func files(t *testing.T, x *Index, ext string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(x.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ext) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var (
	one = codesage.Snapshot{Repository: 1, Run: 1}
	two = codesage.Snapshot{Repository: 1, Run: 2}
)

// Searches run on while runs come and go and the folder is swept.
func TestReadersSeeWholeRunsWhileRunsComeAndGo(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	const runs = 25
	var published atomic.Int64
	put(t, x, 0, one, "load0", "load1", "load2")
	published.Store(1)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				run := codesage.RunID(published.Load())
				at := codesage.Snapshot{Repository: 1, Run: run}
				r, err := x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{at}, Limit: 50})
				if err != nil && codesage.RunID(published.Load()) <= run+1 {
					t.Errorf("run %d: %v", run, err)
				}
				if want := int(run) + 2; err == nil && r.TotalHits != want {
					t.Errorf("run %d has %d hits, want %d", run, r.TotalHits, want)
				}
			}
		})
	}
	for run := codesage.RunID(2); run <= runs; run++ {
		put(t, x, run-1, codesage.Snapshot{Repository: 1, Run: run}, fmt.Sprintf("load%d", run+1), "load0")
		published.Store(int64(run))
		if err := x.Retain(t.Context(), keeping(map[codesage.RepositoryID][]codesage.RunID{1: {run - 1, run}})); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
	if n := len(files(t, x, index.ManifestExt)); n != 2 {
		t.Errorf("%d manifests are left, want 2", n)
	}
	if n := len(files(t, x, index.SegmentExt)); n > 20 {
		t.Errorf("%d segments are left: they were not merged", n)
	}
}

func TestRetainRemovesWhatDeadProcessesLeft(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	put(t, x, 0, codesage.Snapshot{Repository: 2, Run: 2}, "loadTwo")
	dir := filepath.Join(x.dir, "1", string(Entities))
	for _, name := range []string{".tmp-123", ".tmp-dead-9", "dead-1.seg", "run-7-1.json", "run-6-1.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(x.dir, "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := x.Retain(t.Context(), keeping(map[codesage.RepositoryID][]codesage.RunID{1: {1, 7}})); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("got %v, %v, want a segment, its manifest and the damaged one that is kept", entries, err)
	}
	if _, err := os.Stat(filepath.Join(x.dir, "2")); !os.IsNotExist(err) {
		t.Errorf("the folder of the removed repository: %v", err)
	}
	if n := hits(t, x, "load", one); n != 1 {
		t.Errorf("got %d hits, want 1", n)
	}
	put(t, x, 0, codesage.Snapshot{Repository: 2, Run: 9}, "loadTwo")
}

func TestSizeCountsWhatOneRunIsReadFrom(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	if got := x.Size(t.Context(), one); got != 0 {
		t.Errorf("no index: got %d bytes", got)
	}
	put(t, x, 0, one, "alpha", "beta")
	texts, err := x.BeginTexts(t.Context(), one.Repository, 0, codesage.Run{ID: one.Run})
	if err != nil {
		t.Fatal(err)
	}
	if err := texts.Put(t.Context(), "a.go", hashOf("alpha"), "alpha", cut("alpha", 512, 64)); err != nil {
		t.Fatal(err)
	}
	if err := texts.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want int64
	for _, ext := range []string{index.SegmentExt, index.ManifestExt} {
		for _, file := range files(t, x, ext) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			want += info.Size()
		}
	}
	if got := x.Size(t.Context(), one); got != want || want == 0 {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	put(t, x, 1, codesage.Snapshot{Repository: 1, Run: 2}, "gamma") // beside it, until the sweep
	if got := x.Size(t.Context(), one); got != want {
		t.Errorf("beside another run: got %d bytes, want %d", got, want)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{Budget: 1})
	put(t, x, 0, one, "loadOne")
	before := len(files(t, x, ""))
	for _, end := range []func(w search.Writer){
		func(w search.Writer) { w.Abort() },
		func(w search.Writer) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := w.Commit(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("commit with a cancelled context: %v", err)
			}
			w.Abort()
		},
	} {
		w, err := x.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, name := range []string{"a.go", "b.go"} {
				if err := w.Put(t.Context(), name, 0, []search.Record{{EntityName: "x", EntityType: codesage.EntityFunction}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		end(w)
		if n := len(files(t, x, "")); n != before {
			t.Errorf("%d files, want %d as before", n, before)
		}
	}
}

func TestPutErrorsEndTheRun(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	w, err := x.BeginTexts(t.Context(), 1, 0, codesage.Run{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for name, err := range map[string]error{
		"no path":    w.Put(t.Context(), "", testHash, "", nil),
		"not UTF-8":  w.Put(t.Context(), "\xff", testHash, "", nil),
		"short hash": w.Put(t.Context(), "a", "00", "", nil),
		"odd hash":   w.Put(t.Context(), "a", strings.Repeat("z", 40), "", nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := w.Put(t.Context(), "a", testHash, "x", []codesage.Chunk{{Start: 5, End: 9}}); err == nil {
		t.Error("a chunk outside the text gave no error")
	}
	if err := w.Commit(t.Context()); err == nil {
		t.Error("a run with a file that could not be put was committed")
	}
}

func TestAFailedPutDelaysNobody(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	w, err := x.Begin(t.Context(), codesage.Repository{ID: 1}, 0, codesage.Run{ID: 1, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	r := search.Record{EntityType: codesage.EntityFunction, EntityName: "f", Language: "go", LineStart: 1, LineEnd: 2, RankWeight: 3}
	var puts sync.WaitGroup
	for range 8 {
		puts.Go(func() {
			for i := range 200 {
				ctx := t.Context()
				if i%2 == 0 {
					ctx = cancelled
				}
				_ = w.Put(ctx, "same.go", 0, []search.Record{r}) // which of them fail is a matter of luck
			}
		})
	}
	puts.Wait()
	if err := w.Commit(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("commit after a put that was cancelled: %v", err)
	}
	w.Abort()
}

func TestCandidatesNeverMissAFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 64, 8)
	h.run(map[string]string{"a.go": "func Alpha() {}", "b.go": "func Beta() {}", "empty": "", "c.go": "Alphabet"})
	h.run(map[string]string{"b.go": "no more beta", "d.go": "func alpha()"}, "a.go")
	for _, test := range []struct {
		q    index.TriQuery
		want string
		all  bool
	}{
		{index.Literal("Alpha"), "c.go", false},
		{index.Literal("Al"), "", true},
		{index.Literal("func"), "d.go", false},
	} {
		paths, all, err := h.x.Candidates(t.Context(), h.at, test.q)
		if err != nil || all != test.all {
			t.Fatalf("got all %t, %v", all, err)
		}
		if _, ok := paths[test.want]; !ok && test.want != "" {
			t.Errorf("candidates %v miss %s", paths, test.want)
		}
		if _, ok := paths["a.go"]; ok {
			t.Error("a deleted file is a candidate")
		}
	}
}

func TestClosedIndexIsUnavailable(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	x.Close()
	if _, err := x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{one}, Limit: 1}); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("search: got %v", err)
	}
	if _, _, err := x.SearchChunks(t.Context(), one, query.All{}, 1); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("search chunks: got %v", err)
	}
	if err := x.Close(); err != nil {
		t.Errorf("close twice: %v", err)
	}
}

func FuzzSearch(f *testing.F) {
	x, err := Open(f.TempDir(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { x.Close() })
	if err := tryPut(f.Context(), x, 0, one, "loadOne", "TestShallowWithState", "parse_html", "日本"); err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"load one", "WithState", "\x00\xff", "the of", "parsee htnl", "\"(*", "İ日"} {
		f.Add(text, "go", "function")
	}
	f.Fuzz(func(t *testing.T, text, language, kind string) {
		q := search.Query{Text: text, Language: language, EntityType: codesage.EntityType(kind), Scope: []codesage.Snapshot{one}, Limit: 10}
		if r, err := x.Search(t.Context(), q); err != nil || r.TotalHits < len(r.Hits) {
			t.Errorf("%+v: %d hits, %v", q, r.TotalHits, err)
		}
		if _, err := x.Suggest(t.Context(), text, q.Scope, 5); err != nil {
			t.Errorf("suggest %q: %v", text, err)
		}
	})
}
