package catalog_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
)

// silentQueue takes runs and works on none.
type silentQueue struct{}

func (silentQueue) Enqueue(context.Context, codesage.Run) error  { return nil }
func (silentQueue) Cancel(context.Context, codesage.RunID) error { return nil }

// waiting is a repository whose first run is being waited for.
type waiting struct {
	store   store.Store
	catalog *catalog.Catalog
	run     codesage.Run
}

func newWaiting(t *testing.T) waiting {
	t.Helper()
	s := sqlitetest.Open(t)
	c := catalog.New(catalog.Options{Store: s, Queue: silentQueue{}, Log: slog.New(slog.DiscardHandler),
		CheckRoot: func(path string) (string, error) { return path, nil }})
	_, run, err := c.AddFolder(t.Context(), catalog.FolderRequest{Path: "/src", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return waiting{s, c, run}
}

// wait waits and does something when it has been told of the run for the first
// time.
func (w waiting) wait(ctx context.Context, then func()) (codesage.Repository, error) {
	done := false
	return w.catalog.Wait(ctx, w.run, time.Minute, func(run codesage.Run) {
		if run.ID == w.run.ID && !done {
			done = true
			then()
		}
	})
}

func TestWaitEndsWithTheTextPass(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	ctx := t.Context()
	repo, err := w.wait(ctx, func() {
		run, err := w.store.StartRun(ctx, w.run.ID, 0)
		if err != nil {
			t.Error(err)
			return
		}
		writer, err := w.store.Begin(ctx, run, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer writer.Abort()
		if err := writer.PublishText(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil || repo.TextRun != w.run.ID || repo.Published != nil {
		t.Errorf("got %+v, %v", repo, err)
	}
}

func TestWaitTellsHowElseARunEnded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		then    func(w waiting, ctx context.Context) error
		kind    codesage.Kind
		message string
	}{
		{"cancelled", func(w waiting, ctx context.Context) error {
			_, err := w.store.CancelRun(ctx, w.run.Repository, "Cancelled")
			return err
		}, codesage.KindConflict, "Cancelled"},
		{"superseded", func(w waiting, ctx context.Context) error {
			_, err := w.store.CreateRun(ctx, store.NewRun{Repository: w.run.Repository, Supersede: true})
			return err
		}, codesage.KindConflict, "Superseded by a newer run"},
		{"deleted", func(w waiting, ctx context.Context) error { return w.catalog.Remove(ctx, w.run.Repository) }, codesage.KindNotFound, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t)
			_, err := w.wait(t.Context(), func() {
				if err := tc.then(w, t.Context()); err != nil {
					t.Error(err)
				}
			})
			if codesage.KindOf(err) != tc.kind || tc.message != "" && err.Error() != tc.message {
				t.Errorf("got %q %v, want %q %s", codesage.KindOf(err), err, tc.kind, tc.message)
			}
		})
	}
}

// patient is a store that notes until when each question may take.
type patient struct {
	store.Store
	until []time.Time
}

func (p *patient) note(ctx context.Context) {
	until, _ := ctx.Deadline()
	p.until = append(p.until, until)
}

func (p *patient) Run(ctx context.Context, id codesage.RunID) (codesage.Run, error) {
	p.note(ctx)
	return p.Store.Run(ctx, id)
}

func (p *patient) Repository(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error) {
	p.note(ctx)
	return p.Store.Repository(ctx, id)
}

// A look at a run has a bound, and how often one may look has none.
func TestEachLookOfWaitHasItsOwnTime(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	s := &patient{Store: w.store}
	c := catalog.New(catalog.Options{Store: s, Queue: silentQueue{}})
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	_, err := c.Wait(ctx, w.run, time.Minute, func(codesage.Run) {
		if looks++; looks == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(s.until) != 2*looks {
		t.Fatalf("got %v after %d questions", err, len(s.until))
	}
	for i := 2; i < len(s.until); i++ {
		if later := s.until[i].Sub(s.until[i-2]); later <= 0 || s.until[i].After(time.Now().Add(time.Minute)) {
			t.Errorf("question %d may take until %v, %v after the one before", i, s.until[i], later)
		}
	}
}

func TestWaitLeavesTheRunWhenItsCallerGoes(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.wait(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if run, err := w.store.Run(t.Context(), w.run.ID); err != nil || !run.Going() {
		t.Errorf("the run is %s, %v; want it to go on", run.Status, err)
	}
}
