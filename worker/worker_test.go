package worker_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"codesage"
	"codesage/queue"
	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
	"codesage/worker"
)

// stage stands for a pipeline that does one thing.
type stage func(ctx context.Context, run codesage.Run, rows store.Writer) error

// pipelineOf runs a stage over a real store.
type pipelineOf struct {
	store store.Store
	stage stage
}

func (p pipelineOf) Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error {
	rows, err := p.store.Begin(ctx, run, 0)
	if err != nil {
		return err
	}
	defer rows.Abort()
	return p.stage(ctx, run, rows)
}

// newWorker returns a worker of one stage, with a folder that waits for it.
func newWorker(t *testing.T, s stage) (*worker.Worker, codesage.Run) {
	t.Helper()
	rows := sqlitetest.Open(t)
	redis := queue.NewEmbedded()
	t.Cleanup(func() { _ = redis.Close() })
	_, run, err := rows.CreateRepository(t.Context(), codesage.Repository{
		Name: "demo", Session: "demo", Source: codesage.SourceFolder, Path: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &worker.Worker{Store: rows, Pipeline: pipelineOf{rows, s}, Queue: queue.New(redis), Log: slog.New(slog.DiscardHandler)}, run
}

func TestAnInterruptedFirstRunIsReplacedInOneStep(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w, run := newWorker(t, func(ctx context.Context, _ codesage.Run, rows store.Writer) error {
		return errors.Join(rows.PublishText(ctx), errors.New("the process dies here"))
	})
	taken, err := w.Store.StartRun(ctx, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Pipeline.Run(ctx, codesage.Repository{}, taken, nil) // as by a process that is gone then
	if err := w.Store.ReleaseRun(ctx, taken); err != nil {
		t.Fatal(err)
	}
	if err := w.Handle(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	repo, err := w.Store.Repository(ctx, run.Repository)
	if err != nil {
		t.Fatal(err)
	}
	if repo.TextRun != run.ID {
		t.Errorf("the published text is that of run %d, want %d", repo.TextRun, run.ID)
	}
	if repo.Latest.ID == run.ID || repo.Latest.Trigger != codesage.TriggerResume || repo.Status() != codesage.StatusPending {
		t.Errorf("the newest run is %d by %s, and the repository is %s", repo.Latest.ID, repo.Latest.Trigger, repo.Status())
	}
}

// TestARunThatKillsTheServerIsGivenUp starts the server again and again: a run
// during which it died each time fails at last, one that was handed back does
// not.
func TestARunThatKillsTheServerIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		crash bool
		want  codesage.Status
	}{{"it dies", true, codesage.StatusFailed}, {"it shuts down", false, codesage.StatusCompleted}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w, run := newWorker(t, func(ctx context.Context, _ codesage.Run, rows store.Writer) error {
				return rows.Publish(ctx, codesage.Outcome{})
			})
			sweeper := &worker.Sweeper{Store: w.Store, Queue: w.Queue, Log: w.Log}
			for range 15 {
				taken, err := w.Store.StartRun(ctx, run.ID, 0)
				if err != nil {
					t.Fatal(err)
				}
				if !tc.crash {
					if err := w.Store.ReleaseRun(ctx, taken); err != nil {
						t.Fatal(err)
					}
				}
				if err := sweeper.Adopt(ctx); err != nil {
					t.Fatal(err)
				}
			}
			_ = w.Handle(ctx, run.ID)
			got, err := w.Store.Run(ctx, run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != tc.want || tc.crash && got.Error != "Indexing crashed the server 15 times; see the log" {
				t.Errorf("the run is %s: %q", got.Status, got.Error)
			}
		})
	}
}

func TestAFailedRunSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"a failure with a kind", codesage.Errorf(codesage.KindTimeout, "The host did not answer"), "The host did not answer"},
		{"a full disk", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "The disk of the data folder is full; free some space and reprocess"},
		{"a fault of the program", errors.New("secret detail"), "An internal error; the server's log says more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w, run := newWorker(t, func(context.Context, codesage.Run, store.Writer) error { return tc.err })
			if err := w.Handle(t.Context(), run.ID); err == nil {
				t.Error("the queue was told of no failure")
			}
			got, err := w.Store.Run(t.Context(), run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != codesage.StatusFailed || got.Error != tc.want {
				t.Errorf("the run is %s: %q, want %q", got.Status, got.Error, tc.want)
			}
		})
	}
}

func TestAPanickingPipelineFailsItsRunOnly(t *testing.T) {
	t.Parallel()
	w, run := newWorker(t, func(context.Context, codesage.Run, store.Writer) error { panic("boom") })
	if err := w.Handle(t.Context(), run.ID); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
	got, err := w.Store.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != codesage.StatusFailed {
		t.Errorf("the run is %s", got.Status)
	}
}
