// Package local searches entities and texts in index files of search/index: the
// engine that needs no service. It implements search.Engine and
// search.TextIndex, and reads what the session tools and find_patterns need.
//
// Each repository has a folder below the index's, named by its id, with two
// folders in it: "entities" and "texts". Both hold immutable segments and one
// manifest for each attempt at a run, "run-<id>-<attempt>.json", which names the
// segments of the run and the files of them that it leaves out. A run writes its
// changed files to a new segment, so a refresh costs what changed; segments are
// merged before the run's manifest is written, never under a reader. A reader
// takes the manifest of the latest attempt at the run in its snapshot and sees
// nothing else.
//
// An index is derived data: when a manifest or a segment is missing or damaged,
// it is written anew from the store, see Options.Rebuild.
//
// Several processes may share the folder. Nobody waits for a writer, which may
// stand still with its process: each makes files of its own, as an index.Owner.
// An attempt that was overtaken may commit late and is never read: the store lets
// only the latest attempt publish and none begin after that, so of a published
// run, whole or text, the latest manifest is the published one. Runs are not read
// before. Retain tells from the owners' locks what dead writers left.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"codesage"
	"codesage/search/index"
	"codesage/trace"
)

// A Part is one of the two indexes of a repository.
type Part string

// The parts of a repository's index.
const (
	Entities Part = "entities"
	Texts    Part = "texts"
)

// Options configure an Index. The zero value is that of a test.
type Options struct {
	// Log gets damage, rebuilds and what could not be removed. Nil discards.
	Log *slog.Logger

	// Rebuild writes a part of a snapshot anew from the store: Begin or
	// BeginTexts with base 0 and the attempt search.Rebuilt at the snapshot's own
	// run, a Put for every file, Commit. It is called when the part is missing or damaged, once at a time
	// for a repository, with a context that ends with Close. It returns an error
	// when the store no longer has the snapshot. Nil means that nothing can be
	// rebuilt.
	Rebuild func(ctx context.Context, s codesage.Snapshot, p Part) error

	// RebuildWait is how long a request waits for a rebuild. Zero means 20 s.
	RebuildWait time.Duration

	// RebuildTurn is how long a rebuild waits for one of the same part by another
	// process, before it does the same work beside it. Zero means 30 s.
	RebuildTurn time.Duration

	// Budget is the bytes of memory that one writer fills before it writes to
	// disk. Zero means 16 MiB.
	Budget int

	// Idle is how long a run stays open that nobody reads. Zero means 3 min.
	Idle time.Duration

	// ReadOnly refuses writers, rebuilds and sweeps.
	ReadOnly bool
}

const (
	defaultRebuildWait = 20 * time.Second
	defaultRebuildTurn = 30 * time.Second
	defaultBudget      = 16 << 20
	defaultIdle        = 3 * time.Minute

	writerWait = time.Hour // for the rebuild of its base
)

// Index is safe for concurrent use.
type Index struct {
	dir string
	o   Options

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // rebuilds, the verifier and who closes idle runs

	mu       sync.Mutex
	closed   bool
	folders  map[folderKey]*folder
	flights  map[folderKey]*flight
	unsure   []*opened // runs that wait to be verified
	checking bool
}

type folderKey struct {
	repo codesage.RepositoryID
	part Part
}

// Open returns the index in a folder, which it makes when it is missing. The
// caller closes it.
func Open(dir string, o Options) (*Index, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RebuildWait <= 0 {
		o.RebuildWait = defaultRebuildWait
	}
	if o.RebuildTurn <= 0 {
		o.RebuildTurn = defaultRebuildTurn
	}
	if o.Budget <= 0 {
		o.Budget = defaultBudget
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if !o.ReadOnly {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open search index: %w", err)
		}
	}
	x := &Index{dir: dir, o: o, folders: map[folderKey]*folder{},
		flights: map[folderKey]*flight{}}
	x.life, x.end = context.WithCancel(context.Background())
	x.work.Go(x.closeIdleRuns)
	return x, nil
}

// Close ends rebuilds and lets the files go when the searches that are running
// have finished. Writers that are open must be ended by their owners.
func (x *Index) Close() error {
	x.mu.Lock()
	x.closed = true
	folders := x.folders
	x.folders = map[folderKey]*folder{}
	x.mu.Unlock()
	x.end()
	x.work.Wait()
	for _, f := range folders {
		f.forgetAll()
	}
	return nil
}

// Ping reports whether the index folder can be read.
func (x *Index) Ping(context.Context) error {
	if _, err := os.ReadDir(x.dir); err != nil {
		return unavailable(err)
	}
	return nil
}

// unavailable is the answer when the index can't be read.
func unavailable(cause error) error {
	return &codesage.Error{Kind: codesage.KindUnavailable,
		Message: "Search is unavailable; try again later.", Err: cause}
}

// errClosed reports the use of an Index after Close.
var errClosed = errors.New("search index is closed")

// folder returns the folder of a part of a repository.
func (x *Index) folder(repo codesage.RepositoryID, part Part) (*folder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errClosed
	}
	key := folderKey{repo, part}
	f := x.folders[key]
	if f == nil {
		f = &folder{
			dir:     filepath.Join(x.repositoryDir(repo), string(part)),
			schema:  schemaOf(part),
			trusted: map[string]struct{}{},
			open:    map[codesage.RunID]*opened{},
		}
		x.folders[key] = f
	}
	f.asked = time.Now()
	return f, nil
}

func (x *Index) repositoryDir(repo codesage.RepositoryID) string {
	return filepath.Join(x.dir, strconv.FormatInt(int64(repo), 10))
}

// acquire opens a part of a snapshot for one request, which releases it. When
// the part is missing or damaged, it waits a while for a rebuild.
func (x *Index) acquire(ctx context.Context, s codesage.Snapshot, part Part, wait time.Duration) (*opened, error) {
	f, err := x.folder(s.Repository, part)
	if err != nil {
		return nil, unavailable(err)
	}
	o, err := f.acquire(s.Run, x.checkLater)
	if err == nil {
		return o, nil
	}
	if !isDamage(err) {
		return nil, unavailable(fmt.Errorf("open %s of run %d of repository %d: %w", part, s.Run, s.Repository, err))
	}
	if err := x.rebuild(ctx, s, part, err, wait); err != nil {
		return nil, err
	}
	if o, err = f.acquire(s.Run, x.checkLater); err != nil {
		return nil, unavailable(fmt.Errorf("open the rebuilt %s of run %d of repository %d: %w", part, s.Run, s.Repository, err))
	}
	return o, nil
}

// isDamage reports whether an index that gave an error must be written anew.
func isDamage(err error) bool {
	return errors.Is(err, index.ErrCorrupt) || errors.Is(err, fs.ErrNotExist)
}

// answer words an error of a search for its caller. The caller's own context
// stays what it is; damage is remembered, so that the next request rebuilds.
func (x *Index) answer(ctx context.Context, err error, parts ...*opened) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var known *codesage.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, index.ErrCorrupt) {
		trace.Log(ctx, x.o.Log).Error("search index is damaged; it will be rebuilt", "err", err)
		if len(parts) == 1 {
			parts[0].suspect()
		} else {
			x.distrust(parts)
		}
	}
	return unavailable(err)
}
