package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"codesage"
	"codesage/search/index"
)

// Retain implements search.Engine, for entities and texts alike. A folder that
// a writer is at work in is swept when the writer ends, or, if it belongs to
// another process, by the next Retain. Searches that are running finish.
func (x *Index) Retain(ctx context.Context, keep map[codesage.RepositoryID][]codesage.RunID) error {
	if x.o.ReadOnly {
		return errors.New("the search index is open for reading only")
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return unavailable(err)
	}
	var errs []error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, err := strconv.ParseInt(e.Name(), 10, 64)
		if err != nil || !e.IsDir() {
			continue
		}
		repo := codesage.RepositoryID(id)
		runs, isKnown := keep[repo]
		for _, part := range []Part{Entities, Texts} {
			f, err := x.folder(repo, part)
			if err != nil {
				return err
			}
			errs = append(errs, x.retain(f, runs))
		}
		if !isKnown {
			errs = append(errs, x.removeEmpty(repo))
		}
	}
	return errors.Join(errs...)
}

// Size is the bytes on disk of what a snapshot is read from, in both parts. A
// part that it does not have, or that can't be read, counts nothing.
func (x *Index) Size(_ context.Context, s codesage.Snapshot) (bytes int64) {
	for _, part := range []Part{Entities, Texts} {
		f, err := x.folder(s.Repository, part)
		if err != nil {
			return 0
		}
		name := manifestName(s.Run)
		m, err := index.ReadManifest(f.dir, name)
		if err != nil {
			continue
		}
		names := []string{name}
		for _, segment := range m.Segments {
			names = append(names, segment.Name)
		}
		for _, name := range names {
			if info, err := os.Stat(f.path(name)); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes
}

// retain sweeps a folder now, or when its writer ends.
func (x *Index) retain(f *folder, runs []codesage.RunID) error {
	if _, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, ok := f.tryLock()
	if !ok {
		f.mu.Lock()
		f.sweep, f.isDue = slices.Clone(runs), true
		f.mu.Unlock()
		return nil
	}
	defer f.unlock(lock)
	return x.sweepFolder(f, runs)
}

// sweepDue makes the sweep that waited for a writer of run; the caller has the
// lock.
func (x *Index) sweepDue(f *folder, run codesage.RunID) {
	f.mu.Lock()
	runs, isDue := append(f.sweep, run), f.isDue
	f.sweep, f.isDue = nil, false
	f.mu.Unlock()
	if !isDue {
		return
	}
	if err := x.sweepFolder(f, runs); err != nil {
		x.o.Log.Warn("sweep search index", "dir", f.dir, "err", err)
	}
}

// sweepFolder removes what belongs to none of the runs; the caller has the lock.
func (x *Index) sweepFolder(f *folder, runs []codesage.RunID) error {
	f.forgetAll(runs...)
	readable, err := f.manifests()
	if err != nil {
		return err
	}
	var keep []string
	for _, run := range readable {
		if slices.Contains(runs, run) {
			keep = append(keep, manifestName(run))
		}
	}
	removed, err := index.Sweep(f.dir, keep)
	x.distrustFiles(f, removed)
	if len(removed) > 0 {
		x.o.Log.Debug("swept search index", "dir", f.dir, "removed", len(removed))
	}
	return err
}

// removeEmpty removes the folders of a repository that have nothing but locks
// in them.
func (x *Index) removeEmpty(repo codesage.RepositoryID) error {
	dir := filepath.Join(x.dir, strconv.FormatInt(int64(repo), 10))
	for _, part := range []Part{Entities, Texts} {
		f, err := x.folder(repo, part)
		if err != nil {
			return err
		}
		lock, ok := f.tryLock()
		if !ok {
			if _, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil
		}
		err = os.RemoveAll(f.dir)
		f.unlock(lock)
		if err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, part := range []Part{Entities, Texts} {
		delete(x.flights, folderKey{repo, part})
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
