package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/store"
)

// TestARunGoesOnFromPublishedText lets the first run of a folder die at several
// points of its symbol pass. The run after it keeps what was found, and leaves
// what an undisturbed run does.
func TestARunGoesOnFromPublishedText(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	for i := range 300 {
		write(t, dir, fmt.Sprintf("p%d/f.go", i), fmt.Sprintf("package p\n\n// Alpha%d runs.\nfunc Alpha%d() {}\n", i, i))
	}
	write(t, dir, "hard.md", strings.Repeat(strings.Repeat(">", 260)+" alpha\n", 3))
	write(t, dir, "long.go", "package p\n\nvar x = `"+strings.Repeat("alpha ", 200_000)+"`\n")
	want := h.state(h.indexFolder("undisturbed", dir))
	for n, processed := range []int{0, 1, 40, 200} {
		repo, run := h.add(fmt.Sprintf("killed%d", n), dir)
		died := h.die(run, func(p codesage.Progress) bool {
			return p.Phase == codesage.PhaseSymbols && p.ProcessedFiles >= processed
		})
		next, err := h.store.CreateRun(t.Context(), store.NewRun{Repository: repo.ID, Trigger: codesage.TriggerResume, Supersede: true})
		if err != nil {
			t.Fatal(err)
		}
		done, err := h.work(next)
		if err != nil {
			t.Fatal(err)
		}
		if died.ParsedFiles > done.KeptFiles {
			t.Errorf("killed after %d parsed files; the next run kept %d", died.ParsedFiles, done.KeptFiles)
		}
		if diff := cmp.Diff(want, h.state(h.repository(repo.ID))); diff != "" {
			t.Fatalf("killed after %d files (-undisturbed +resumed):\n%s", processed, diff)
		}
	}
}

// die works on a run until its progress fulfills a condition and leaves it as a
// killed process would; it returns the last progress.
func (h *house) die(run codesage.Run, when func(codesage.Progress) bool) (last codesage.Progress) {
	h.t.Helper()
	run, err := h.store.StartRun(h.t.Context(), run.ID, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	err = h.pipeline.Run(ctx, h.repository(run.Repository), run, func(p codesage.Progress) {
		if last = p; when(p) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		h.t.Fatalf("the run was to die: %v", err)
	}
	return last
}
