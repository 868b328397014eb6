package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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

// choose makes a selection of files.
func choose(t *testing.T, files []source.File, l Limits) (selected []source.File, skips []codesage.Skip) {
	t.Helper()
	s := selection{limits: l, leave: func(s codesage.Skip) error { skips = append(skips, s); return nil }}
	for _, f := range files {
		if err := s.add(f); err != nil {
			t.Fatal(err)
		}
	}
	selected, err := s.choose(t.Context())
	if err != nil {
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
			if diff := cmp.Diff(tc.want, paths); diff != "" {
				t.Errorf("selected files differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.skips, skips); diff != "" {
				t.Errorf("skips differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectKeepsItsPromisesOnRandomTrees(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		names := map[string]bool{}
		for range 1 + r.IntN(80) {
			parts := make([]string, r.IntN(4))
			for i := range parts {
				parts[i] = []string{"a", "src", "vendor", "test", "docs"}[r.IntN(5)]
			}
			name := fmt.Sprintf("%c%s:%d", 'a'+r.IntN(26), []string{".go", ".md", ".json", ".xyz", ".png", "_test.go", ".lock", ""}[r.IntN(8)], r.IntN(300))
			names[strings.Join(append(parts, name), "/")] = true
		}
		files := listing(slices.Collect(maps.Keys(names))...)
		l := Limits{MaxFiles: r.IntN(40), MaxBytes: int64(r.IntN(4000)), MaxFileBytes: 250, Generated: r.IntN(2) == 0}
		selected, skips := choose(t, files, l)
		var bytes int64
		for _, f := range selected {
			bytes += f.Size
		}
		switch {
		case len(selected)+len(skips) != len(files):
			t.Fatalf("%d selected and %d skipped of %d", len(selected), len(skips), len(files))
		case l.MaxFiles > 0 && len(selected) > l.MaxFiles, l.MaxBytes > 0 && bytes > l.MaxBytes:
			t.Fatalf("%d files of %d bytes pass the limits %+v", len(selected), bytes, l)
		case !slices.IsSortedFunc(selected, func(a, b source.File) int { return strings.Compare(a.Path, b.Path) }):
			t.Fatalf("not in order: %v", selected)
		}
		again, _ := choose(t, files, l)
		if diff := cmp.Diff(selected, again); diff != "" {
			t.Fatalf("two selections differ:\n%s", diff)
		}
		for _, s := range skips {
			if s.Reason != codesage.SkipMaxFiles {
				continue
			}
			for _, f := range selected {
				if preferenceOf(s.Path, true).compare(preferenceOf(f.Path, true)) < 0 && l.MaxBytes == 0 {
					t.Fatalf("%s was left out for %s", s.Path, f.Path)
				}
			}
		}
	}
}

// TestACancelledSelectionEnds has as many long paths as a host may send.
func TestACancelledSelectionEnds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 19)
	s := selection{limits: Limits{MaxFiles: 10, Generated: true}, leave: func(codesage.Skip) error { return nil }}
	for i := range 15_000 {
		if err := s.add(source.File{Path: fmt.Sprintf("%s%06d.go", long, i)}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, err := s.choose(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > 2*time.Second {
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

func TestNotice(t *testing.T) {
	t.Parallel()
	type skipped = map[codesage.SkipReason]int
	git := Limits{MaxFiles: 1000, MaxFileBytes: 1_000_000, Generated: true}
	for _, tc := range []struct {
		name    string
		indexed int
		skipped skipped
		limits  Limits
		want    string
	}{
		{"all", 7, nil, git, ""},
		{"only what is left out by rule", 7, skipped{codesage.SkipBinary: 3, codesage.SkipSymlink: 1, codesage.SkipLargeFile: 2, codesage.SkipGenerated: 1, codesage.SkipParseSize: 1}, git, ""},
		{"too many files", 1000, skipped{codesage.SkipMaxFiles: 200}, git, "Partially indexed: 1000 of 1200 files (limit INDEX_MAX_FILES=1000: 200)"},
		{"in their order", 10, skipped{codesage.SkipUnreadable: 1, codesage.SkipEncoding: 2, codesage.SkipBinary: 3, codesage.SkipMaxBytes: 4, codesage.SkipLargeFile: 5}, git,
			"Partially indexed: 10 of 25 files (limit INDEX_MAX_BYTES: 4, over 1 MB: 5, binary: 3, encoding: 2, unreadable: 1)"},
		{"a file kept as text is indexed", 10, skipped{codesage.SkipParseTimeout: 2}, git, "Partially indexed: 10 of 10 files (parse timeout: 2)"},
		{"another limit", 1, skipped{codesage.SkipLargeFile: 1, codesage.SkipEncoding: 1}, Limits{MaxFileBytes: 500}, "Partially indexed: 1 of 3 files (limit INDEX_MAX_FILE_BYTES=500: 1, encoding: 1)"},
		{"an empty tree", 0, nil, git, "No files to index: no files found"},
		{"nothing but images", 0, skipped{codesage.SkipBinary: 3, codesage.SkipGenerated: 1}, git, "No files to index: binary: 3, generated: 1"},
	} {
		if got := Notice(tc.indexed, tc.skipped, tc.limits); got != tc.want {
			t.Errorf("%s: Notice = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNoticeNamesEveryReason(t *testing.T) {
	t.Parallel()
	for _, reason := range []codesage.SkipReason{
		codesage.SkipBinary, codesage.SkipSymlink, codesage.SkipSubmodule, codesage.SkipLFS, codesage.SkipLargeFile, codesage.SkipLargeText,
		codesage.SkipGenerated, codesage.SkipLanguage, codesage.SkipEncoding, codesage.SkipUnreadable, codesage.SkipPath,
		codesage.SkipMaxFiles, codesage.SkipMaxBytes, codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize,
	} {
		if got := Notice(1, map[codesage.SkipReason]int{codesage.SkipUnreadable: 1, reason: 1}, Limits{}); !strings.Contains(got, string(reason)) {
			t.Errorf("notice %q does not name %q", got, reason)
		}
	}
}
