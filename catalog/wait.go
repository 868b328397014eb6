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
// ctx ends the waiting, never the run.
func (c *Catalog) Wait(ctx context.Context, run codesage.Run, report func(codesage.Run)) (codesage.Repository, error) {
	ticker := time.NewTicker(waitInterval)
	defer ticker.Stop()
	for {
		// The run is read first: one that has completed is seen by the repository.
		now, err := c.store.Run(ctx, run.ID)
		if err != nil && !errors.Is(err, codesage.ErrNotFound) {
			return codesage.Repository{}, fmt.Errorf("read run %d: %w", run.ID, err)
		}
		repo, missing := c.store.Repository(ctx, run.Repository)
		switch {
		case missing != nil:
			return repo, fmt.Errorf("read repository %d: %w", run.Repository, missing)
		case repo.TextRun >= run.ID:
			return repo, nil
		case err != nil:
			return repo, err
		case !now.Going():
			return repo, codesage.Errorf(codesage.KindConflict, "%s", now.Error)
		}
		report(now)
		select {
		case <-ctx.Done():
			return repo, ctx.Err()
		case <-ticker.C:
		}
	}
}
