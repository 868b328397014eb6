package pipeline

import (
	"context"
	"fmt"

	"codesage"
	"codesage/pipeline/chunk"
	"codesage/search"
	"codesage/store"
)

// RebuildTexts writes the text index of a published snapshot anew from the
// store. KindNotFound when no reader can be sent to that snapshot any more.
func (p *Pipeline) RebuildTexts(ctx context.Context, s codesage.Snapshot) error {
	repo, err := p.snapshotRepository(ctx, s)
	if err != nil {
		return err
	}
	w, err := p.Texts.BeginTexts(ctx, s.Repository, 0, rebuilding(s))
	if err != nil {
		return fmt.Errorf("begin texts: %w", err)
	}
	defer w.Abort()
	size, overlap := repo.Options.Window()
	err = p.Store.Texts(ctx, s, "", nil, func(t store.Text) error {
		return w.Put(ctx, t.Path, t.Hash, t.Text, chunk.Cut(t.Text, size, overlap))
	})
	if err != nil {
		return fmt.Errorf("index texts of run %d: %w", s.Run, err)
	}
	return w.Commit(ctx)
}

// RebuildRecords writes the engine's records of a published snapshot anew from
// the store. KindNotFound when no reader can be sent to that snapshot any more.
func (p *Pipeline) RebuildRecords(ctx context.Context, s codesage.Snapshot) error {
	repo, err := p.snapshotRepository(ctx, s)
	if err != nil {
		return err
	}
	w, err := p.Engine.Begin(ctx, repo, 0, rebuilding(s))
	if err != nil {
		return fmt.Errorf("begin records: %w", err)
	}
	defer w.Abort()
	if err := p.putStored(ctx, repo, s, w); err != nil {
		return err
	}
	return w.Commit(ctx)
}

// rebuilding is the attempt at a snapshot's run that writes its index anew.
func rebuilding(s codesage.Snapshot) codesage.Run {
	return codesage.Run{ID: s.Run, Repository: s.Repository, Attempt: search.Rebuilt}
}

// putStored gives a writer the records of all entities that the store has of a
// snapshot.
func (p *Pipeline) putStored(ctx context.Context, repo codesage.Repository, s codesage.Snapshot, w search.Writer) error {
	want := func(f codesage.File) bool { return f.Entities > 0 }
	err := p.Store.Texts(ctx, s, "", want, func(t store.Text) error {
		entities, err := p.Store.FileEntities(ctx, s, t.Path)
		if err != nil {
			return err
		}
		return w.Put(ctx, t.Path, 0, search.Records(repo, s.Run, t.File, t.Text, entities))
	})
	if err != nil {
		return fmt.Errorf("index records of run %d: %w", s.Run, err)
	}
	return nil
}

// snapshotRepository returns the repository of a snapshot that readers use.
func (p *Pipeline) snapshotRepository(ctx context.Context, s codesage.Snapshot) (codesage.Repository, error) {
	repo, err := p.Store.Repository(ctx, s.Repository)
	if err != nil {
		return repo, err
	}
	if repo.TextRun != s.Run && (repo.Published == nil || repo.Published.ID != s.Run) {
		return repo, codesage.Errorf(codesage.KindNotFound, "run %d is no longer published", s.Run)
	}
	return repo, nil
}
