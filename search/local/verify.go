package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"codesage"
	"codesage/search/index"
)

// checkLater has the checksums of a run verified in the background, one run at
// a time, so that damage inside a segment is found although reading it gives no
// error. Each segment is verified once in the life of the process.
func (x *Index) checkLater(o *opened) {
	if x.o.ReadOnly {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	o.refs++ // the caller holds the folder's lock
	o.folder.trustOnlyOpen()
	x.unsure = append(x.unsure, o)
	if !x.checking {
		x.checking = true
		x.work.Go(x.check)
	}
}

// check works off the list of runs to verify.
func (x *Index) check() {
	for o := x.nextUnsure(); o != nil; o = x.nextUnsure() {
		for i, p := range o.ix.Parts() {
			if x.life.Err() != nil || x.isTrusted(o.folder, o.names[i]) {
				continue
			}
			if err := p.Segment.Verify(); err != nil {
				x.o.Log.Error("search index is damaged; the next search rebuilds it", "err", err)
				o.suspect()
				break
			}
			x.trust(o.folder, o.names[i:i+1])
		}
		o.release()
	}
}

// distrust has runs verified again: one of them is damaged.
func (x *Index) distrust(runs []*opened) {
	for _, o := range runs {
		x.distrustFiles(o.folder, o.names)
		o.folder.mu.Lock()
		x.checkLater(o)
		o.folder.mu.Unlock()
	}
}

func (x *Index) distrustFiles(f *folder, names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		delete(f.trusted, name)
	}
}

func (x *Index) nextUnsure() *opened {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.unsure) == 0 {
		x.checking = false
		return nil
	}
	o := x.unsure[0]
	x.unsure = x.unsure[1:]
	return o
}

// trust remembers segments whose checksums are right.
func (x *Index) trust(f *folder, names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		f.trusted[name] = struct{}{}
	}
}

func (x *Index) isTrusted(f *folder, name string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := f.trusted[name]
	return ok
}

// trustOnlyOpen forgets the segments that no open run has: most are gone, swept
// maybe by another process. The caller holds the locks of folder and index.
func (f *folder) trustOnlyOpen() {
	isOpen := map[string]bool{}
	for _, o := range f.open {
		for _, name := range o.names {
			isOpen[name] = true
		}
	}
	maps.DeleteFunc(f.trusted, func(name string, _ struct{}) bool { return !isOpen[name] })
}

// Verify reads the manifests that readers take, and their segments, and checks
// their checksums. What awaits a sweep, as after a rebuild, it leaves. The error
// joins what is wrong; damage is index.ErrCorrupt. n is the number of segments.
func (x *Index) Verify(ctx context.Context) (n int, err error) {
	repos, err := os.ReadDir(x.dir)
	if err != nil {
		return 0, unavailable(err)
	}
	var errs []error
	seen := map[string]bool{}
	for _, e := range repos {
		id, err := strconv.ParseInt(e.Name(), 10, 64)
		if err != nil || !e.IsDir() {
			continue
		}
		for _, part := range []Part{Entities, Texts} {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			f, err := x.folder(codesage.RepositoryID(id), part)
			if err != nil {
				return n, err
			}
			errs = append(errs, f.verify(ctx, seen, &n))
		}
	}
	return n, errors.Join(errs...)
}

// verify checks what the latest manifest of each run names. seen holds the segments
// that have been checked. What a sweep removes meanwhile is no fault.
func (f *folder) verify(ctx context.Context, seen map[string]bool, n *int) error {
	attempts, err := f.attempts()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, run := range slices.Sorted(maps.Keys(attempts)) {
		manifest := attempts[run].manifest()
		err := f.verifyRun(ctx, manifest, seen, n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(f.path(manifest)); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// verifyRun checks what one manifest names.
func (f *folder) verifyRun(ctx context.Context, manifest string, seen map[string]bool, n *int) error {
	m, err := index.ReadManifest(f.dir, manifest)
	if err != nil {
		return fmt.Errorf("%s: %w", f.dir, err)
	}
	var errs []error
	for _, s := range m.Segments {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen[f.path(s.Name)] {
			continue
		}
		seen[f.path(s.Name)] = true
		*n++
		errs = append(errs, verifySegment(f.path(s.Name)))
	}
	return errors.Join(errs...)
}

func verifySegment(path string) error {
	s, err := index.Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Verify()
}
