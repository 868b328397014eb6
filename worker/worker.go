// Package worker works on runs: it takes one up in the store, drives the
// pipeline, keeps the run's row and heart beating, and records how it ended.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"codesage"
	"codesage/queue"
	"codesage/store"
	"codesage/trace"
)

// reportInterval is how often a run's counters are stored: at least twice a
// second.
const reportInterval = 400 * time.Millisecond

// maxCrashes is after how many attempts that killed their server a run is given
// up, so that no repository does so for ever. Attempts that were handed back do
// not count.
const maxCrashes = 15

// indexer is pipeline.Pipeline.
type indexer interface {
	Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error
}

// Worker handles runs. It is safe for concurrent use.
type Worker struct {
	Store    store.Store
	Pipeline indexer
	Queue    *queue.Queue
	Log      *slog.Logger

	// Refresher, when set, is told of each git run that ended, and Sweeper of the
	// repositories that are worked on and of each run that did not complete.
	Refresher *Refresher
	Sweeper   *Sweeper

	// Attempts is how often a run is taken up again because a part of the server,
	// such as its database, was away. 0 = never: such a run fails.
	Attempts int
}

// errOvertaken is the cause of a run's context when its row says that this
// attempt is no longer the live one.
var errOvertaken = errors.New("the run was cancelled, superseded or taken over")

// Handle works on a run until it is published, has failed, or is no longer
// this worker's. The outcome is in the store; the error is for the queue.
func (w *Worker) Handle(ctx context.Context, id codesage.RunID) error {
	ctx = trace.WithOrigin(ctx, trace.Origin{Run: id})
	run, err := w.Store.StartRun(ctx, id, codesage.HeartbeatTimeout)
	if errors.Is(err, codesage.ErrConflict) || errors.Is(err, codesage.ErrNotFound) {
		w.Log.Debug("run is not to be taken up", "run", id, "err", err)
		return nil
	}
	if err != nil {
		w.Log.Warn("take up run; the sweep will try again", "run", id, "err", err)
		return nil
	}
	repo, err := w.Store.Repository(ctx, run.Repository)
	if err != nil {
		w.Log.Warn("read the run's repository; the sweep will try again", "run", id, "err", err)
		return nil
	}
	log := trace.Log(ctx, w.Log).With("repository", repo.Name, "attempt", run.Attempt)
	if run.Crashes >= maxCrashes {
		return w.condemn(ctx, log, run)
	}
	if repo.TextRun == run.ID {
		return w.resume(ctx, repo, run)
	}
	if w.Sweeper != nil {
		w.Sweeper.saw(repo.ID)
	}
	log.Info("run started", "trigger", run.Trigger)
	if w.Refresher != nil && repo.Source == codesage.SourceGit {
		defer w.Refresher.Soon(repo.ID)
	}
	began := time.Now()
	last, err := w.index(ctx, repo, run)
	if err == nil {
		log.Info("run completed", "files", last.TotalFiles, "kept", last.KeptFiles, "parsed", last.ParsedFiles,
			"entities", last.Entities, "seconds", int(time.Since(began).Seconds()))
		return nil
	}
	if w.Sweeper != nil {
		defer w.Sweeper.Soon()
	}
	return w.end(context.WithoutCancel(ctx), log, run, last, err, context.Cause(ctx))
}

// index runs the pipeline with a heart that beats, and returns the last
// progress.
func (w *Worker) index(parent context.Context, repo codesage.Repository, run codesage.Run) (last codesage.Progress, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var mu sync.Mutex
	get := func() codesage.Progress {
		mu.Lock()
		defer mu.Unlock()
		p := last
		p.PeakMemory = peakMemory()
		return p
	}
	var heart sync.WaitGroup
	heart.Go(func() { w.beat(ctx, run, get, cancel) })
	defer func() {
		if r := recover(); r != nil {
			w.Log.Error("the pipeline panicked", "run", run.ID, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("pipeline panicked: %v", r)
		}
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		cancel(nil)
		heart.Wait()
		last = get()
	}()
	err = w.Pipeline.Run(ctx, repo, run, func(p codesage.Progress) {
		mu.Lock()
		last = p
		mu.Unlock()
	})
	return last, err
}

// beat stores progress as it changes, and at least every heartbeat interval,
// until ctx ends. It cancels the run when its row says so.
func (w *Worker) beat(ctx context.Context, run codesage.Run, get func() codesage.Progress, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(reportInterval)
	defer ticker.Stop()
	var told codesage.Progress
	var at time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p := get()
		changed := p
		changed.PeakMemory = told.PeakMemory
		if changed == told && time.Since(at) < codesage.HeartbeatInterval {
			continue
		}
		err := w.Store.Report(ctx, run, p)
		switch {
		case errors.Is(err, codesage.ErrConflict), errors.Is(err, codesage.ErrNotFound):
			cancel(errOvertaken)
			return
		case err != nil && ctx.Err() == nil:
			w.Log.Warn("report progress", "run", run.ID, "err", err)
		default:
			told, at = p, time.Now()
		}
	}
}

// end records a run that did not complete.
func (w *Worker) end(ctx context.Context, log *slog.Logger, run codesage.Run, last codesage.Progress, err, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	switch {
	case errors.Is(cause, queue.ErrShutdown):
		log.Info("run handed back: the worker is shutting down")
		if w.release(ctx, log, run) == nil {
			// Another worker need not wait for the sweep.
			if err := w.Queue.Enqueue(ctx, run); err != nil {
				log.Debug("enqueue run; the sweep will", "err", err)
			}
		}
		return nil
	case errors.Is(err, errOvertaken), errors.Is(err, queue.ErrCancelled), errors.Is(err, codesage.ErrConflict):
		log.Info("run stopped", "reason", err)
		return nil
	case w.isInterrupted(run, last, err):
		if errors.Is(w.release(ctx, log, run), codesage.ErrConflict) {
			log.Info("run stopped", "reason", errOvertaken, "err", err, "cause", errors.Unwrap(err))
			return nil
		}
		log.Warn("run handed back: a part of the server is away", "err", err, "cause", errors.Unwrap(err))
		return nil
	}
	failed := w.Store.FailRun(ctx, run, last, reason(err))
	if errors.Is(failed, codesage.ErrConflict) || errors.Is(failed, codesage.ErrNotFound) {
		// What failed was an attempt that had been overtaken while it stood still.
		log.Info("run stopped", "reason", errOvertaken, "err", err, "cause", errors.Unwrap(err))
		return nil
	}
	log.Warn("run failed", "err", err, "cause", errors.Unwrap(err))
	if failed != nil {
		log.Error("record that the run failed", "err", failed)
	}
	return err
}

// condemn gives up a run that keeps killing the server.
func (w *Worker) condemn(ctx context.Context, log *slog.Logger, run codesage.Run) error {
	if w.Sweeper != nil {
		defer w.Sweeper.Soon()
	}
	err := codesage.Errorf(codesage.KindInternal, "Indexing crashed the server %d times; see the log", run.Crashes)
	log.Error("run given up", "err", err)
	if failed := w.Store.FailRun(ctx, run, codesage.Progress{}, err.Error()); failed != nil {
		log.Error("record that the run failed", "err", failed)
	}
	return err
}

// release hands a run back. When that can't be stored, the sweep finds a run
// whose heart is silent.
func (w *Worker) release(ctx context.Context, log *slog.Logger, run codesage.Run) error {
	err := w.Store.ReleaseRun(ctx, run)
	if err != nil && !errors.Is(err, codesage.ErrConflict) {
		log.Warn("hand run back; the sweep finds it", "err", err)
	}
	return err
}

// isInterrupted reports whether a run did not complete because a part of the
// server was away. A host that can't be reached is no part of it: the run fails.
func (w *Worker) isInterrupted(run codesage.Run, last codesage.Progress, err error) bool {
	return codesage.KindOf(err) == codesage.KindUnavailable && last.Phase != codesage.PhaseFetch && run.Attempt < w.Attempts
}

// reason is what people read as the cause of a failure: the message of an error
// with a kind, or a pointer to the log.
func reason(err error) string {
	var e *codesage.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return "The disk of the data folder is full; free some space and reprocess"
	}
	return "An internal error; the server's log says more"
}

// resume replaces a first run that died after its text was published by another
// on top of what is there: published text is never taken back. Both happen in
// one transaction, so that the repository never shows as failed and no crash
// leaves it without a run.
func (w *Worker) resume(ctx context.Context, repo codesage.Repository, run codesage.Run) error {
	next, err := w.Store.CreateRun(ctx, store.NewRun{Repository: repo.ID, Trigger: codesage.TriggerResume, Replace: run.ID})
	if errors.Is(err, codesage.ErrConflict) || errors.Is(err, codesage.ErrNotFound) {
		w.Log.Debug("interrupted run is not to be replaced", "run", run.ID, "err", err)
		return nil
	}
	if err != nil {
		w.Log.Warn("replace interrupted run; the sweep will try again", "run", run.ID, "repository", repo.Name, "err", err)
		return nil
	}
	if err := w.Queue.Enqueue(ctx, next); err != nil {
		w.Log.Warn("enqueue run; the sweep will try again", "run", next.ID, "err", err)
	}
	return nil
}
