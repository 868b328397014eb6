package metrics

import (
	"context"
	"errors"
	"time"

	"codesage"
	"codesage/queue"
	"codesage/trace"
)

// indexer is pipeline.Pipeline.
type indexer interface {
	Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error
}

// Pipeline measures and traces a pipeline.
type Pipeline struct {
	next   indexer
	set    *Set
	tracer *trace.Tracer
}

// Pipeline returns a pipeline whose runs are counted, with the time that each
// phase took. Every run is a trace, when there is a tracer.
func (s *Set) Pipeline(next indexer, tracer *trace.Tracer) *Pipeline {
	return &Pipeline{next: next, set: s, tracer: tracer}
}

// Run runs the pipeline.
func (p *Pipeline) Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) (err error) {
	ctx, span := p.tracer.Begin(ctx, "run", trace.Int("codesage.run", run.ID), trace.Int("codesage.attempt", run.Attempt),
		trace.Int("codesage.repository", repo.ID), trace.String("codesage.source", repo.Source), trace.String("codesage.trigger", run.Trigger))
	w := &stopwatch{ctx: ctx, spent: map[codesage.Phase]time.Duration{}}
	err = errUnfinished // a panic ends the run too
	defer func() {
		w.enter(codesage.PhaseWaiting, err)
		span.Set(trace.Int("codesage.files", w.last.TotalFiles), trace.Int("codesage.kept", w.last.KeptFiles),
			trace.Int("codesage.parsed", w.last.ParsedFiles), trace.Int("codesage.entities", w.last.Entities))
		span.End(err)
		p.set.tally.ended(ctx, ending(ctx, w.last, err), w.spent, w.last)
	}()
	err = p.next.Run(ctx, repo, run, func(now codesage.Progress) {
		if now.Phase != w.last.Phase {
			w.enter(now.Phase, nil)
		}
		w.last = now
		report(now)
	})
	return err
}

// errUnfinished is what a run that panicked ended with.
var errUnfinished = errors.New("run did not return")

// stopwatch takes the time of the phases.
type stopwatch struct {
	ctx   context.Context
	last  codesage.Progress
	spent map[codesage.Phase]time.Duration
	phase codesage.Phase
	since time.Time
	span  trace.Span
}

// enter ends the phase that was and begins one; none when it is the empty one.
func (w *stopwatch) enter(phase codesage.Phase, err error) {
	now := time.Now()
	if w.phase != codesage.PhaseWaiting {
		w.spent[w.phase] += now.Sub(w.since)
		w.span.End(err)
	}
	w.phase, w.since = phase, now
	if phase != codesage.PhaseWaiting {
		_, w.span = trace.Start(w.ctx, string(phase))
	}
}

// ending says how an attempt ended: completed, stopped (cancelled, superseded,
// deleted or handed back by a worker that shuts down), interrupted (a part of the
// server was away) or failed.
func ending(ctx context.Context, last codesage.Progress, err error) string {
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return "completed"
	case cause != nil, errors.Is(err, queue.ErrCancelled), errors.Is(err, codesage.ErrConflict):
		return "stopped"
	case codesage.KindOf(err) == codesage.KindUnavailable && last.Phase != codesage.PhaseFetch:
		return "interrupted"
	}
	return "failed"
}
