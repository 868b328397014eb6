package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codesage"
	"codesage/search/index"
	"codesage/trace"
)

// A flight is a rebuild of a part of a repository that is going on, or that
// ended badly a while ago.
type flight struct {
	run  codesage.RunID
	done chan struct{}
	err  error     // set when done
	at   time.Time // when it ended
}

// retryRebuild is how long a failed rebuild is not tried again.
const retryRebuild = 30 * time.Second

// errNoRebuild says that the index has no way to rebuild.
var errNoRebuild = errors.New("index can't be rebuilt here")

// rebuild writes a part of a snapshot anew, or joins a rebuild that is going on,
// and waits for it a while. Its error is the answer to the caller.
func (x *Index) rebuild(ctx context.Context, s codesage.Snapshot, part Part, cause error, wait time.Duration) error {
	if x.o.Rebuild == nil || x.o.ReadOnly {
		return unavailable(fmt.Errorf("%w: %w", errNoRebuild, cause))
	}
	f := x.launch(ctx, s, part, cause)
	if f == nil {
		return unavailable(errClosed)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.done:
		if f.err != nil {
			return unavailable(f.err)
		}
		return nil
	case <-timer.C:
		return unavailable(fmt.Errorf("rebuild of the %s of repository %d is going on", part, s.Repository))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// launch starts a rebuild unless one is going on or has just failed. It outlives
// ctx, of which it keeps where it came from.
func (x *Index) launch(ctx context.Context, s codesage.Snapshot, part Part, cause error) *flight {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	key := folderKey{s.Repository, part}
	if f := x.flights[key]; f != nil {
		select {
		case <-f.done:
			if f.err != nil && f.run == s.Run && time.Since(f.at) < retryRebuild {
				return f
			}
		default:
			return f
		}
	}
	f := &flight{run: s.Run, done: make(chan struct{})}
	x.flights[key] = f
	log := trace.Log(ctx, x.o.Log).With("repository", s.Repository, "of_run", s.Run, "part", part)
	log.Error("search index is missing or damaged; rebuilding it", "err", cause)
	life := trace.WithOrigin(x.life, trace.OriginOf(ctx))
	x.work.Go(func() {
		start := time.Now()
		err := x.makeAnew(life, s, part)
		if err != nil {
			log.Error("rebuild search index", "err", err)
		} else {
			log.Info("rebuilt search index", "took", time.Since(start))
		}
		f.err, f.at = err, time.Now()
		close(f.done)
	})
	return f
}

// makeAnew has a part of a snapshot written anew, unless another process has just
// done so.
func (x *Index) makeAnew(ctx context.Context, s codesage.Snapshot, part Part) error {
	f, err := x.folder(s.Repository, part)
	if err != nil {
		return err
	}
	if lock := f.takeTurn(ctx, x.o.RebuildTurn); lock != nil {
		defer func() { _ = lock.Unlock() }() // it ends with its file in any case
	}
	if o, err := f.acquire(s.Run, x.checkLater); err == nil {
		o.release()
		return nil
	}
	return x.o.Rebuild(ctx, s, part)
}

// turnPoll is how often the lock of another process is tried.
const turnPoll = 50 * time.Millisecond

// takeTurn waits a while until no other process rebuilds the part. The turn only
// spares double work: nil means to go on without, as when the other process
// stands still.
func (f *folder) takeTurn(ctx context.Context, wait time.Duration) *index.Lock {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(turnPoll)
	defer tick.Stop()
	for {
		lock, err := index.LockDir(f.dir)
		if !errors.Is(err, index.ErrLocked) {
			return lock
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
