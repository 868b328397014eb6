package folder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline/source"
)

// plant writes files below dir. A text that begins with "-> " makes a link.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func fetch(t testing.TB, dir string, o codesage.IndexOptions) source.Checkout {
	t.Helper()
	c, err := New(Options{}).Fetch(t.Context(), codesage.Repository{Path: dir, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// list returns the listed paths, and the skips as "path (reason)".
func list(t testing.TB, c source.Checkout) (paths, skips []string) {
	t.Helper()
	err := c.List(t.Context(),
		func(f source.File) error { paths = append(paths, f.Path); return nil },
		func(s codesage.Skip) error {
			skips = append(skips, fmt.Sprintf("%s (%s)", s.Path, s.Reason))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return paths, skips
}

func TestList(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		files   map[string]string
		options codesage.IndexOptions
		want    []string
		skips   []string
	}{
		{
			name:  "negated ignore rule",
			files: map[string]string{".gitignore": "plugins/*\n!plugins/keep\n", "main.go": "", "plugins/drop/a.go": "", "plugins/keep/b.go": "", "plugins/keep/sub/c.go": ""},
			want:  []string{".gitignore", "main.go", "plugins/keep/b.go", "plugins/keep/sub/c.go"},
		},
		{
			name:  "info/exclude counts outside a work tree too",
			files: map[string]string{".git/info/exclude": "private/\n", "private/a.go": "", "b.go": ""},
			want:  []string{"b.go"},
		},
		{
			name:  "ignore files at every level",
			files: map[string]string{"a/.gitignore": "*.log\n!keep.log\n", "a/b/.gitignore": "keep.log\n", "a/x.log": "", "a/keep.log": "", "a/b/keep.log": "", "x.log": ""},
			want:  []string{"a/.gitignore", "a/b/.gitignore", "a/keep.log", "x.log"},
		},
		{
			name:  "byte order of the whole path",
			files: map[string]string{"a/b": "", "a.go": "", "a-b": "", "a0": "", "a/b.c": "", "a/c": "-> x", "B": "", "é": ""},
			want:  []string{"B", "a-b", "a.go", "a/b", "a/b.c", "a0", "é"},
			skips: []string{"a/c (symlink)"},
		},
		{
			name:  "hidden folders are not entered, hidden files are kept",
			files: map[string]string{".env": "", ".github/x.yml": "", "d/.hidden/y": "", "d/.keep": ""},
			want:  []string{".env", "d/.keep"},
		},
		{
			name:  "links are reported and not followed",
			files: map[string]string{"src/a.go": "", "src/loop": "-> .", "src/up": "-> ..", "dead.go": "-> nowhere.go", "alias.go": "-> src/a.go", "out": "-> /etc"},
			want:  []string{"src/a.go"},
			skips: []string{"alias.go (symlink)", "dead.go (symlink)", "out (symlink)", "src/loop (symlink)", "src/up (symlink)"},
		},
		{
			name:  "ignored links are not reported, and a rule for folders does not hold for a link to one",
			files: map[string]string{".gitignore": "x\ny/\n", "d/a": "", "x": "-> d", "y": "-> d"},
			want:  []string{".gitignore", "d/a"},
			skips: []string{"y (symlink)"},
		},
		{
			name:  "an ignore file that is a link has no rules",
			files: map[string]string{"rules": "*.go\n", ".gitignore": "-> rules", "a.go": ""},
			want:  []string{"a.go", "rules"},
			skips: []string{".gitignore (symlink)"},
		},
		{
			name:  "default patterns",
			files: map[string]string{"target/a": "", "d/node_modules/x/y.js": "", "build/b": "", "dist/c": "", "venv/d": "", "m.pyc": "", "__pycache__/m": "", "builder/e": "", "a.go": ""},
			want:  []string{"a.go", "builder/e"},
		},
		{
			name:    "own patterns replace the default ones",
			files:   map[string]string{"target/a.go": "", "d/b.go": "", "d/b_test.go": "", "c.py": "", "e.md": ""},
			options: codesage.IndexOptions{Include: []string{"*.go", "**/*.{py,rs}"}, Exclude: []string{"*_test.go"}},
			want:    []string{"c.py", "d/b.go", "target/a.go"},
		},
		{
			name:  "names that can't be shown",
			files: map[string]string{"ok": "", "bad\xff": "", "d\xfe/x": "", "new\nline": "", "tab\t": "", "esc\x1b": ""},
			want:  []string{"ok"},
			skips: []string{"bad\uFFFD (path name)", "d\uFFFD (path name)", "esc\x1b (path name)", "new\nline (path name)", "tab\t (path name)"},
		},
		{
			name:  "odd names that are fine",
			files: map[string]string{"{a,b.go": "", "a b": "", "a\\b": "", "aux.c": "", "-x": "", "[a]": "", "日本": ""},
			want:  []string{"-x", "[a]", "a b", "a\\b", "aux.c", "{a,b.go", "日本"},
		},
		{
			name:  "the file of a linked work tree",
			files: map[string]string{".git": "gitdir: /nowhere\n", "sub/.git": "gitdir: ../x\n", "sub/a": ""},
			want:  []string{"sub/a"},
		},
		{name: "empty folder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, tc.files)
			paths, skips := list(t, fetch(t, dir, tc.options))
			if diff := cmp.Diff(tc.want, paths); diff != "" {
				t.Errorf("paths differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.skips, skips); diff != "" {
				t.Errorf("skips differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPatternsSeeThePathInTheFolderOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "build", "target", "app")
	plant(t, dir, map[string]string{"a.go": "", "build/b.go": ""})
	paths, _ := list(t, fetch(t, dir, codesage.IndexOptions{}))
	if want := []string{"a.go"}; !slices.Equal(paths, want) {
		t.Errorf("paths = %q, want %q", paths, want)
	}
	paths, _ = list(t, fetch(t, dir, codesage.IndexOptions{Include: []string{dir + "/build/*"}, Exclude: []string{"nothing"}}))
	if want := []string{"build/b.go"}; !slices.Equal(paths, want) {
		t.Errorf("paths by an absolute pattern = %q, want %q", paths, want)
	}
}

func TestRulesAboveTheFolderDoNotCount(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	plant(t, top, map[string]string{".gitignore": "*.go\n", ".git/info/exclude": "*.py\n", "app/a.go": "", "app/b.py": ""})
	paths, _ := list(t, fetch(t, filepath.Join(top, "app"), codesage.IndexOptions{}))
	if want := []string{"a.go", "b.py"}; !slices.Equal(paths, want) {
		t.Errorf("paths = %q, want %q", paths, want)
	}
}

func TestOrderIsThatOfThePaths(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for range 400 {
		parts := make([]string, 1+r.IntN(4))
		for i := range parts {
			parts[i] = []string{"a", "a.b", "a-b", "a b", "ab", "b", "a0", "z!"}[r.IntN(8)]
		}
		full := filepath.Join(dir, strings.Join(parts, "/"))
		if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
			os.WriteFile(full, nil, 0o644) // a folder of that name may be there
		}
	}
	paths, _ := list(t, fetch(t, dir, codesage.IndexOptions{}))
	if !slices.IsSorted(paths) || len(paths) < 50 {
		t.Errorf("%d paths, not in order: %q", len(paths), paths)
	}
}

func TestSpecialFilesAreNeverOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.go": "a"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("unix", filepath.Join(dir, "s")); err == nil {
		defer l.Close()
	}
	c := fetch(t, dir, codesage.IndexOptions{})
	paths, skips := list(t, c)
	if !slices.Equal(paths, []string{"a.go"}) || skips != nil {
		t.Errorf("paths = %q, skips = %q; want a.go alone", paths, skips)
	}
	for _, name := range []string{"pipe", "s"} {
		if _, _, err := c.Read(t.Context(), source.File{Path: name}, 10); !errors.Is(err, codesage.ErrNotFound) {
			t.Errorf("read %s: %v, want not found", name, err)
		}
	}
}

func TestTooDeepTreeIsSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{strings.Repeat("d/", 300) + "x": "", "e": ""})
	paths, skips := list(t, fetch(t, dir, codesage.IndexOptions{}))
	if !slices.Equal(paths, []string{"e"}) || len(skips) != 1 || !strings.HasSuffix(skips[0], "(path name)") {
		t.Errorf("paths = %q, skips = %q", paths, skips)
	}
}

func TestListStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a": "", "b": "", "l": "-> a"})
	c := fetch(t, dir, codesage.IndexOptions{})
	stop := errors.New("stop")
	pass := func(source.File) error { return nil }
	if err := c.List(t.Context(), func(source.File) error { return stop }, nil); err != stop {
		t.Errorf("error of file = %v, want its own", err)
	}
	if err := c.List(t.Context(), pass, func(codesage.Skip) error { return stop }); err != stop {
		t.Errorf("error of skip = %v, want its own", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	err := c.List(ctx, func(source.File) error { seen++; cancel(); return nil }, nil)
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("cancelled list = %v after %d files", err, seen)
	}
	if _, _, err := c.Read(ctx, source.File{Path: "a"}, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read = %v", err)
	}
}

func TestUnreadableIsSkipped(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a": "", "d/b": "", "f": ""})
	for _, name := range []string{"d", "f"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "d"), 0o755) })
	c := fetch(t, dir, codesage.IndexOptions{})
	paths, skips := list(t, c)
	if !slices.Equal(paths, []string{"a", "f"}) || !slices.Equal(skips, []string{"d (unreadable)"}) {
		t.Errorf("paths = %q, skips = %q", paths, skips)
	}
	if _, _, err := c.Read(t.Context(), source.File{Path: "f"}, 10); !errors.Is(err, codesage.ErrDenied) {
		t.Errorf("read = %v, want denied", err)
	}
}

// awaitTick waits until the clock of the file system is past a time of it: it may
// count in steps of some milliseconds.
func awaitTick(t *testing.T, past time.Time) {
	t.Helper()
	dir := t.TempDir()
	for now := past; !now.After(past); {
		plant(t, dir, map[string]string{"file": ""})
		info, err := os.Stat(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		now = info.ModTime()
	}
}

func TestStamps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a": "one", "b": "one"})
	stamps := func(later time.Duration) map[string]string {
		s := New(Options{Now: func() time.Time { return time.Now().Add(later) }})
		c, err := s.Fetch(t.Context(), codesage.Repository{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		out := map[string]string{}
		err = c.List(t.Context(), func(f source.File) error { out[f.Path] = f.Stamp; return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := stamps(0); got["a"] != "" || got["b"] != "" {
		t.Errorf("stamps of files that changed just now = %q, want none", got)
	}
	first := stamps(time.Hour)
	if first["a"] == "" || first["a"] == first["b"] {
		t.Errorf("stamps = %q, want two different ones", first)
	}
	if diff := cmp.Diff(first, stamps(2*time.Hour)); diff != "" {
		t.Errorf("stamps of unchanged files differ:\n%s", diff)
	}
	// The same size and the same time, set back by hand: the inode tells.
	info, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	awaitTick(t, info.ModTime())
	plant(t, dir, map[string]string{"a": "two"})
	if err := os.Chtimes(filepath.Join(dir, "a"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second := stamps(time.Hour)
	if second["a"] == first["a"] || second["b"] != first["b"] {
		t.Errorf("stamps after a change of a = %q, before %q", second, first)
	}
}

func TestFetchSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string]string{"file": "", "app/a": "", "app-secret/key": "", "link": "-> app-secret"})
	for _, tc := range []struct {
		name, path string
		roots      []string
		options    codesage.IndexOptions
		want       error
		message    string
	}{
		{name: "gone", path: dir + "/no", want: codesage.ErrNotFound, message: "Path does not exist: " + dir + "/no"},
		{name: "a file", path: dir + "/file", want: codesage.ErrInvalid, message: "Path must be a directory: " + dir + "/file"},
		{name: "outside the roots", path: dir + "/app-secret", roots: []string{dir + "/app"}, want: codesage.ErrDenied},
		{name: "a link out of the roots", path: dir + "/link", roots: []string{dir + "/app"}, want: codesage.ErrDenied},
		{name: "a bad include pattern", path: dir, options: codesage.IndexOptions{Include: []string{"ok", "[x"}}, want: codesage.ErrInvalid,
			message: "Invalid include pattern '[x': Pattern syntax error near position 0: invalid range pattern"},
		{name: "a bad exclude pattern", path: dir, options: codesage.IndexOptions{Exclude: []string{"a**"}}, want: codesage.ErrInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(Options{Roots: tc.roots}).Fetch(t.Context(), codesage.Repository{Path: tc.path, Options: tc.options})
			if !errors.Is(err, tc.want) {
				t.Fatalf("error = %v (%s), want kind %v", err, codesage.KindOf(err), tc.want)
			}
			if tc.message != "" && err.Error() != tc.message {
				t.Errorf("message = %q, want %q", err, tc.message)
			}
		})
	}
}
