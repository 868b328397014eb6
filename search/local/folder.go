package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	writing chan struct{} // holds one token while a writer of this process is at work

	mu    sync.Mutex
	open  map[codesage.RunID]*opened
	sweep []codesage.RunID // runs to keep by a sweep that waits for the writer
	isDue bool             // such a sweep waits
}

// opened is the index of one run. Whoever acquired it releases it; it is closed
// after the last release when it has been forgotten.
type opened struct {
	folder *folder
	run    codesage.RunID
	ix     *index.Index
	names  []string // of the segments, in the order of ix.Parts

	refs    int  // under folder.mu
	gone    bool // forgotten: close at the last release
	damaged bool // must be written anew
}

func manifestName(run codesage.RunID) string {
	return "run-" + strconv.FormatInt(int64(run), 10) + index.ManifestExt
}

// runOf returns the run of a manifest's name.
func runOf(name string) (codesage.RunID, bool) {
	s, ok := strings.CutPrefix(name, "run-")
	s, isManifest := strings.CutSuffix(s, index.ManifestExt)
	n, err := strconv.ParseInt(s, 10, 64)
	return codesage.RunID(n), ok && isManifest && err == nil
}

// acquire opens a run, or takes it from those that are open. fresh is told of a
// run that was opened.
func (f *folder) acquire(run codesage.RunID, fresh func(*opened)) (*opened, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.open[run]
	if o != nil && o.damaged {
		return nil, fmt.Errorf("run %d: %w", run, index.ErrCorrupt)
	}
	if o == nil {
		var err error
		if o, err = f.load(run); err != nil {
			return nil, err
		}
		f.open[run] = o
		f.forgetOld()
		fresh(o)
	}
	o.refs++
	return o, nil
}

// load opens a run and shares the segments that other runs have open.
func (f *folder) load(run codesage.RunID) (*opened, error) {
	var prev *index.Index
	newest := codesage.RunID(0)
	for id, o := range f.open {
		if id >= newest && !o.damaged {
			newest, prev = id, o.ix
		}
	}
	name := manifestName(run)
	m, err := index.ReadManifest(f.dir, name)
	if err != nil {
		return nil, err
	}
	ix, err := index.OpenIndex(f.dir, name, prev)
	if err != nil {
		return nil, err
	}
	if len(m.Segments) > 0 && !sameSchema(ix.Schema(), f.schema) {
		ix.Close()
		return nil, fmt.Errorf("run %d has the schema of another version: %w", run, index.ErrCorrupt)
	}
	o := &opened{folder: f, run: run, ix: ix}
	for _, s := range m.Segments {
		o.names = append(o.names, s.Name)
	}
	return o, nil
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

// manifests returns the runs that have a readable manifest in the folder.
func (f *folder) manifests() ([]codesage.RunID, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []codesage.RunID
	for _, e := range entries {
		run, ok := runOf(e.Name())
		if !ok {
			continue
		}
		if _, err := index.ReadManifest(f.dir, e.Name()); err == nil {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// newSegment reserves the name of a new segment.
func (f *folder) newSegment() (name string, err error) {
	file, err := os.CreateTemp(f.dir, "s-*"+index.SegmentExt)
	if err != nil {
		return "", err
	}
	return filepath.Base(file.Name()), file.Close()
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }
