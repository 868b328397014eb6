package local

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/index"
)

// A history is a repository as its store knows it, and the processes that work
// on it: they stand still, die, are overtaken and go on at any moment.
type history struct {
	t         *testing.T
	rnd       *rand.Rand
	processes []*Index

	published codesage.RunID
	files     map[string]string // names by path, as published
	last      codesage.Run      // the latest run
	isGoing   bool
	live      *attemptAtWork // the attempt that may publish
	overtaken []*attemptAtWork
}

type attemptAtWork struct {
	w     search.Writer
	files map[string]string
}

// take takes the latest run up, or begins another. The attempt before, if there
// is one, stands still.
func (h *history) take() {
	if !h.isGoing {
		h.last, h.isGoing = codesage.Run{ID: h.last.ID + 1}, true
	}
	if h.live != nil {
		h.overtaken = append(h.overtaken, h.live)
	}
	h.last.Attempt++
	x := h.processes[h.rnd.IntN(len(h.processes))]
	h.live = &attemptAtWork{beginAttempt(h.t, x, h.published, h.last), maps.Clone(h.files)}
}

func (h *history) edit(a *attemptAtWork, isLive bool) {
	for range 1 + h.rnd.IntN(3) {
		path := fmt.Sprintf("f%d.go", h.rnd.IntN(8))
		var err error
		if a.files[path] != "" && h.rnd.IntN(3) == 0 {
			delete(a.files, path)
			err = a.w.Delete(h.t.Context(), path, 1)
		} else {
			a.files[path] = fmt.Sprintf("load%d", h.rnd.IntN(1000000))
			r := search.Record{EntityType: codesage.EntityFunction, EntityName: a.files[path], Language: "go", LineStart: 1, LineEnd: 2}
			err = a.w.Put(h.t.Context(), path, 1, []search.Record{r})
		}
		if err != nil && isLive {
			h.t.Fatal(err)
		}
	}
}

// step does one thing.
func (h *history) step() {
	switch n := h.rnd.IntN(12); {
	case n < 2 || h.live == nil && n < 6:
		h.take()
	case n < 6:
		h.edit(h.live, true)
	case n < 8 && h.live != nil:
		if err := h.live.w.Commit(h.t.Context()); err != nil {
			h.t.Fatalf("commit of the latest attempt at run %d: %v", h.last.ID, err)
		}
		if h.rnd.IntN(4) == 0 { // it dies before it publishes
			h.live = nil
			return
		}
		h.published, h.files = h.last.ID, h.live.files
		h.live, h.isGoing = nil, false
	case n < 10 && len(h.overtaken) > 0:
		i := h.rnd.IntN(len(h.overtaken))
		a := h.overtaken[i]
		h.overtaken = slices.Delete(h.overtaken, i, i+1)
		h.edit(a, false)
		if h.rnd.IntN(2) == 0 {
			_ = a.w.Commit(h.t.Context()) // it may fail
		}
		a.w.Abort()
	case n == 10:
		h.sweep()
	case n == 11 && h.live != nil: // the run fails, or another takes its place
		h.overtaken = append(h.overtaken, h.live)
		h.live, h.isGoing = nil, false
	}
}

// sweep sweeps by one process while others go on.
func (h *history) sweep() {
	x := h.processes[h.rnd.IntN(len(h.processes))]
	err := x.Retain(h.t.Context(), func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
		for range h.rnd.IntN(6) {
			h.step()
		}
		keep := []codesage.RunID{h.published}
		if h.isGoing {
			keep = append(keep, h.last.ID)
		}
		return map[codesage.RepositoryID][]codesage.RunID{1: keep}, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) check() {
	if h.published == 0 {
		return
	}
	want := slices.Sorted(maps.Values(h.files))
	for i, x := range h.processes {
		if got := names(h.t, x, codesage.Snapshot{Repository: 1, Run: h.published}); !slices.Equal(got, want) {
			h.t.Fatalf("process %d sees %q in run %d, want %q", i, got, h.published, want)
		}
	}
}

func TestRandomHistoriesShowWhatWasPublished(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			x := openTest(t, Options{Budget: 1 << 14})
			h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 4)), files: map[string]string{},
				processes: []*Index{x, openAgain(t, x, Options{Budget: 1}), openAgain(t, x, Options{})}}
			for range 150 {
				h.step()
				h.check()
			}
			if h.live != nil {
				h.overtaken = append(h.overtaken, h.live)
			}
			for _, a := range h.overtaken {
				a.w.Abort()
			}
			retain(t, x, map[codesage.RepositoryID][]codesage.RunID{1: {h.published}})
			h.check()
			m, err := index.ReadManifest(filepath.Dir(files(t, x, index.ManifestExt)[0]), filepath.Base(files(t, x, index.ManifestExt)[0]))
			if err != nil {
				t.Fatal(err)
			}
			if got := left(t, x); len(got) != 1+len(m.Segments) {
				t.Errorf("%q are left, want a manifest and its %d segments", got, len(m.Segments))
			}
		})
	}
}
