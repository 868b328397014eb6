// Package watch keeps local folders fresh: it watches the trees of all folder
// repositories and starts a run of each that changed, once it has been quiet for
// a moment. Directories are watched through the system's notifications, those
// only that the folder source enters; a tree that needs more watches than this
// process may take is looked through from time to time instead.
package watch

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"time"

	"codesage"
)

// The choices that hold where Options have none.
const (
	defaultDebounce = 2 * time.Second
	defaultMaxDelay = 30 * time.Second
	defaultPoll     = 2 * time.Second
	defaultScan     = 5 * time.Second

	rewatchPause = time.Minute
	walksAtOnce  = 2 // trees that are walked at the same time
)

// lister is the part of store.Store that the watcher needs.
type lister interface {
	ListRepositories(ctx context.Context) ([]codesage.Repository, error)
	Now(ctx context.Context) (time.Time, error)
	Repository(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error)
}

// starter is catalog.Catalog.
type starter interface {
	Reprocess(ctx context.Context, id codesage.RepositoryID, t codesage.Trigger, force bool) (codesage.Repository, codesage.Run, error)
}

// Options are what a Watcher needs. Zero values below Log mean the defaults.
type Options struct {
	Store   lister
	Catalog starter
	Log     *slog.Logger

	Debounce time.Duration // a run starts this long after the last change; 2 s
	MaxDelay time.Duration // and at the latest this long after the first; 30 s
	Poll     time.Duration // how often the list of repositories and the roots are looked at; 2 s
	Scan     time.Duration // the shortest time between two scans of a tree that can't be watched; 5 s

	Limit     int // watches that all trees together may take; see DefaultLimit
	Instances int // trees that are watched at the same time; see DefaultInstances

	// CheckRoot refuses a folder that may not be read. Nil allows all.
	CheckRoot func(path string) (string, error)

	// Except are files and folders of this program's own (its data folder, its
	// log): their changes, which runs cause, start no run.
	Except []string
}

// Watcher watches the folders that a store lists. Create it with New.
type Watcher struct {
	o         Options
	watches   *budget
	instances *budget
	walks     chan struct{} // a place for each tree that is being walked
	except    map[string]bool
	rewatch   time.Duration // how long a tree is scanned before it is tried to watch it again
}

// New returns a Watcher that has not begun.
func New(o Options) *Watcher {
	set(&o.Debounce, defaultDebounce)
	set(&o.MaxDelay, defaultMaxDelay)
	set(&o.Poll, defaultPoll)
	set(&o.Scan, defaultScan)
	set(&o.Limit, DefaultLimit())
	set(&o.Instances, DefaultInstances())
	w := &Watcher{
		o:         o,
		watches:   newBudget(o.Limit),
		instances: newBudget(o.Instances),
		walks:     make(chan struct{}, walksAtOnce),
		except:    map[string]bool{},
		rewatch:   rewatchPause,
	}
	for _, path := range o.Except {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if abs, err := filepath.Abs(path); err == nil {
			w.except[abs] = true
		}
	}
	return w
}

// set gives an option that is not set its default.
func set[T int | time.Duration](option *T, standard T) {
	if *option == 0 {
		*option = standard
	}
}

// watched is a repository whose folder has a goroutine.
type watched struct {
	path    string
	options codesage.IndexOptions
	stop    context.CancelFunc
	done    chan struct{}
}

// Run watches until ctx ends, and returns when all that it started has ended.
func (w *Watcher) Run(ctx context.Context) {
	active := map[codesage.RepositoryID]*watched{}
	defer func() {
		for _, a := range active {
			a.stop()
		}
		for _, a := range active {
			<-a.done
		}
	}()
	ticker := time.NewTicker(w.o.Poll)
	defer ticker.Stop()
	failing := false
	for {
		err := w.follow(ctx, active)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			w.o.Log.Warn("look for folders to watch; tried again until it works", "err", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// follow begins to watch the folders that are new in the store, and ends what
// watches those that are gone or have another path or other patterns now.
func (w *Watcher) follow(ctx context.Context, active map[codesage.RepositoryID]*watched) error {
	before := time.Now()
	all, err := w.o.Store.ListRepositories(ctx)
	if err != nil {
		return fmt.Errorf("list repositories: %w", err)
	}
	stored, err := w.o.Store.Now(ctx)
	if err != nil {
		return fmt.Errorf("ask the store for its time: %w", err)
	}
	ahead := stored.Sub(before) // or less: the answer took its time
	wanted := map[codesage.RepositoryID]codesage.Repository{}
	for _, r := range all {
		if r.Source == codesage.SourceFolder && r.Path != "" {
			wanted[r.ID] = r
		}
	}
	for id, a := range active {
		r, ok := wanted[id]
		if ok && r.Path == a.path && reflect.DeepEqual(r.Options, a.options) {
			continue
		}
		a.stop()
		<-a.done
		delete(active, id)
	}
	for id, r := range wanted {
		if active[id] == nil {
			active[id] = w.begin(ctx, r, lastListed(r, before.Add(ahead)).Add(-ahead))
		}
	}
	return nil
}

// begin starts to watch a folder, of which what changed after since may not be
// indexed.
func (w *Watcher) begin(parent context.Context, r codesage.Repository, since time.Time) *watched {
	ctx, cancel := context.WithCancel(parent)
	a := &watched{path: r.Path, options: r.Options, stop: cancel, done: make(chan struct{})}
	f := newFolder(w, r, since)
	go func() {
		defer close(a.done)
		defer cancel()
		f.run(ctx)
	}()
	return a
}

// walking waits for a place among the trees that are walked. done gives it back.
func (w *Watcher) walking(ctx context.Context) (done func(), err error) {
	select {
	case w.walks <- struct{}{}:
		return func() { <-w.walks }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
