package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"codesage"
	"codesage/queue"
	"codesage/search"
	"codesage/store"
)

const (
	// enqueueInterval lets a dead worker's run, which must be taken up within 30 s,
	// wait for 20 s at most until it is enqueued.
	enqueueInterval = codesage.HeartbeatInterval

	sweepInterval = 10 * time.Second
	pruneInterval = time.Minute
	pruneJitter   = 20 * time.Second // so that the workers of a team don't prune in step

	// snapshotLife is how long a reader may go on with a snapshot that has been
	// replaced; no request lasts longer.
	snapshotLife = 10 * time.Minute
)

// Sweeper puts right what crashes and a lost queue left behind: it enqueues
// what the store says is unfinished, and removes what no run needs.
type Sweeper struct {
	Store  store.Store
	Queue  *queue.Queue
	Engine search.Engine
	Log    *slog.Logger

	once sync.Once
	wake chan struct{}

	mu    sync.Mutex
	known map[codesage.RepositoryID]bool // repositories at the last look, and those worked on since
}

// Adopt hands back every run that claims to be worked on, so that it is taken
// up at once, and counts a crash. Only for a process that knows that it is the
// only worker.
func (s *Sweeper) Adopt(ctx context.Context) error {
	runs, err := s.Store.UnfinishedRuns(ctx, 0)
	if err != nil {
		return fmt.Errorf("list unfinished runs: %w", err)
	}
	for _, run := range runs {
		if run.Status != codesage.StatusProcessing {
			continue
		}
		s.Log.Info("run was interrupted and starts again", "run", run.ID)
		run.Crashes++
		if err := s.Store.ReleaseRun(ctx, run); err != nil && !errors.Is(err, codesage.ErrConflict) {
			return fmt.Errorf("hand back run %d: %w", run.ID, err)
		}
	}
	return s.enqueue(ctx)
}

// Soon makes the sweeper look for leftovers at once: a run has ended whose
// repository may have been deleted.
func (s *Sweeper) Soon() {
	select {
	case s.waker() <- struct{}{}:
	default:
	}
}

// saw notes a repository that a worker writes to, so that its deletion is noticed
// even when it comes before the next look.
func (s *Sweeper) saw(id codesage.RepositoryID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[codesage.RepositoryID]bool{}
	}
	s.known[id] = true
}

func (s *Sweeper) waker() chan struct{} {
	s.once.Do(func() { s.wake = make(chan struct{}, 1) })
	return s.wake
}

// Run sweeps until ctx ends. What a deleted repository left is removed at the
// next look, everything else about once in a minute. Runs are enqueued meanwhile:
// removing may take long.
func (s *Sweeper) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { s.enqueueAll(ctx) })
	loops.Go(func() { s.pruneAll(ctx) })
	loops.Wait()
}

func (s *Sweeper) enqueueAll(ctx context.Context) {
	ticker := time.NewTicker(enqueueInterval)
	defer ticker.Stop()
	for {
		if err := s.enqueue(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("sweep runs", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Sweeper) pruneAll(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	var next time.Time
	woken := false
	for {
		if woken || s.someGone(ctx) || !time.Now().Before(next) {
			if err := s.prune(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("sweep leftovers", "err", err)
			}
			next = time.Now().Add(pruneInterval - rand.N(pruneJitter))
		}
		select {
		case <-ctx.Done():
			return
		case <-s.waker():
			woken = true
		case <-ticker.C:
			woken = false
		}
	}
}

// someGone reports whether a repository was deleted since the last look.
func (s *Sweeper) someGone(ctx context.Context) bool {
	repos, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return false // the sweep of the minute reports it
	}
	now := make(map[codesage.RepositoryID]bool, len(repos))
	for _, r := range repos {
		now[r.ID] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := false
	for id := range s.known {
		gone = gone || !now[id]
	}
	s.known = now
	return gone
}

// enqueue enqueues what waits, and what a dead worker left.
func (s *Sweeper) enqueue(ctx context.Context) error {
	runs, err := s.Store.UnfinishedRuns(ctx, codesage.HeartbeatTimeout)
	if err != nil {
		return fmt.Errorf("list unfinished runs: %w", err)
	}
	for _, run := range runs {
		if err := s.Queue.Enqueue(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// prune removes rows and index files that no reader and no run needs.
func (s *Sweeper) prune(ctx context.Context) error {
	if err := s.Store.Prune(ctx, snapshotLife); err != nil {
		return fmt.Errorf("prune rows: %w", err)
	}
	if err := s.Engine.Retain(ctx, s.keep); err != nil {
		return fmt.Errorf("sweep search index: %w", err)
	}
	return nil
}

// keep lists the runs whose search files are in use, or were until so shortly
// ago that a reader may still be about to open them. It is a search.Keep.
func (s *Sweeper) keep(ctx context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
	repos, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	now, err := s.Store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the store for its time: %w", err)
	}
	keep := make(map[codesage.RepositoryID][]codesage.RunID, len(repos))
	for _, r := range repos {
		keep[r.ID] = needed(r)
		if r.Published == nil || now.Sub(r.Published.FinishedAt) > snapshotLife {
			continue // nothing was replaced lately
		}
		runs, err := s.Store.ListRuns(ctx, r.ID, codesage.KeepRuns)
		if errors.Is(err, codesage.ErrNotFound) {
			continue // deleted meanwhile; the next sweep removes it
		}
		if err != nil {
			return nil, fmt.Errorf("list runs of %s: %w", r.Name, err)
		}
		keep[r.ID] = append(keep[r.ID], replacedLately(runs, now)...)
	}
	return keep, nil
}

// replacedLately returns which of a repository's runs, newest first, were
// replaced by a younger one within the life of a snapshot. The text of a run that
// died is seen until the run that went on from it.
func replacedLately(runs []codesage.Run, now time.Time) (replaced []codesage.RunID) {
	var successor *codesage.Run
	for i, r := range runs {
		wasSeen := r.Status == codesage.StatusCompleted || successor != nil && successor.Trigger == codesage.TriggerResume
		if !wasSeen {
			continue
		}
		if successor != nil {
			replaced = append(replaced, r.ID)
		}
		if now.Sub(r.FinishedAt) > snapshotLife {
			break // what it replaced is out of use
		}
		successor = &runs[i]
	}
	return replaced
}

// needed lists the runs of a repository whose search files are in use.
func needed(r codesage.Repository) []codesage.RunID {
	var runs []codesage.RunID
	if r.Published != nil {
		runs = append(runs, r.Published.ID)
	}
	if r.TextRun != 0 {
		runs = append(runs, r.TextRun)
	}
	if r.Latest != nil && r.Latest.Going() {
		runs = append(runs, r.Latest.ID)
	}
	return runs
}
