package watch

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline/decode"
	"codesage/pipeline/source"
	sourcefolder "codesage/pipeline/source/folder"
)

// opened returns the tree of a folder and what reads its notifications up to a
// fence, and returns the paths of those that count.
func opened(t *testing.T, r codesage.Repository, except ...string) (*tree, func() []string) {
	t.Helper()
	w := New(Options{Except: except})
	rules, err := newRules(r, w.except)
	must(t, err)
	tree, _, err := openTree(t.Context(), rules, w.watches, time.Time{})
	must(t, err)
	t.Cleanup(tree.close)
	n := 0
	return tree, func() (counted []string) {
		t.Helper()
		n++
		fence := fmt.Sprintf("fence%d", n)
		write(t, r.Path, fence, "")
		for {
			var e fsnotify.Event
			select {
			case e = <-tree.notify.Events:
			case err := <-tree.notify.Errors:
				t.Fatal(err)
			case <-time.After(patience):
				t.Fatal("the fence is not seen")
			}
			changed, _, err := tree.happened(t.Context(), e)
			must(t, err)
			rel, _ := tree.rel(e.Name)
			switch {
			case rel == fence:
				slices.Sort(counted)
				return slices.Compact(counted)
			case changed && !strings.HasPrefix(rel, "fence"):
				counted = append(counted, rel)
			}
		}
	}
}

func TestWhatIsNotIndexedStartsNothing(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "in/b.go", ".git/HEAD", ".git/logs/HEAD", ".git/info/exclude", "out/old.txt")
	write(t, dir, ".gitignore", "*.log\n/out/\n")
	write(t, dir, "in/.gitignore", "made/\n")
	write(t, dir, ".git/info/exclude", "*.local\n")
	write(t, dir, "own/data.txt", "")
	tree, seen := opened(t, codesage.Repository{Path: dir}, filepath.Join(dir, "own"), filepath.Join(dir, "serve.txt"))
	for i := range 200 {
		for _, path := range []string{
			"app.log", "in/app.log", "out/x.txt", "out/deep/er/x.txt", "in/made/x.txt", "mine.local", "node_modules/p/index.js",
			".cache/x.txt", ".git/index", ".git/index.lock", ".git/refs/heads/main", "picture.png", ".a.go.swp", "own/data.txt", "serve.txt",
		} {
			write(t, dir, path, fmt.Sprint(i))
		}
		if i%50 == 0 {
			for _, path := range []string{"in/made", "node_modules", ".cache", "app.log", ".git/index.lock"} {
				must(t, os.RemoveAll(filepath.Join(dir, path)))
			}
			must(t, os.Chmod(filepath.Join(dir, "a.go"), 0o600))
			must(t, os.MkdirAll(filepath.Join(dir, "empty", "folders"), 0o755))
		}
	}
	for range 2 {
		if diff := cmp.Diff([]string(nil), seen()); diff != "" {
			t.Errorf("these count as changes (-want +got):\n%s", diff)
		}
		must(t, os.RemoveAll(filepath.Join(dir, "empty")))
	}
	if tree.stale {
		t.Error("the tree is to be read again")
	}
	write(t, dir, "in/b.go", "new")
	write(t, dir, ".hidden", "new")
	write(t, dir, ".git/logs/HEAD", "a commit")
	must(t, os.Symlink("a.go", dir+"/link"))
	want := []string{".git/logs/HEAD", ".hidden", "in/b.go", "link"}
	if diff := cmp.Diff(want, seen()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestIncludePatternsNarrowWhatCounts(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "in/b.go")
	_, seen := opened(t, codesage.Repository{Path: dir, Options: codesage.IndexOptions{Include: []string{"*.go"}, Exclude: []string{"**/gen/**"}}})
	for _, path := range []string{"a.txt", "in/b.go", "in/b.md", "gen/c.go"} {
		write(t, dir, path, "new")
	}
	if diff := cmp.Diff([]string{"in/b.go"}, seen()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestChangedIgnoreFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "out/deep/b.go")
	write(t, dir, ".gitignore", "out/\n")
	age(t, dir)
	h := newHouse(t, Options{})
	id := h.watched(dir)
	write(t, dir, ".gitignore", "other/\n")
	h.refreshed(id, 1)
	write(t, dir, "out/deep/b.go", "counts now")
	h.refreshed(id, 2)
	if got := h.log.count("the folder is watched"); got != 2 {
		t.Errorf("the tree was read %d times, want 2", got)
	}
}

func TestLostNotificationsLoseNoChange(t *testing.T) {
	t.Parallel()
	queue := half("max_queued_events", 0) * 2
	if runtime.GOOS != "linux" || queue == 0 || queue > 50_000 {
		t.Skip("only where the system's queue of notifications is known and short")
	}
	dir := oldTree(t, "a.go")
	h := newHouse(t, Options{Debounce: time.Millisecond})
	id := h.add("app", dir)
	f := newFolder(h.watcher, codesage.Repository{ID: id, Path: dir}, time.Now())
	var err error
	f.rules, err = newRules(f.repo, nil)
	must(t, err)
	f.look(t.Context())
	defer f.unwatch()
	defer f.change.timer.Stop()
	for i := 0; i < 2*queue; i += 3 { // create, write, delete
		write(t, dir, "noise.log", "x")
		must(t, os.Remove(dir+"/noise.log"))
	}
	write(t, dir, "made/meanwhile/b.go", "nobody was told")
	lost := false
	for !lost {
		select {
		case e := <-f.tree.notify.Events:
			f.happened(t.Context(), e)
		case err := <-f.tree.notify.Errors:
			f.missed(err)
			lost = true
		case <-time.After(patience):
			t.Fatal("the queue did not overflow")
		}
	}
	h.until("the run is started", func() bool { f.due(t.Context()); return h.refreshes(id) == 1 })
	if !f.tree.dirs["made/meanwhile"] {
		t.Error("a folder that was made meanwhile is not watched")
	}
}

// TestTheRulesAreThoseOfTheSource compares with what the folder source lists, on
// random trees.
func TestTheRulesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(words ...string) string { return words[r.IntN(len(words))] }
		name := func() string {
			return pick("a", "b", "c", "out", "build", ".h", "x.go", "y.log", "z.png", "node_modules", "é")
		}
		dir := oldTree(t)
		for range 40 {
			parts := make([]string, 1+r.IntN(4))
			for i := range parts {
				parts[i] = name()
			}
			path := filepath.Join(dir, filepath.Join(parts...))
			if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
				continue
			}
			switch r.IntN(8) {
			case 0:
				_ = os.Symlink("a", path)
			case 1, 2:
				rules := pick("*.go", "out/", "/a", "b/", "!x.go", "**/c/*", ".h") + "\n" + pick("*.log", "!*.log", "/b/*", "!/b/a", "é") + "\n"
				_ = os.WriteFile(filepath.Join(filepath.Dir(path), ".gitignore"), []byte(rules), 0o644)
			default:
				_ = os.WriteFile(path, nil, 0o644)
			}
		}
		if r.IntN(3) == 0 {
			write(t, dir, ".git/info/exclude", pick("c", "*.go", "a/b")+"\n")
		}
		repo := codesage.Repository{Path: dir, Source: codesage.SourceFolder}
		if r.IntN(3) == 0 {
			repo.Options.Include = []string{pick("*.go", "a/**", dir+"/**/x.go", "**/a")}
		}
		if r.IntN(3) == 0 {
			repo.Options.Exclude = []string{pick("**/out/**", "a/*", "*.log", "**/b")}
		}
		want, got := listed(t, repo), taken(t, repo)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d, %+v: (-source +watch)\n%s", seed, repo.Options, diff)
		}
	}
}

// listed returns what the source lists of a folder, but for links and the names
// that hold no text.
func listed(t *testing.T, repo codesage.Repository) []string {
	t.Helper()
	checkout, err := sourcefolder.New(sourcefolder.Options{}).Fetch(t.Context(), repo)
	must(t, err)
	defer checkout.Close()
	paths := map[string]bool{}
	err = checkout.List(t.Context(),
		func(f source.File) error { paths[f.Path] = !decode.BinaryName(f.Path); return nil },
		func(codesage.Skip) error { return nil })
	must(t, err)
	maps.DeleteFunc(paths, func(_ string, text bool) bool { return !text })
	return slices.Sorted(maps.Keys(paths))
}

// taken returns the files that the rules take, in the directories of a walk. Of
// links they may take more than the source does.
func taken(t *testing.T, repo codesage.Repository) (paths []string) {
	t.Helper()
	rules, err := newRules(repo, nil)
	must(t, err)
	var dirs []string
	w := walk{rules: rules, enter: func(dir string, _ func() int) error { dirs = append(dirs, dir); return nil }}
	must(t, w.dir(context.Background(), ""))
	rand.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
	for _, dir := range dirs {
		rules.enter(dir)
		entries, err := readDir(rules.full(dir), false)
		must(t, err)
		for _, e := range entries {
			if !e.IsDir() && rules.takes(dir, e.Name()) {
				paths = append(paths, join(dir, e.Name()))
			}
		}
	}
	if len(paths) != w.files || len(dirs) != w.dirs {
		t.Errorf("the walk counts %d files and %d directories, want %d and %d", w.files, w.dirs, len(paths), len(dirs))
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Lstat(rules.full(path))
		return err != nil || info.Mode()&os.ModeSymlink != 0
	})
	return slices.Sorted(slices.Values(paths))
}

func TestAMassOfNewFoldersIsWatchedWhole(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go")
	h := newHouse(t, Options{})
	id := h.watched(dir)
	if out, err := exec.Command("sh", "-c", `cd "$1" && for i in 1 2 3 4 5 6 7 8 9; do mkdir -p d$i/x/y/z e$i && mv d$i e$i/f && mkdir -p d$i/x && rmdir e$i/f/x/y/z; done`, "sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for i := 1; i <= 9; i++ {
		n := h.refreshes(id)
		write(t, dir, fmt.Sprintf("e%d/f/x/y/new.go", i), "x")
		write(t, dir, fmt.Sprintf("d%d/x/new.go", i), "x")
		h.until("the new files are seen", func() bool { return h.refreshes(id) > n })
	}
}
