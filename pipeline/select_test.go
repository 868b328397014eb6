package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline/source"
)

// listing makes files of 100 bytes from paths in the order of their bytes;
// "path:size" sets another size.
func listing(paths ...string) []source.File {
	var files []source.File
	for _, p := range paths {
		f := source.File{Path: p, Size: 100}
		if path, size, ok := strings.Cut(p, ":"); ok {
			f.Path = path
			fmt.Sscan(size, &f.Size)
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b source.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// choose makes a selection of files whose content is fine.
func choose(t *testing.T, files []source.File, l Limits) (selected []source.File, skips []codesage.Skip) {
	t.Helper()
	return chooseBy(t, files, l, func(context.Context, source.File) (verdict, error) { return verdict{}, nil })
}

// chooseBy makes a selection of files of which look knows the content.
func chooseBy(t *testing.T, files []source.File, l Limits, look func(context.Context, source.File) (verdict, error)) (selected []source.File, skips []codesage.Skip) {
	t.Helper()
	s := selection{
		limits: l, readers: 3, look: look,
		take:  func(f source.File, _ bool) { selected = append(selected, f) },
		leave: func(s codesage.Skip) error { skips = append(skips, s); return nil },
	}
	for _, f := range files {
		if err := s.add(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.choose(t.Context()); err != nil {
		t.Fatal(err)
	}
	return selected, skips
}

// show writes a selection as text.
func show(selected []source.File, skips []codesage.Skip) (paths, left []string) {
	for _, f := range selected {
		paths = append(paths, f.Path)
	}
	for _, s := range skips {
		left = append(left, fmt.Sprintf("%s (%s)", s.Path, s.Reason))
	}
	return paths, left
}

func TestSelect(t *testing.T) {
	t.Parallel()
	git := Limits{MaxFileBytes: 1_000_000, Generated: true}
	folder := Limits{MaxFileBytes: 10 << 20}
	for _, tc := range []struct {
		name   string
		limits Limits
		files  []source.File
		want   []string
		skips  []string
	}{
		{name: "nothing", limits: git},
		{
			name:   "a git repository takes code and documents",
			limits: git,
			files:  listing("LICENSE", "README.md", "a.go", "a.min.js", "a.png", "conf.yaml", "go.sum", "run", "what.xyz", "yarn.lock"),
			want:   []string{"LICENSE", "README.md", "a.go", "conf.yaml", "run"},
			skips:  []string{"a.min.js (generated)", "a.png (binary)", "go.sum (generated)", "what.xyz (unknown language)", "yarn.lock (generated)"},
		},
		{
			name:   "a folder takes all text",
			limits: folder,
			files:  listing("a.go", "a.min.js", "a.png", "go.sum", "run", "what.xyz"),
			want:   []string{"a.go", "a.min.js", "go.sum", "run", "what.xyz"},
			skips:  []string{"a.png (binary)"},
		},
		{
			name:   "a git repository leaves out a file of the limit",
			limits: git,
			files:  listing("a.go:999999", "b.go:1000000", "c.go:1000001", "d.go:0"),
			want:   []string{"a.go", "d.go"},
			skips:  []string{"b.go (over 1 MB)", "c.go (over 1 MB)"},
		},
		{
			name:   "a folder takes a file of the limit",
			limits: folder,
			files:  listing("a.go:10485760", "b.go:10485761"),
			want:   []string{"a.go"},
			skips:  []string{"b.go (over 10 MB)"},
		},
		{
			name:   "source, then documents, then data",
			limits: Limits{MaxFiles: 2, Generated: true},
			files:  listing("a.json", "b.md", "z/z.go", "c.yaml", "d.toml"),
			want:   []string{"b.md", "z/z.go"},
			skips:  []string{"a.json (limit INDEX_MAX_FILES)", "c.yaml (limit INDEX_MAX_FILES)", "d.toml (limit INDEX_MAX_FILES)"},
		},
		{
			name:   "own code before vendored code and tests, whatever the depth",
			limits: Limits{MaxFiles: 2},
			files:  listing("a_test.go", "vendor/v.go", "d/e/f/a.go", "d/b.go"),
			want:   []string{"d/b.go", "d/e/f/a.go"},
			skips:  []string{"a_test.go (limit INDEX_MAX_FILES)", "vendor/v.go (limit INDEX_MAX_FILES)"},
		},
		{
			name:   "tests before documents",
			limits: Limits{MaxFiles: 1},
			files:  listing("README.md", "d/a_test.go"),
			want:   []string{"d/a_test.go"},
			skips:  []string{"README.md (limit INDEX_MAX_FILES)"},
		},
		{
			name:   "fewer segments, then the path",
			limits: Limits{MaxFiles: 3},
			files:  listing("a/b/c.go", "b/a.go", "a/z.go", "z.go", "b/b.go"),
			want:   []string{"a/z.go", "b/a.go", "z.go"},
			skips:  []string{"a/b/c.go (limit INDEX_MAX_FILES)", "b/b.go (limit INDEX_MAX_FILES)"},
		},
		{
			name:   "bytes: a large file makes room for smaller ones",
			limits: Limits{MaxBytes: 250},
			files:  listing("a.go:100", "b.go:200", "c.go:100", "d.go:100"),
			want:   []string{"a.go", "c.go"},
			skips:  []string{"b.go (limit INDEX_MAX_BYTES)", "d.go (limit INDEX_MAX_BYTES)"},
		},
		{
			name:   "just enough",
			limits: Limits{MaxFiles: 2, MaxBytes: 200},
			files:  listing("a.go", "b.go"),
			want:   []string{"a.go", "b.go"},
		},
		{
			name:   "what is left out by rule takes no place",
			limits: Limits{MaxFiles: 1, Generated: true},
			files:  listing("a.go", "go.sum", "x.png", "y.xyz"),
			want:   []string{"a.go"},
			skips:  []string{"go.sum (generated)", "x.png (binary)", "y.xyz (unknown language)"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			paths, skips := show(choose(t, tc.files, tc.limits))
			if diff := gocmp.Diff(tc.want, paths); diff != "" {
				t.Errorf("selected files differ (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tc.skips, skips); diff != "" {
				t.Errorf("skips differ (-want +got):\n%s", diff)
			}
		})
	}
}

// randomListing makes up to 80 files of up to 300 bytes.
func randomListing(r *rand.Rand) []source.File {
	names := map[string]bool{}
	for range 1 + r.IntN(80) {
		parts := make([]string, r.IntN(4))
		for i := range parts {
			parts[i] = []string{"a", "src", "vendor", "test", "docs"}[r.IntN(5)]
		}
		name := fmt.Sprintf("%c%s", 'a'+r.IntN(26), []string{".go", ".md", ".json", ".xyz", ".png", "_test.go", ".lock", ""}[r.IntN(8)])
		names[strings.Join(append(parts, name), "/")] = true
	}
	var sized []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		sized = append(sized, fmt.Sprintf("%s:%d", name, r.IntN(300)))
	}
	return listing(sized...)
}

// selectModel says what a selection is: it looks at all files before it chooses.
func selectModel(files []source.File, l Limits, content map[string]verdict) (selected []source.File) {
	var good []source.File
	for _, f := range files {
		if l.leaveOut(f) == "" && !content[f.Path].out() {
			good = append(good, f)
		}
	}
	slices.SortFunc(good, func(a, b source.File) int {
		return cmp.Or(preferenceOf(a.Path, true).compare(preferenceOf(b.Path, true)), strings.Compare(a.Path, b.Path))
	})
	bytes := int64(0)
	for _, f := range good {
		if (l.MaxFiles == 0 || len(selected) < l.MaxFiles) && (l.MaxBytes == 0 || bytes+f.Size <= l.MaxBytes) {
			selected, bytes = append(selected, f), bytes+f.Size
		}
	}
	slices.SortFunc(selected, func(a, b source.File) int { return strings.Compare(a.Path, b.Path) })
	return selected
}

// TestSelectIsWhatItsModelIs compares selections of random trees with the model,
// and counts what they look at.
func TestSelectIsWhatItsModelIs(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 12))
	for range 500 {
		files := randomListing(r)
		content := map[string]verdict{}
		for _, f := range files {
			if n := r.IntN(8); n < 3 {
				content[f.Path] = []verdict{{reason: codesage.SkipBinary}, {reason: codesage.SkipEncoding}, {gone: true}}[n]
			}
		}
		l := Limits{MaxFiles: r.IntN(40), MaxBytes: int64(r.IntN(4000)), MaxFileBytes: 250, Generated: r.IntN(2) == 0}
		var mu sync.Mutex
		looked := map[string]int{}
		selected, skips := chooseBy(t, files, l, func(_ context.Context, f source.File) (verdict, error) {
			mu.Lock()
			defer mu.Unlock()
			looked[f.Path]++
			return content[f.Path], nil
		})
		if diff := gocmp.Diff(selectModel(files, l, content), selected); diff != "" {
			t.Fatalf("limits %+v: selected files differ (-model +got):\n%s", l, diff)
		}
		checkLooks(t, files, selected, skips, content, looked)
	}
}

// checkLooks checks that each file is accounted for once, and that those were
// looked at, once, of which the content had to be known.
func checkLooks(t *testing.T, files, selected []source.File, skips []codesage.Skip, content map[string]verdict, looked map[string]int) {
	t.Helper()
	seen := map[string]int{}
	want := map[string]int{}
	for _, f := range selected {
		seen[f.Path]++
		want[f.Path] = 1
	}
	for _, s := range skips {
		seen[s.Path]++
		if content[s.Path].reason == s.Reason && looked[s.Path] > 0 { // or by its name
			want[s.Path] = 1
		}
	}
	for _, f := range files {
		if content[f.Path].gone && looked[f.Path] > 0 {
			seen[f.Path]++
			want[f.Path] = 1
		}
		if seen[f.Path] != 1 {
			t.Fatalf("%s is accounted for %d times", f.Path, seen[f.Path])
		}
	}
	if diff := gocmp.Diff(want, looked); diff != "" {
		t.Fatalf("looks differ (-want +got):\n%s", diff)
	}
}

func TestSelectionEndsWithAnErrorOfALook(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk broke")
	s := selection{readers: 2, look: func(_ context.Context, f source.File) (verdict, error) {
		if f.Path == "b.go" {
			return verdict{}, broken
		}
		return verdict{}, nil
	}}
	s.files = listing("a.go", "b.go", "c.go")
	if err := s.choose(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "b.go") {
		t.Errorf("got %v", err)
	}
}

// TestACancelledSelectionEnds has as many long paths as a host may send.
func TestACancelledSelectionEnds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 19)
	s := selection{limits: Limits{MaxFiles: 10, Generated: true}}
	for i := range 15_000 {
		if err := s.add(source.File{Path: fmt.Sprintf("%s%06d.go", long, i)}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := s.choose(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestASkippedPathIsCutAndStaysUnique(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 2000)
	a, b := skipPath(long+"a"), skipPath(long+"b")
	if a == b || len(a) > maxSkipPath || !utf8.ValidString(a) || !strings.HasPrefix(a, "ääää") {
		t.Errorf("%d bytes: %s, %s", len(a), a, b)
	}
	if got := skipPath("a/b.go"); got != "a/b.go" {
		t.Error(got)
	}
}
