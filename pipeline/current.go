package pipeline

import (
	"context"
	"fmt"
	"maps"

	"codesage"
)

// header is a source that can tell the commit of a repository's tree without
// fetching it.
type header interface {
	Head(ctx context.Context, repo codesage.Repository) (commit string, err error)
}

// current reports whether what is published is what this run would make: no
// person asked for it, the source is at the published commit, and every file is
// stored the way this run would store it. Limits of the selection are not
// compared: a changed limit takes effect when the tree changes or someone
// reprocesses.
func (j *job) current(ctx context.Context) (bool, error) {
	published := j.repo.Published
	src, ok := j.Sources[j.repo.Source].(header)
	byItself := j.run.Trigger == codesage.TriggerRefresh || j.run.Trigger == codesage.TriggerWebhook
	if !ok || !byItself || j.run.Force || published == nil || published.Commit == "" {
		return false, nil
	}
	if err := j.readBase(ctx); err != nil {
		return false, err
	}
	for path, f := range j.prior {
		if _, same := j.unchanged(path); !same || needsSymbols(f) {
			return false, nil
		}
	}
	j.enter(codesage.PhaseFetch) // in which only the host is asked
	commit, err := src.Head(ctx, j.repo)
	return err == nil && commit == published.Commit, err
}

// republish completes the run with the base's files and counts, so that the
// run's row says what is indexed. Nothing is fetched, read or parsed.
func (j *job) republish(ctx context.Context) (err error) {
	j.enter(codesage.PhasePublish)
	if j.rows, err = j.Store.Begin(ctx, j.run, j.base.Run); err != nil {
		return fmt.Errorf("begin rows: %w", err)
	}
	if err := j.copySkips(ctx); err != nil {
		return err
	}
	if j.texts, err = j.Texts.BeginTexts(ctx, j.repo.ID, j.textsBase(), j.run); err != nil {
		return fmt.Errorf("begin texts: %w", err)
	}
	if err := j.texts.Commit(ctx); err != nil {
		return fmt.Errorf("commit texts: %w", err)
	}
	if j.records, err = j.Engine.Begin(ctx, j.repo, j.recordsBase(), j.run); err != nil {
		return fmt.Errorf("begin records: %w", err)
	}
	if err := j.records.Commit(ctx); err != nil {
		return fmt.Errorf("commit records: %w", err)
	}
	published := j.repo.Published
	j.update(func(p *codesage.Progress) {
		p.Commit, p.Bytes, p.Entities = published.Commit, published.Bytes, published.Entities
		p.TotalFiles, p.ProcessedFiles = len(j.prior), len(j.prior)
		p.TextFiles, p.KeptFiles = len(j.prior), len(j.prior)
	})
	o := codesage.Outcome{
		Progress:  j.progress,
		Language:  published.Language,
		Framework: published.Framework,
		Notice:    published.Notice,
		Skipped:   maps.Clone(published.Skipped),
	}
	if err := j.rows.Publish(ctx, o); err != nil {
		return fmt.Errorf("publish run %d: %w", j.run.ID, err)
	}
	return nil
}

// copySkips stores the base's skips as this run's.
func (j *job) copySkips(ctx context.Context) error {
	for after := ""; ; {
		skips, _, err := j.Store.ListSkips(ctx, j.base, after, page)
		if err != nil {
			return fmt.Errorf("read skipped files of run %d: %w", j.base.Run, err)
		}
		if len(skips) > 0 {
			if err := j.rows.PutSkips(ctx, skips); err != nil {
				return fmt.Errorf("store skipped files: %w", err)
			}
		}
		if len(skips) < page {
			return nil
		}
		after = skips[len(skips)-1].Path
	}
}
