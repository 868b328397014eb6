package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"

	"codesage"
)

const (
	// clockStep is how much earlier than the change itself the time of a file may
	// be: file systems count in steps of up to a second.
	clockStep = time.Second

	// A scan may take this part of the time, and is made at least so often.
	scanShare   = 50
	longestScan = 5 * time.Minute
)

// mode is how a folder is followed.
type mode int

const (
	idle     mode = iota // not begun, or the folder is gone
	watching             // by notifications
	scanning             // by looking at every file
)

// folder follows the tree of one repository and starts its runs. It belongs to
// one goroutine.
type folder struct {
	w    *Watcher
	repo codesage.Repository
	log  *slog.Logger

	rules *rules
	since time.Time // what changed later is not indexed, as far as is known
	mode  mode
	root  fs.FileInfo // of the folder that is followed
	gone  bool        // the folder was said to be gone

	tree *tree // while watching

	seen     view // by the last scan; no directories = not scanned yet
	nextScan time.Time
	rewatch  time.Time // when to try to watch again
	told     bool      // that the folder is scanned

	change change
}

// newFolder returns what follows the folder of a repository, of which what changed
// after since may not be indexed.
func newFolder(w *Watcher, r codesage.Repository, since time.Time) *folder {
	return &folder{
		w:      w,
		repo:   r,
		log:    w.o.Log.With("repository", r.Name, "folder", r.Path),
		since:  since.Add(-clockStep),
		change: newChange(w.o),
	}
}

// lastListed is the time since when changes may not be indexed: when the run
// that is going, or published, began. A run that waits still has to list the
// files. read is when the store was read, and all times are its.
func lastListed(r codesage.Repository, read time.Time) time.Time {
	latest := r.Latest
	switch {
	case r.Published != nil && (elsewhere(r) || latest != nil && latest.Status == codesage.StatusFailed):
		return r.Published.StartedAt
	case latest == nil || latest.Status == codesage.StatusPending:
		return read
	}
	return latest.StartedAt
}

// elsewhere reports whether the newest run reads another folder than the one that
// is indexed, and so sees none of its changes.
func elsewhere(r codesage.Repository) bool {
	return r.Latest != nil && r.Latest.Path != r.Path
}

// run follows the folder until ctx ends.
func (f *folder) run(ctx context.Context) {
	var err error
	if f.rules, err = newRules(f.repo, f.w.except); err != nil {
		f.log.Warn("the folder is not watched", "err", err)
		return
	}
	defer f.unwatch()
	defer f.change.timer.Stop()
	look := time.NewTicker(f.w.o.Poll)
	defer look.Stop()
	f.look(ctx)
	for {
		events, failures := f.channels()
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			f.happened(ctx, e)
		case err := <-failures:
			f.missed(err)
		case <-look.C:
			f.look(ctx)
		case <-f.change.timer.C:
			f.due(ctx)
		}
	}
}

// channels returns those of the tree; nil ones, on which nothing comes, while
// there is none.
func (f *folder) channels() (<-chan fsnotify.Event, <-chan error) {
	if f.tree == nil {
		return nil, nil
	}
	return f.tree.notify.Events, f.tree.notify.Errors
}

// happened takes in a notification.
func (f *folder) happened(ctx context.Context, e fsnotify.Event) {
	changed, gone, err := f.tree.happened(ctx, e)
	if changed {
		f.change.note(time.Now())
	}
	switch {
	case gone:
		f.missed(errors.New("the folder was moved or deleted"))
		f.look(ctx)
	case errors.Is(err, errLimit):
		f.beginScans(err)
	}
}

// missed takes in that notifications were lost.
func (f *folder) missed(err error) {
	f.log.Debug("notifications were lost; the folder counts as changed", "err", err)
	f.tree.stale = true
	f.change.note(time.Now())
}

// look sees whether the folder is there and still the same, begins to follow it
// when it is not followed, and scans it when that is its time.
func (f *folder) look(ctx context.Context) {
	root, err := os.Stat(f.repo.Path)
	if err == nil && !root.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.vanished(err)
		return
	}
	if f.mode != idle && !os.SameFile(root, f.root) {
		f.unwatch() // another folder has taken its place
		f.change.note(time.Now())
	}
	f.root = root
	if f.mode == idle {
		f.begin(ctx)
	} else if f.mode == scanning && !time.Now().Before(f.nextScan) {
		f.scan(ctx)
	}
}

// vanished stops to follow a folder that is gone: its index stays, and no run is
// started that could only fail.
func (f *folder) vanished(err error) {
	f.unwatch()
	f.change.clear()
	if f.gone {
		return
	}
	f.gone = true
	f.log.Warn("the folder is gone or can't be read; its index stays as it is until the folder is back", "err", err)
}

// begin watches the folder, or scans it when it can't be watched.
func (f *folder) begin(ctx context.Context) {
	if f.w.o.CheckRoot != nil {
		if _, err := f.w.o.CheckRoot(f.repo.Path); err != nil {
			f.vanished(err)
			return
		}
	}
	err := f.watch(ctx)
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, errLimit):
		f.beginScans(err)
		f.scan(ctx)
	default:
		f.vanished(err)
	}
}

// back takes in that the folder can be read.
func (f *folder) back() {
	if f.gone {
		f.gone = false
		f.log.Info("the folder is back")
		f.change.note(time.Now())
	}
}

// watch opens the tree and finds what changed before. Only one error is not
// about the folder itself: errLimit.
func (f *folder) watch(ctx context.Context) error {
	done, err := f.w.walking(ctx)
	if err != nil {
		return err
	}
	defer done()
	began := time.Now()
	if !f.w.instances.take(1) {
		return errLimit
	}
	tree, newest, err := openTree(ctx, f.rules, f.w.watches, f.since)
	if err != nil {
		f.w.instances.give(1)
		return err
	}
	f.back()
	if newest.After(f.since) {
		f.change.note(time.Now())
	}
	f.tree, f.mode, f.since = tree, watching, began.Add(-clockStep)
	f.log.Debug("the folder is watched", "directories", len(tree.dirs)-tree.unwatched, "took", time.Since(began))
	return nil
}

// unwatch stops to follow the folder.
func (f *folder) unwatch() {
	if f.tree != nil {
		f.tree.close()
		f.w.instances.give(1)
		f.tree = nil
	}
	f.mode = idle
}

// due starts a run when the folder has been quiet for long enough.
func (f *folder) due(ctx context.Context) {
	if !f.change.ripe(time.Now()) {
		return
	}
	if f.tree != nil && f.tree.stale {
		f.unwatch()
		f.look(ctx)
	}
	if !f.change.waits() || ctx.Err() != nil {
		return
	}
	f.change.tried(f.start(ctx), time.Now())
}

// start starts a run. A run that waits in the queue will see the change anyway.
func (f *folder) start(ctx context.Context) outcome {
	repo, err := f.w.o.Store.Repository(ctx, f.repo.ID)
	var run codesage.Run
	switch {
	case err != nil:
	case repo.Latest != nil && repo.Latest.Status == codesage.StatusPending && !elsewhere(repo):
		return started
	case repo.Latest != nil && repo.Latest.Going():
		return busy
	case repo.TextRun == 0:
		return started // its first run failed or was cancelled: only a person starts another
	default:
		_, run, err = f.w.o.Catalog.Reprocess(ctx, f.repo.ID, codesage.TriggerWatch, false)
	}
	switch {
	case err == nil:
		f.log.Info("the folder has changed", "run", run.ID)
		return started
	case errors.Is(err, codesage.ErrConflict):
		return busy
	case errors.Is(err, codesage.ErrNotFound), ctx.Err() != nil:
		return started // it was deleted: there is nothing to refresh
	}
	f.log.Warn("refresh the folder; tried again until it works", "err", err)
	return failed
}
