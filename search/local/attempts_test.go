package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/index"
)

// openAgain opens the folder of an index as another process would.
func openAgain(t *testing.T, x *Index, o Options) *Index {
	t.Helper()
	y, err := Open(x.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { y.Close() })
	return y
}

func beginAttempt(t *testing.T, x *Index, base codesage.RunID, run codesage.Run) search.Writer {
	t.Helper()
	w, err := x.Begin(t.Context(), codesage.Repository{ID: max(run.Repository, 1)}, base, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Abort)
	return w
}

// putName gives a path one function with a name.
func putName(t *testing.T, w search.Writer, path, name string) {
	t.Helper()
	r := search.Record{EntityType: codesage.EntityFunction, EntityName: name, FilePath: path, Language: "go", LineStart: 1, LineEnd: 2, RankWeight: 3}
	if err := w.Put(t.Context(), path, 0, []search.Record{r}); err != nil {
		t.Fatal(err)
	}
}

func functions(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s%d", prefix, i))
	}
	return list
}

// left returns the files in the parts of all repositories.
func left(t *testing.T, x *Index) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(x.dir, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func retain(t *testing.T, x *Index, keep map[codesage.RepositoryID][]codesage.RunID) {
	t.Helper()
	if err := x.Retain(t.Context(), keeping(keep)); err != nil {
		t.Fatal(err)
	}
}

// names returns what a search for "load" finds.
func names(t *testing.T, x *Index, at codesage.Snapshot) (list []string) {
	t.Helper()
	r, err := x.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{at}, Limit: 50})
	if err != nil {
		t.Fatalf("search run %d of repository %d: %v", at.Run, at.Repository, err)
	}
	for _, h := range r.Hits {
		list = append(list, h.EntityName)
	}
	slices.Sort(list)
	return list
}

func wantNames(t *testing.T, x *Index, at codesage.Snapshot, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := names(t, x, at); !slices.Equal(got, want) {
		t.Errorf("run %d of repository %d has %q, want %q", at.Run, at.Repository, got, want)
	}
}

// An attempt whose worker stands still holds up nobody, and what it commits when
// it goes on is never read.
func TestALateAttemptIsNotRead(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	y := openAgain(t, x, Options{})
	first := beginAttempt(t, x, 0, codesage.Run{ID: 1, Attempt: 1})
	putName(t, first, "a.go", "loadOld")
	second := beginAttempt(t, y, 0, codesage.Run{ID: 1, Attempt: 2})
	putName(t, second, "a.go", "loadNew")
	if err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNames(t, x, one, "loadNew")
	wantNames(t, y, one, "loadNew")
	retain(t, y, map[codesage.RepositoryID][]codesage.RunID{1: {1}})
	if err := first.Commit(t.Context()); err != nil {
		t.Errorf("the late commit: %v", err)
	}
	for _, reader := range []*Index{x, y, openAgain(t, x, Options{})} {
		wantNames(t, reader, one, "loadNew")
	}
	retain(t, x, map[codesage.RepositoryID][]codesage.RunID{1: {1}})
	if got := left(t, x); len(got) != 2 {
		t.Errorf("%q are left, want a manifest and its segment", got)
	}
	wantNames(t, openAgain(t, x, Options{}), one, "loadNew")
}

// The base of an attempt that was overtaken may be swept: its commit fails and
// changes nothing.
func TestALateAttemptWhoseBaseIsGoneFails(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	y := openAgain(t, x, Options{})
	base := functions("load", 30)
	put(t, x, 0, one, base...)
	late := beginAttempt(t, x, 1, codesage.Run{ID: 2, Attempt: 1})
	putName(t, late, "late.go", "loadLate") // too little to merge it with the base
	w := beginAttempt(t, y, 1, codesage.Run{ID: 2, Attempt: 2})
	for _, name := range base {
		putName(t, w, name+".go", "new_"+name)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	keep := map[codesage.RepositoryID][]codesage.RunID{1: {2}}
	retain(t, y, keep)
	if err := late.Commit(t.Context()); !errors.Is(err, codesage.ErrUnavailable) {
		t.Errorf("the late commit: got %v, want KindUnavailable", err)
	}
	late.Abort()
	retain(t, y, keep)
	for _, reader := range []*Index{x, y} {
		wantNames(t, reader, codesage.Snapshot{Repository: 1, Run: 2}, functions("new_load", 30)...)
	}
	if got := left(t, x); len(got) != 2 {
		t.Errorf("%q are left, want a manifest and its segment", got)
	}
}

// A damaged manifest of the latest attempt does not give way to an earlier one.
func TestDamageOfTheLatestAttemptIsRebuilt(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	for n, name := range []string{"loadOld", "loadNew"} {
		w := beginAttempt(t, x, 0, codesage.Run{ID: 1, Attempt: n + 1})
		putName(t, w, "a.go", name)
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	truncate(t, files(t, x, "run-1-2.json"), 10)
	var y *Index
	y = openAgain(t, x, Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, _ Part) error {
		w := beginAttempt(t, y, 0, codesage.Run{ID: s.Run, Attempt: search.Rebuilt})
		putName(t, w, "a.go", "loadNew")
		return w.Commit(ctx)
	}})
	retain(t, y, map[codesage.RepositoryID][]codesage.RunID{1: {1}})
	wantNames(t, y, one, "loadNew")
}

// What begins, commits and is published between the look of a sweep and its
// question stays.
func TestRetainSparesWhatComesMeanwhile(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	y := openAgain(t, x, Options{})
	put(t, x, 0, one, "loadOne")
	begun := beginAttempt(t, y, 1, codesage.Run{ID: 2, Attempt: 1})
	putName(t, begun, "two.go", "loadTwo")
	err := x.Retain(t.Context(), func(ctx context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
		if err := begun.Commit(ctx); err != nil {
			t.Error(err)
		}
		put(t, y, 2, codesage.Snapshot{Repository: 1, Run: 3}, "loadThree")
		put(t, y, 0, codesage.Snapshot{Repository: 9, Run: 4}, "loadFour")
		return map[codesage.RepositoryID][]codesage.RunID{1: {3}, 9: {4}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*Index{x, y, openAgain(t, x, Options{})} {
		wantNames(t, reader, codesage.Snapshot{Repository: 1, Run: 3}, "loadOne", "loadTwo", "loadThree")
		wantNames(t, reader, codesage.Snapshot{Repository: 9, Run: 4}, "loadFour")
	}
}

// The answer may be older than what came: what was not noted is not removed.
func TestRetainRemovesOnlyWhatItHadNoted(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	y := openAgain(t, x, Options{})
	put(t, x, 0, one, functions("load", 30)...)
	err := x.Retain(t.Context(), func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
		put(t, y, 1, two, "loadTwo")
		put(t, y, 0, codesage.Snapshot{Repository: 9, Run: 3}, "loadThree")
		return map[codesage.RepositoryID][]codesage.RunID{1: {1}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, y, one, functions("load", 30)...)
	wantNames(t, y, two, append(functions("load", 30), "loadTwo")...)
	wantNames(t, y, codesage.Snapshot{Repository: 9, Run: 3}, "loadThree")
}

func TestALaterAttemptReplacesWhatIsOpen(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	for n, name := range []string{"loadOld", "loadNew"} {
		w := beginAttempt(t, x, 0, codesage.Run{ID: 1, Attempt: n + 1})
		putName(t, w, "a.go", name)
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantNames(t, x, one, name)
	}
}

// Writers, sweeps and readers of several processes work at the same time.
func TestSweepsBesideWritersAndReaders(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	var mu sync.Mutex // guards what the store knows
	published, begun := one.Run, one.Run
	put(t, x, 0, one, "load0")
	keep := func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
		mu.Lock()
		defer mu.Unlock()
		return map[codesage.RepositoryID][]codesage.RunID{1: {published - 1, published, begun}}, nil
	}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 2 {
		y := openAgain(t, x, Options{})
		group.Go(func() {
			for isDone := false; !isDone; {
				select {
				case <-stop:
					isDone = true
				default:
				}
				if err := y.Retain(t.Context(), keep); err != nil {
					t.Error(err)
				}
			}
		})
	}
	want := map[string]bool{"load0": true}
	for run := codesage.RunID(2); run <= 40; run++ {
		name := fmt.Sprintf("load%d", run%7)
		mu.Lock()
		begun = run
		mu.Unlock()
		y := openAgain(t, x, Options{Budget: 1})
		put(t, y, run-1, codesage.Snapshot{Repository: 1, Run: run}, name)
		mu.Lock()
		published = run
		mu.Unlock()
		want[name] = true
		wantNames(t, openAgain(t, x, Options{}), codesage.Snapshot{Repository: 1, Run: run}, slices.Collect(maps.Keys(want))...)
	}
	close(stop)
	group.Wait()
	if got := files(t, x, index.ManifestExt); len(got) != 2 {
		t.Errorf("%q are left, want the manifests of the last two runs", got)
	}
}

func TestRetainRemovesNothingWhenItCannotAsk(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	put(t, x, 0, one, "loadOne")
	away := errors.New("the database is away")
	err := x.Retain(t.Context(), func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) { return nil, away })
	if !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	wantNames(t, x, one, "loadOne")
}

func TestTheFolderOfARemovedRepositoryGoesWithItsLastWriter(t *testing.T) {
	t.Parallel()
	x := openTest(t, Options{})
	y := openAgain(t, x, Options{})
	put(t, x, 0, one, "loadOne")
	w := beginAttempt(t, y, 1, codesage.Run{ID: 2, Attempt: 1})
	putName(t, w, "a.go", "loadTwo")
	retain(t, x, nil)
	dir := filepath.Join(x.dir, "1")
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("while a writer is at work: %v", err)
	}
	w.Abort()
	retain(t, x, nil)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the writer has ended: %v", err)
	}
}

func TestTheIndexIsForItsUserAlone(t *testing.T) {
	t.Parallel()
	x, err := Open(filepath.Join(t.TempDir(), "index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	put(t, x, 0, one, "loadOne")
	err = filepath.WalkDir(x.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
