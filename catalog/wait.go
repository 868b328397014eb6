package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codesage"
)

// waitInterval is how often Wait looks at the store.
const waitInterval = 100 * time.Millisecond

// CheckFolder returns the absolute path of a folder that may be indexed, free
// of links. KindNotFound: there is none; KindInvalid: it is no folder;
// KindDenied: it is outside the allowed roots or can't be read.
func (c *Catalog) CheckFolder(path string) (string, error) { return c.checkRoot(path) }

// Wait returns the repository as soon as the session tools read the texts of
// this run or of a later one. report is told the run's row each time it is
// read. A run that ends otherwise is KindConflict with the run's error as its
// message; a repository that is deleted meanwhile is KindNotFound. The end of
// ctx ends the waiting, never the run; so does, as context.DeadlineExceeded, a
// store that takes longer than patience to tell how the run is.
func (c *Catalog) Wait(ctx context.Context, run codesage.Run, patience time.Duration, report func(codesage.Run)) (codesage.Repository, error) {
	ticker := time.NewTicker(waitInterval)
	defer ticker.Stop()
	for {
		now, repo, err := c.look(ctx, run, patience)
		if err != nil || repo.TextRun >= run.ID {
			return repo, err
		}
		report(now)
		select {
		case <-ctx.Done():
			return repo, ctx.Err()
		case <-ticker.C:
		}
	}
}

// look reads a run and its repository. A run that has ended without texts that
// can be read is an error, as Wait has it.
func (c *Catalog) look(ctx context.Context, run codesage.Run, patience time.Duration) (now codesage.Run, repo codesage.Repository, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// The run is read first: one that has completed is seen by the repository.
	now, unread := c.store.Run(ctx, run.ID)
	if unread != nil && !errors.Is(unread, codesage.ErrNotFound) {
		return now, repo, fmt.Errorf("read run %d: %w", run.ID, unread)
	}
	repo, err = c.store.Repository(ctx, run.Repository)
	switch {
	case err != nil:
		return now, repo, fmt.Errorf("read repository %d: %w", run.Repository, err)
	case repo.TextRun >= run.ID:
		return now, repo, nil
	case unread != nil:
		return now, repo, unread
	case !now.Going():
		return now, repo, codesage.Errorf(codesage.KindConflict, "%s", now.Error)
	}
	return now, repo, nil
}
