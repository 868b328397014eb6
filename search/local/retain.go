package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/trace"
)

// Retain implements search.Engine, for entities and texts alike. What a writer of
// a process that stands still has made is removed after that one has ended.
// Searches that are running finish. See index.Sweep for why nothing that is in
// use is removed: what a run that is kept is read from its latest manifest names,
// and the base of a run that is going on is kept too.
func (x *Index) Retain(ctx context.Context, keep search.Keep) error {
	if x.o.ReadOnly {
		return errors.New("the search index is open for reading only")
	}
	sweeps, err := x.look(ctx)
	if err != nil {
		return err
	}
	runs, err := keep(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for repo, parts := range sweeps {
		isLive := false
		for _, p := range parts {
			if err := ctx.Err(); err != nil {
				return err
			}
			errs = append(errs, x.sweep(ctx, p, runs[repo]))
			isLive = isLive || p.IsLive()
		}
		if _, isKnown := runs[repo]; !isKnown && !isLive {
			errs = append(errs, os.RemoveAll(x.repositoryDir(repo))) // closeIdle forgets it
		}
	}
	return errors.Join(errs...)
}

// A partSweep is a sweep of one part of a repository.
type partSweep struct {
	*index.Sweep
	f *folder
}

// look notes what is in the folders of all repositories.
func (x *Index) look(ctx context.Context) (map[codesage.RepositoryID][]partSweep, error) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return nil, unavailable(err)
	}
	sweeps := map[codesage.RepositoryID][]partSweep{}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := strconv.ParseInt(e.Name(), 10, 64)
		if err != nil || !e.IsDir() {
			continue
		}
		repo := codesage.RepositoryID(id)
		sweeps[repo] = nil
		for _, part := range []Part{Entities, Texts} {
			f, err := x.folder(repo, part)
			if err != nil {
				return nil, err
			}
			s, err := index.Look(f.dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, unavailable(err)
			}
			sweeps[repo] = append(sweeps[repo], partSweep{s, f})
		}
	}
	return sweeps, nil
}

// sweep removes from a part what belongs to none of the runs.
func (x *Index) sweep(ctx context.Context, s partSweep, runs []codesage.RunID) error {
	s.f.forgetAll(runs...)
	attempts, err := s.f.attempts()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has removed it
	}
	if err != nil {
		return err
	}
	var keep []string
	for _, run := range runs {
		if a, ok := attempts[run]; ok {
			keep = append(keep, a.manifest())
		}
	}
	removed, err := s.Remove(keep)
	x.distrustFiles(s.f, removed)
	if len(removed) > 0 {
		trace.Log(ctx, x.o.Log).Debug("swept search index", "dir", s.f.dir, "removed", len(removed))
	}
	return err
}

// Size is the bytes on disk of what a snapshot is read from, in both parts. A
// part that it does not have, or that can't be read, counts nothing.
func (x *Index) Size(_ context.Context, s codesage.Snapshot) (bytes int64) {
	for _, part := range []Part{Entities, Texts} {
		f, err := x.folder(s.Repository, part)
		if err != nil {
			return 0
		}
		name, err := f.latest(s.Run)
		if err != nil {
			continue
		}
		m, err := index.ReadManifest(f.dir, name)
		if err != nil {
			continue
		}
		for _, name := range append(segmentsOf(m), name) {
			if info, err := os.Stat(f.path(name)); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes
}
