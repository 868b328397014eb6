package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"codesage"
	"codesage/search/index"
)

// lockPoll is how often the lock of another process is tried.
const lockPoll = 50 * time.Millisecond

// takeLock waits until no writer of this process or of another one is at work
// in the folder. The error is KindConflict when that takes too long.
func (f *folder) takeLock(ctx context.Context, wait time.Duration) (*index.Lock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait,
		codesage.Errorf(codesage.KindConflict, "another run is writing the search index in %s", f.dir))
	defer cancel()
	select {
	case f.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		// Retain may remove the folder of a repository that it doesn't know yet.
		err := os.MkdirAll(f.dir, 0o755)
		if err == nil {
			var lock *index.Lock
			if lock, err = index.LockDir(f.dir); err == nil {
				return lock, nil
			}
		}
		if !errors.Is(err, index.ErrLocked) && !errors.Is(err, fs.ErrNotExist) {
			<-f.writing
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			<-f.writing
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock takes the lock if nobody has it.
func (f *folder) tryLock() (*index.Lock, bool) {
	select {
	case f.writing <- struct{}{}:
	default:
		return nil, false
	}
	lock, err := index.LockDir(f.dir)
	if err != nil {
		<-f.writing
		return nil, false
	}
	return lock, true
}

func (f *folder) unlock(lock *index.Lock) {
	_ = lock.Unlock() // the lock ends with its file in any case
	<-f.writing
}
