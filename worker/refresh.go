package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"codesage"
)

const (
	roundInterval = 10 * time.Second // how often the refresher looks who is due, for long intervals
	shortestRound = time.Second
	checksAtOnce  = 4  // hosts that are asked at the same time
	roundChecks   = 64 // repositories in one round; the rest waits for the next

	// startSpread is over how long the checks of a server's start are spread when
	// there is no interval.
	startSpread = time.Minute

	// failedPause is how long a run that failed is not tried again while the
	// branch stays where it was.
	failedPause = time.Hour
)

// lister is the part of store.Store that the refresher needs.
type lister interface {
	ListRepositories(ctx context.Context) ([]codesage.Repository, error)
	Now(ctx context.Context) (time.Time, error)
}

// heads asks a git host for the head of a repository's branch; of its default
// branch, whatever that is called now, when the repository names none.
type heads interface {
	Head(ctx context.Context, repo codesage.Repository) (commit string, err error)
}

// starter is catalog.Catalog.
type starter interface {
	Reprocess(ctx context.Context, id codesage.RepositoryID, t codesage.Trigger, force bool) (codesage.Repository, codesage.Run, error)
}

// claimer is queue.Queue.
type claimer interface {
	Claim(ctx context.Context, what string, life time.Duration) (first bool, err error)
}

// RefresherOptions are what a Refresher needs.
type RefresherOptions struct {
	Store   lister
	Heads   heads
	Catalog starter
	Claims  claimer // what the workers of a team share, so that one of them makes a check of an interval
	Log     *slog.Logger

	// Interval is how often each repository is checked. 0 = once after the start,
	// for pushes whose webhook came while nobody listened, and after its runs.
	Interval time.Duration
}

// Refresher checks the heads of git repositories and starts a run of each whose
// branch has moved. The checks of an interval are spread over it, few are made at
// the same time, and a host or repository that fails is asked ever less often.
type Refresher struct {
	o    RefresherOptions
	plan *plan
	wake chan struct{}
}

// NewRefresher returns a Refresher that has not begun.
func NewRefresher(o RefresherOptions) *Refresher {
	return &Refresher{o: o, plan: newPlan(o.Interval), wake: make(chan struct{}, 1)}
}

// Soon lets a repository be checked at once. A worker asks for it when a run has
// ended: a push that came while the run was at work is then found.
func (r *Refresher) Soon(id codesage.RepositoryID) {
	r.plan.soon(id)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run checks until ctx ends.
func (r *Refresher) Run(ctx context.Context) {
	every := roundInterval
	if r.o.Interval > 0 {
		every = min(every, max(r.o.Interval/2, shortestRound))
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := r.round(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.o.Log.Warn("check git repositories for pushes", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.wake:
		}
	}
}

// round checks those that are due.
func (r *Refresher) round(ctx context.Context, now time.Time) error {
	all, err := r.o.Store.ListRepositories(ctx)
	if err != nil {
		return fmt.Errorf("list repositories: %w", err)
	}
	stored, err := r.o.Store.Now(ctx)
	if err != nil {
		return fmt.Errorf("ask the store for its time: %w", err)
	}
	at := moment{now, stored}
	due := r.plan.due(all, now)
	group := errgroup.Group{}
	group.SetLimit(checksAtOnce)
	for _, repos := range due {
		group.Go(func() error {
			r.checkHost(ctx, repos, at)
			return nil
		})
	}
	return group.Wait()
}

// moment is when a round began: by this machine's clock, by which checks are
// planned, and by the store's, which set the times of runs.
type moment struct{ here, stored time.Time }

// checkHost checks repositories of one host, until it does not answer.
func (r *Refresher) checkHost(ctx context.Context, repos []codesage.Repository, at moment) {
	for _, repo := range repos {
		if r.isMadeElsewhere(ctx, repo) {
			r.plan.left(repo, at.here)
			continue
		}
		if ctx.Err() != nil || !r.check(ctx, repo, at) {
			return
		}
	}
}

// isMadeElsewhere reports whether the check that an interval demands is another
// worker's. One that was asked for is nobody else's. Without Redis all make it.
func (r *Refresher) isMadeElsewhere(ctx context.Context, repo codesage.Repository) bool {
	if r.o.Interval <= 0 || r.plan.isAskedFor(repo.ID) {
		return false
	}
	// By the next check of the worker that claims, the claim is over.
	first, err := r.o.Claims.Claim(ctx, fmt.Sprintf("check:%d", repo.ID), r.o.Interval*3/4)
	return err == nil && !first
}

// check compares the head of a repository's branch with what is indexed and
// starts a run when it moved. It returns false when the host could not answer,
// so that it is not asked about others now.
func (r *Refresher) check(ctx context.Context, repo codesage.Repository, at moment) bool {
	head, err := r.o.Heads.Head(ctx, repo)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		kind := codesage.KindOf(err)
		away := kind == codesage.KindUnavailable || kind == codesage.KindTimeout
		wait := r.plan.failed(repo, away, at.here)
		r.o.Log.Warn("check git repository", "repository", repo.Name, "err", err, "again_in", wait)
		return !away
	}
	wait, moved := hasMoved(repo, head, at.stored)
	r.plan.succeeded(repo, wait, at.here)
	r.o.Log.Debug("checked git repository", "repository", repo.Name, "commit", head, "moved", moved)
	if !moved {
		return true
	}
	_, run, err := r.o.Catalog.Reprocess(ctx, repo.ID, codesage.TriggerRefresh, false)
	switch {
	case errors.Is(err, codesage.ErrConflict), errors.Is(err, codesage.ErrNotFound):
		// A run that goes on checks again when it ends; what is gone needs none.
	case err != nil:
		r.o.Log.Warn("refresh git repository; the next check tries again", "repository", repo.Name, "err", err)
	default:
		r.o.Log.Info("the branch has moved", "repository", repo.Name, "commit", head, "run", run.ID)
	}
	return true
}

// hasMoved reports whether a repository's index lags behind its branch. A run
// that failed at this commit, or before it knew one, is not tried again before
// wait is over. now is the store's time.
func hasMoved(repo codesage.Repository, head string, now time.Time) (wait time.Duration, moved bool) {
	latest := repo.Latest
	switch {
	case repo.Published != nil && repo.Published.Commit == head:
		return 0, false
	case latest == nil || latest.Status != codesage.StatusFailed:
		return 0, true
	case latest.Commit != "" && latest.Commit != head:
		return 0, true
	}
	wait = latest.FinishedAt.Add(failedPause).Sub(now)
	return max(wait, 0), wait <= 0
}
