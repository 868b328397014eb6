package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/store"
)

func TestAFolderIsIndexed(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	write(t, dir, "main.go", "package main\n\n// Alpha greets.\nfunc Alpha() string { return \"hello\" }\n\ntype Beta struct{}\n\nfunc (b Beta) Run() {}\n")
	write(t, dir, "lib/gamma.py", "import os\n\nclass Gamma:\n    def one(self):\n        return os.sep\n")
	write(t, dir, "README.md", "# Title\n\n## Install\n\ntext\n")
	write(t, dir, "data.bin", "\x00\x01\x02")
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "noise.log", "alpha\n")
	repo := h.indexFolder("demo", dir)
	if got := repo.Status(); got != codesage.StatusCompleted {
		t.Fatalf("status %s: %s", got, repo.ErrorMessage())
	}
	if got, want := repo.Counted().TotalFiles, 4; got != want {
		t.Errorf("%d files, want %d", got, want)
	}
	if got := repo.Published.Skipped[codesage.SkipBinary]; got != 1 {
		t.Errorf("%d binary files were counted", got)
	}
	for text, want := range map[string]string{
		"Alpha":     "main.go:4 Alpha",
		"Beta":      "main.go:6 Beta",
		"gamma one": "lib/gamma.py:4 one",
		"install":   "README.md:3 Install",
	} {
		if hits := h.search(repo, text); len(hits) == 0 || hits[0] != want {
			t.Errorf("search %q: got %q, want %q first", text, hits, want)
		}
	}
}

func TestUnchangedFilesAreKept(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	for i := range 20 {
		write(t, dir, fmt.Sprintf("p%d/f.go", i), fmt.Sprintf("package p%d\n\nfunc F%d() {}\n", i, i))
	}
	write(t, dir, "notes.txt", "plain\n")
	repo := h.indexFolder("demo", dir)
	write(t, dir, "p3/f.go", "package p3\n\nfunc Changed() {}\n")
	run, err := h.refresh(repo.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if run.KeptFiles != 20 || run.ParsedFiles != 1 || run.TotalFiles != 21 {
		t.Errorf("kept %d, parsed %d of %d", run.KeptFiles, run.ParsedFiles, run.TotalFiles)
	}
	if hits := h.search(h.repository(repo.ID), "Changed"); len(hits) == 0 || hits[0] != "p3/f.go:3 Changed" {
		t.Errorf("got %q", hits)
	}
	if hits := h.search(h.repository(repo.ID), "F3"); slices.Contains(hits, "p3/f.go:3 F3") {
		t.Errorf("the old definition still answers: %q", hits)
	}
	run, err = h.refresh(repo.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	if run.KeptFiles != 0 || run.ParsedFiles != 20 {
		t.Errorf("forced: kept %d, parsed %d", run.KeptFiles, run.ParsedFiles)
	}
}

// TestARefreshLeavesWhatAFullRunWould edits a tree at random, refreshes, and
// compares with a fresh index of the same tree.
func TestARefreshLeavesWhatAFullRunWould(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	h, dir := newHouse(t), t.TempDir()
	edit(t, random, dir, 30)
	repo := h.indexFolder("incremental", dir)
	for round := range rounds {
		edit(t, random, dir, 1+random.IntN(8))
		if _, err := h.refresh(repo.ID, random.IntN(6) == 0); err != nil {
			t.Fatal(err)
		}
		fresh := h.indexFolder(fmt.Sprintf("full%d", round), dir)
		if diff := cmp.Diff(h.state(fresh), h.state(h.repository(repo.ID))); diff != "" {
			t.Fatalf("round %d: a refresh differs from a full run (-full +refresh):\n%s", round, diff)
		}
		if err := h.store.DeleteRepository(t.Context(), fresh.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// edit makes n random changes below dir.
func edit(t *testing.T, random *rand.Rand, dir string, n int) {
	t.Helper()
	paths := []string{"a.go", "b/c.go", "b/d_test.go", "e.py", "x/y/z.py", "README.md", "doc/guide.md", "notes.txt", "t.ts",
		"conf.json", "blob.dat", "latin.txt", "sub/.gitignore", "sub/k.go", "sub/l.py", "package.json"}
	words := []string{"alpha", "Beta", "run", "Gamma", "delta_two", "helper", "one"}
	for range n {
		path := paths[random.IntN(len(paths))]
		word := words[random.IntN(len(words))]
		if random.IntN(5) == 0 {
			remove(t, dir, path)
			continue
		}
		texts := map[string]string{
			".go":        fmt.Sprintf("package p\n\n// %s does.\nfunc %s() string { return %q }\n\ntype T%d struct{}\n", word, word, word, random.IntN(3)),
			".py":        fmt.Sprintf("import os\n\nclass C%d:\n    def %s(self):\n        return 1\n", random.IntN(3), word),
			".md":        fmt.Sprintf("# %s\n\ntext\n\n## section %d\n", word, random.IntN(4)),
			".ts":        fmt.Sprintf("export function %s(a: number) { return a }\n", word),
			".txt":       word + " text\n",
			".json":      fmt.Sprintf("{\"dependencies\": {\"%s\": \"1\"}}\n", []string{"react", "next", "left-pad"}[random.IntN(3)]),
			".dat":       []string{"\x00binary", "text now\n"}[random.IntN(2)],
			".gitignore": []string{"*.py\n", "k.go\n", "# none\n"}[random.IntN(3)],
		}
		if path == "latin.txt" {
			texts[".txt"] = []string{"caf\xe9 latin text that is long enough\n", "\x81\x82\x83\x84\xff\xfe\x01\x02", "plain\n"}[random.IntN(3)]
		}
		write(t, dir, path, texts[filepath.Ext(path)])
	}
}

func TestAFailedRefreshLeavesThePublishedIndex(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	tree := filepath.Join(dir, "tree")
	write(t, tree, "a.go", "package a\n\nfunc Alpha() {}\n")
	repo := h.indexFolder("demo", tree)
	before := h.state(repo)
	if err := os.Rename(tree, tree+".gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.refresh(repo.ID, false); err == nil {
		t.Fatal("the refresh of a missing folder completed")
	}
	repo = h.repository(repo.ID)
	if repo.Status() != codesage.StatusCompleted || !strings.HasPrefix(repo.ErrorMessage(), "Refresh failed: ") {
		t.Errorf("status %s, message %q", repo.Status(), repo.ErrorMessage())
	}
	if diff := cmp.Diff(before, h.state(repo)); diff != "" {
		t.Errorf("the published index changed:\n%s", diff)
	}
}

func TestACancelledRunLeavesThePublishedIndex(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	for i := range 60 {
		write(t, dir, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\nfunc Alpha%d() {}\n", i))
	}
	repo := h.indexFolder("demo", dir)
	before := h.state(repo)
	in := func(phase codesage.Phase) func(codesage.Progress) bool {
		return func(p codesage.Progress) bool { return p.Phase == phase }
	}
	looking := func(p codesage.Progress) bool { return p.Phase == codesage.PhaseList && p.Bytes > 500 }
	moments := []func(codesage.Progress) bool{
		in(codesage.PhaseFetch), in(codesage.PhaseList), looking, in(codesage.PhaseText), in(codesage.PhaseSymbols), in(codesage.PhasePublish),
	}
	for n, now := range moments {
		for i := range 60 {
			write(t, dir, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\nfunc Beta%d() {}\n", i*n))
		}
		run, err := h.store.CreateRun(t.Context(), store.NewRun{Repository: repo.ID})
		if err != nil {
			t.Fatal(err)
		}
		if run, err = h.store.StartRun(t.Context(), run.ID, 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var last codesage.Progress
		err = h.pipeline.Run(ctx, h.repository(repo.ID), run, func(p codesage.Progress) {
			if now(p) {
				last = p
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("moment %d: got %v", n, err)
		}
		if err := h.store.FailRun(t.Context(), run, codesage.Progress{}, "Cancelled"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before[1:], h.state(h.repository(repo.ID))[1:]); diff != "" {
			t.Fatalf("cancelled in %s: the published index changed:\n%s", last.Phase, diff)
		}
	}
	if _, err := h.refresh(repo.ID, false); err != nil {
		t.Fatal(err)
	}
	fresh := h.indexFolder("fresh", dir)
	if diff := cmp.Diff(h.state(fresh), h.state(h.repository(repo.ID))); diff != "" {
		t.Errorf("after the cancelled runs a refresh differs from a full run:\n%s", diff)
	}
}
