package watch

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// beginScans lets the folder be scanned from now on, and says so once.
func (f *folder) beginScans(cause error) {
	f.unwatch()
	f.mode = scanning
	f.seen = view{}
	f.nextScan = time.Time{}
	f.rewatch = time.Now().Add(f.w.rewatch)
	if !f.told {
		f.told = true
		f.log.Warn("the folder can't be watched and is scanned for changes instead, which takes longer; "+f.advice(cause), "err", cause)
	}
}

// advice says what to do when watches ran out.
func (f *folder) advice(cause error) string {
	switch {
	case f.w.instances.free() == 0, errors.Is(cause, syscall.EMFILE):
		return fmt.Sprintf("at most %d folders are watched at the same time; raise fs.inotify.max_user_instances with sysctl and restart, or remove folders", f.w.o.Instances)
	case filesCount():
		return fmt.Sprintf("all folders together may have %d files and directories; leave directories out with exclude patterns or .gitignore", f.w.o.Limit)
	}
	return fmt.Sprintf("all folders together may have %d directories, half of fs.inotify.max_user_watches and at most %d; raise it with sysctl and restart, or leave directories out with exclude patterns or .gitignore",
		f.w.o.Limit, mostWatches)
}

// scan looks at every file of the folder, plans the next scan by the time it
// took, and goes back to watching when that seems possible again.
func (f *folder) scan(ctx context.Context) {
	done, err := f.w.walking(ctx)
	if err != nil {
		return
	}
	began := time.Now()
	seen, err := scan(ctx, f.rules)
	done()
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && !errors.Is(limited(err), errLimit):
		f.vanished(err)
		return
	case err != nil:
		f.nextScan = time.Now().Add(f.w.o.Scan)
		return
	}
	f.back()
	first := f.seen.dirs == 0
	if first && seen.newest.After(f.since) || !first && seen.digest != f.seen.digest {
		f.change.note(time.Now())
	}
	f.seen, f.since = seen, began.Add(-clockStep)
	took := time.Since(began)
	pause := min(max(f.w.o.Scan, scanShare*took), max(f.w.o.Scan, longestScan))
	f.nextScan = time.Now().Add(pause)
	f.log.Debug("the folder was scanned", "directories", seen.dirs, "took", took, "again_in", pause)
	f.tryToWatch(ctx)
}

// tryToWatch watches a folder again that has been scanned for a while.
func (f *folder) tryToWatch(ctx context.Context) {
	now := time.Now()
	if now.Before(f.rewatch) || f.w.watches.free() < f.seen.dirs || f.w.instances.free() == 0 {
		return
	}
	f.rewatch = now.Add(f.w.rewatch)
	if err := f.watch(ctx); err == nil {
		f.told = false
		f.log.Info("the folder is watched again")
	}
}
