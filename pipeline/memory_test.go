package pipeline_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"codesage"
	"codesage/pipeline/memorytest"
	"codesage/pipeline/source/git"
	"codesage/pipeline/source/git/gittest"
)

// maxPeak is what a hostile tree may make a process use, this test's own host
// included.
const maxPeak = 300 << 20

// memoryCase is a tree that a small pack makes large by naming one folder many
// times.
type memoryCase struct {
	mode              string // of the entries of the folder
	depth, files, top int    // folders above it, entries in it, and how often the root names it
	refused           bool
}

var memoryCases = map[string]memoryCase{
	"long paths":        {"100644", 15, 40_000, 24, true},
	"as many as may be": {"100644", 0, 39_000, 10, false},
	"long and left out": {"120000", 15, 600, 24, false},
}

func TestMemoryStaysBounded(t *testing.T) { memorytest.Run(t, maxPeak, memoryCases, runMemoryCase) }

func runMemoryCase(t *testing.T, c memoryCase) {
	h, server := newGitHouse(t)
	long := strings.Repeat("d", 250)
	blob := []byte("package p\n")
	sum := gittest.Name("blob", int64(len(blob)), bytes.NewReader(blob))
	entries := []gittest.PackEntry{gittest.Bytes(gittest.PackBlob, blob)}
	folder := func(write func(*bytes.Buffer)) {
		var raw bytes.Buffer
		write(&raw)
		entries = append(entries, gittest.Bytes(gittest.PackTree, raw.Bytes()))
		sum = gittest.Name("tree", int64(raw.Len()), bytes.NewReader(raw.Bytes()))
	}
	entry := func(raw *bytes.Buffer, mode, name string) {
		fmt.Fprintf(raw, "%s %s\x00", mode, name)
		raw.Write(sum[:])
	}
	folder(func(raw *bytes.Buffer) {
		for i := range c.files {
			entry(raw, c.mode, fmt.Sprintf("%s%06d.go", long[:100], i))
		}
	})
	for range c.depth {
		folder(func(raw *bytes.Buffer) { entry(raw, "40000", long) })
	}
	folder(func(raw *bytes.Buffer) {
		for i := range c.top {
			entry(raw, "40000", fmt.Sprintf("top%02d", i))
		}
	})
	commit, head := gittest.CommitOf(sum)
	entries = append(entries, gittest.Bytes(gittest.PackCommit, commit))
	server.Handle("evil.example.org", gittest.Pack(head, gittest.MakePack(len(entries), entries...)))
	_, run, err := h.store.CreateRepository(t.Context(), codesage.Repository{
		Name: "evil", Session: "evil", Source: codesage.SourceGit, URL: "https://evil.example.org/o/r",
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err = h.work(run)
	switch {
	case c.refused != (codesage.KindOf(err) == codesage.KindTooLarge), !c.refused && c.mode == "100644" && err != nil:
		t.Errorf("run: %v", err)
	case err == nil:
		left := run.Skipped[codesage.SkipSymlink] + run.Skipped[codesage.SkipMaxFiles]
		if left+run.TotalFiles != c.files*c.top || left > git.MaxEntries {
			t.Errorf("indexed %d, skipped %v", run.TotalFiles, run.Skipped)
		}
		_, total, err := h.store.ListSkips(t.Context(), codesage.Snapshot{Repository: run.Repository, Run: run.ID}, "", 1)
		if err != nil || total > 10_000 {
			t.Errorf("%d skips are stored, %v", total, err)
		}
	}
}
