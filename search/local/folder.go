package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"codesage"
	"codesage/search/index"
)

// keepOpen is how many runs of a folder stay open for readers: the one that is
// published, and the one before it for requests that have taken it already.
const keepOpen = 2

// A folder is one part of one repository.
type folder struct {
	dir     string
	schema  index.Schema
	asked   time.Time           // when it was last asked for; under Index.mu
	trusted map[string]struct{} // segments whose checksums were right; under Index.mu

	mu   sync.Mutex
	open map[codesage.RunID]*opened
}

// opened is the index of one run. Whoever acquired it releases it; it is closed
// after the last release when it has been forgotten.
type opened struct {
	folder *folder
	run    codesage.RunID
	ix     *index.Index
	names  []string // of the segments, in the order of ix.Parts

	refs    int       // under folder.mu
	used    time.Time // when it was last released
	gone    bool      // forgotten: close at the last release
	damaged bool      // must be written anew
}

// An attempt at a run has a manifest of its own.
type attempt struct {
	run codesage.RunID
	n   int
}

func (a attempt) manifest() string {
	return fmt.Sprintf("run-%d-%d%s", a.run, a.n, index.ManifestExt)
}

// attemptOf returns the attempt of a manifest's name.
func attemptOf(name string) (attempt, bool) {
	var a attempt
	_, err := fmt.Sscanf(name, "run-%d-%d", &a.run, &a.n)
	return a, err == nil && name == a.manifest()
}

// acquire opens a run, or takes it from those that are open. fresh is told of a
// run that was opened.
func (f *folder) acquire(run codesage.RunID, fresh func(*opened)) (*opened, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.open[run]
	if o == nil || o.damaged {
		next, err := f.load(run, o)
		if err != nil {
			return nil, err
		}
		if o != nil {
			f.drop(o)
		}
		o = next
		f.open[run] = o
		fresh(o)
	}
	o.refs++ // before forgetOld, which may close what nobody uses
	f.forgetOld()
	return o, nil
}

// loadTries is how often a run is opened that another process is rebuilding.
const loadTries = 3

// load opens a run. damaged, unless nil, is what was opened before: the error is
// index.ErrCorrupt while nothing else has taken its place.
func (f *folder) load(run codesage.RunID, damaged *opened) (*opened, error) {
	for tries := 1; ; tries++ {
		name, err := f.latest(run)
		if err != nil {
			return nil, err
		}
		m, err := index.ReadManifest(f.dir, name)
		if err != nil {
			return nil, err
		}
		if damaged != nil && slices.Equal(segmentsOf(m), damaged.names) {
			return nil, fmt.Errorf("run %d: %w", run, index.ErrCorrupt)
		}
		o, err := f.openManifest(run, m)
		// A rebuild may have replaced the manifest, and a sweep removed what the one
		// before named.
		if !errors.Is(err, fs.ErrNotExist) || tries == loadTries {
			return o, err
		}
	}
}

func segmentsOf(m index.Manifest) (names []string) {
	for _, s := range m.Segments {
		names = append(names, s.Name)
	}
	return names
}

// openManifest opens a run and shares the segments that other runs have open.
func (f *folder) openManifest(run codesage.RunID, m index.Manifest) (*opened, error) {
	var prev *index.Index
	newest := codesage.RunID(0)
	for id, o := range f.open {
		if id >= newest && !o.damaged {
			newest, prev = id, o.ix
		}
	}
	ix, err := index.OpenManifest(f.dir, m, prev)
	if err != nil {
		return nil, err
	}
	if len(m.Segments) > 0 && !sameSchema(ix.Schema(), f.schema) {
		ix.Close()
		return nil, fmt.Errorf("run %d has the schema of another version: %w", run, index.ErrCorrupt)
	}
	return &opened{folder: f, run: run, ix: ix, names: segmentsOf(m)}, nil
}

func sameSchema(a, b index.Schema) bool {
	return slices.Equal(a.Fields, b.Fields) && slices.Equal(a.Attrs, b.Attrs) && a.Trigrams == b.Trigrams && a.MaxToken == b.MaxToken
}

// forgetOld forgets all but the newest runs.
func (f *folder) forgetOld() {
	runs := make([]codesage.RunID, 0, len(f.open))
	for run := range f.open {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	for _, run := range runs[:max(0, len(runs)-keepOpen)] {
		f.drop(f.open[run])
	}
}

// drop forgets a run; the caller holds f.mu.
func (f *folder) drop(o *opened) {
	if f.open[o.run] == o {
		delete(f.open, o.run)
	}
	o.gone = true
	if o.refs == 0 {
		o.ix.Close()
	}
}

// forget makes the next reader of a run open it anew.
func (f *folder) forget(run codesage.RunID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.open[run]; o != nil {
		f.drop(o)
	}
}

// forgetAll closes what is open, and what readers still have with their last
// release. keep are runs to leave.
func (f *folder) forgetAll(keep ...codesage.RunID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for run, o := range f.open {
		if !slices.Contains(keep, run) {
			f.drop(o)
		}
	}
}

// release ends a request.
func (o *opened) release() {
	o.folder.mu.Lock()
	defer o.folder.mu.Unlock()
	o.used = time.Now()
	if o.refs--; o.refs == 0 && o.gone {
		o.ix.Close()
	}
}

// suspect marks a run as damaged.
func (o *opened) suspect() {
	o.folder.mu.Lock()
	defer o.folder.mu.Unlock()
	o.damaged = true
}

// attempts returns the latest attempt of each run that has a manifest in the
// folder. A damaged one counts: what came before it is not what was published.
func (f *folder) attempts() (map[codesage.RunID]attempt, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	latest := map[codesage.RunID]attempt{}
	for _, e := range entries {
		a, ok := attemptOf(e.Name())
		if before, isThere := latest[a.run]; ok && (!isThere || a.n > before.n) {
			latest[a.run] = a
		}
	}
	return latest, nil
}

// latest returns the name of the manifest of the latest attempt at a run.
func (f *folder) latest(run codesage.RunID) (name string, err error) {
	attempts, err := f.attempts()
	if err != nil {
		return "", err
	}
	a, ok := attempts[run]
	if !ok {
		return "", fmt.Errorf("manifest of run %d in %s: %w", run, f.dir, fs.ErrNotExist)
	}
	return a.manifest(), nil
}

// ownerTries is how often a folder is made, or a lock in it, that a sweep removes
// before it is taken. A sweep comes about once a minute; many at once are met by
// tests only.
const ownerTries = 100

// newOwner begins to write in the folder, which it makes when it is missing.
func (f *folder) newOwner() (*index.Owner, error) {
	for tries := 1; ; tries++ {
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return nil, err
		}
		o, err := index.NewOwner(f.dir)
		if !errors.Is(err, fs.ErrNotExist) || tries == ownerTries {
			return o, err
		}
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }
