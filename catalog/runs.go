package catalog

import (
	"context"
	"fmt"

	"codesage"
	"codesage/store"
	"codesage/trace"
)

// Reprocess starts a run of a repository; KindConflict while one is going.
func (c *Catalog) Reprocess(ctx context.Context, id codesage.RepositoryID, trigger codesage.Trigger, force bool) (codesage.Repository, codesage.Run, error) {
	return c.start(ctx, id, store.NewRun{Trigger: trigger, Force: force})
}

// Cancel ends the run that is going; KindConflict when none is. A first run
// ends as failed, a refresh leaves the published index.
func (c *Catalog) Cancel(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error) {
	run, err := c.store.CancelRun(ctx, id, "Cancelled")
	if err != nil {
		return codesage.Repository{}, err
	}
	c.stop(ctx, run.ID)
	repo, err := c.store.Repository(ctx, id)
	if err != nil {
		return repo, err
	}
	c.changed(ctx, "run cancelled", repo, "run", run.ID)
	return repo, nil
}

// Remove deletes a repository. A run that is going is cancelled first; what it
// has on disk is swept.
func (c *Catalog) Remove(ctx context.Context, id codesage.RepositoryID) error {
	repo, err := c.store.Repository(ctx, id)
	if err != nil {
		return err
	}
	if err := c.store.DeleteRepository(ctx, id); err != nil {
		return err
	}
	c.changed(ctx, "repository removed", repo)
	if repo.Latest != nil && repo.Latest.Going() {
		c.stop(ctx, repo.Latest.ID)
	}
	return nil
}

// start creates a run, enqueues it and returns the repository as it is then.
func (c *Catalog) start(ctx context.Context, id codesage.RepositoryID, n store.NewRun) (codesage.Repository, codesage.Run, error) {
	n.Repository = id
	before, err := c.store.Repository(ctx, id)
	if err != nil {
		return before, codesage.Run{}, err
	}
	run, err := c.store.CreateRun(ctx, n)
	if err != nil {
		return before, run, err
	}
	c.changed(ctx, "run created", before, "run", run.ID, "trigger", run.Trigger)
	if going := before.Latest; going != nil && going.Going() {
		c.stop(ctx, going.ID)
	}
	c.enqueue(ctx, run)
	repo, err := c.store.Repository(ctx, id)
	if err != nil {
		return repo, run, fmt.Errorf("read repository %d: %w", id, err)
	}
	return repo, run, nil
}

// stop tells the worker of a run to stop. The row already says so; the worker
// also finds out at its next report.
func (c *Catalog) stop(ctx context.Context, run codesage.RunID) {
	if err := c.queue.Cancel(ctx, run); err != nil {
		trace.Log(ctx, c.log).Warn("tell the worker to stop; it will see the row", "run", run, "err", err)
	}
}
