package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"codesage"
	"codesage/store"
)

// An attempt that stood still finds its connections cut and its files swept, and
// that another attempt goes on: that is no failure of the run.
func TestAnOvertakenAttemptThatFailsIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
	}{
		{"its files are gone", errors.New("segment not found")},
		{"its session was ended", codesage.Errorf(codesage.KindUnavailable, "the database is not available; try again later")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var rows store.Store
			w, run := newWorker(t, func(ctx context.Context, run codesage.Run, _ store.Writer) error {
				_, err := rows.StartRun(ctx, run.ID, 0) // as another worker does
				return errors.Join(err, tc.err)
			})
			rows, w.Attempts = w.Store, 20
			var log bytes.Buffer
			w.Log = slog.New(slog.NewTextHandler(&log, nil))
			if err := w.Handle(t.Context(), run.ID); err != nil {
				t.Errorf("the queue is told of a failure: %v", err)
			}
			if text := log.String(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") || !strings.Contains(text, "run stopped") {
				t.Errorf("the log:\n%s", text)
			}
			got, err := rows.Run(t.Context(), run.ID)
			if err != nil || got.Status != codesage.StatusProcessing || got.Attempt != 2 {
				t.Errorf("the run is %s in attempt %d, %v", got.Status, got.Attempt, err)
			}
		})
	}
}

// meanwhile is a store in which something happens once, when a worker reads the
// repository of a run that it has taken up.
type meanwhile struct {
	store.Store
	happen func()
}

func (m *meanwhile) Repository(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error) {
	r, err := m.Store.Repository(ctx, id)
	if m.happen != nil {
		m.happen()
		m.happen = nil
	}
	return r, err
}

func TestTwoWorkersReplaceAnInterruptedRunOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w, run := newWorker(t, func(ctx context.Context, _ codesage.Run, rows store.Writer) error { return rows.PublishText(ctx) })
	rows := w.Store
	taken, err := rows.StartRun(ctx, run.ID, 0)
	if err == nil {
		err = w.Pipeline.Run(ctx, codesage.Repository{}, taken, nil) // as by a process that is gone then
	}
	if err == nil {
		err = rows.ReleaseRun(ctx, taken)
	}
	if err != nil {
		t.Fatal(err)
	}
	var next codesage.Run
	w.Store = &meanwhile{rows, func() {
		next, err = rows.CreateRun(ctx, store.NewRun{Repository: run.Repository, Trigger: codesage.TriggerResume, Replace: run.ID})
		if err != nil {
			t.Error(err)
		}
	}}
	if err := w.Handle(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	repo, err := rows.Repository(ctx, run.Repository)
	if err != nil {
		t.Fatal(err)
	}
	if repo.Latest.ID != next.ID || !repo.Latest.Going() {
		t.Errorf("the newest run is %d, %s; want run %d of the worker that came first", repo.Latest.ID, repo.Latest.Status, next.ID)
	}
}
