package local

import (
	"maps"
	"os"
	"strconv"
	"time"

	"codesage"
)

// closeIdleRuns closes, until Close, what nobody reads any more: runs that were
// replaced and repositories that were deleted, maybe by another process, give
// their disk space back, and files that are open don't add up.
func (x *Index) closeIdleRuns() {
	tick := time.NewTicker(max(x.o.Idle/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			x.closeIdle(time.Now().Add(-x.o.Idle))
		case <-x.life.Done():
			return
		}
	}
}

// closeIdle closes the runs that nobody has read since a time, and forgets
// repositories that are gone from disk.
func (x *Index) closeIdle(since time.Time) {
	x.mu.Lock()
	folders := maps.Clone(x.folders)
	x.mu.Unlock()
	empty := map[folderKey]*folder{}
	for key, f := range folders { // not under x.mu, which is taken under a folder's
		if f.closeIdle(since) {
			empty[key] = f
		}
	}
	if len(empty) == 0 {
		return
	}
	there, err := x.repositories()
	if err != nil {
		return // a later look will do
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, f := range empty {
		if there[key.repo] || !f.asked.Before(since) {
			continue
		}
		delete(x.folders, key)
		delete(x.flights, key)
	}
}

// closeIdle closes the runs that nobody has read since a time, and reports
// whether no other is open.
func (f *folder) closeIdle(since time.Time) (isEmpty bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.open {
		if o.refs == 0 && o.used.Before(since) {
			f.drop(o)
		}
	}
	return len(f.open) == 0
}

// repositories returns the repositories that have a folder on disk.
func (x *Index) repositories() (map[codesage.RepositoryID]bool, error) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return nil, err
	}
	there := map[codesage.RepositoryID]bool{}
	for _, e := range entries {
		if id, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && e.IsDir() {
			there[codesage.RepositoryID(id)] = true
		}
	}
	return there, nil
}
