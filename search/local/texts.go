package local

import (
	"context"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// BeginTexts implements search.TextIndex. See Begin.
func (x *Index) BeginTexts(ctx context.Context, repo codesage.RepositoryID, base codesage.RunID, run codesage.Run) (search.TextWriter, error) {
	d, err := x.begin(ctx, repo, Texts, base, run)
	if err != nil {
		return nil, err
	}
	return &textWriter{d}, nil
}

// textWriter implements search.TextWriter.
type textWriter struct{ d *draft }

func (w *textWriter) Put(ctx context.Context, path, hash, text string, chunks []codesage.Chunk) error {
	if err := checkPath(path); err != nil {
		return err
	}
	f, err := textFile(path, hash, text, chunks)
	if err != nil {
		return err
	}
	return w.d.put(ctx, f)
}

func (w *textWriter) Delete(_ context.Context, path string) error { return w.d.remove(path) }
func (w *textWriter) Commit(ctx context.Context) error            { return w.d.commit(ctx) }
func (w *textWriter) Abort()                                      { w.d.abort() }

// Candidates returns the paths of a snapshot whose text may match what q was
// made from; a file that is left out cannot match. all reports that q says
// nothing, so that every file is a candidate and paths is nil.
func (x *Index) Candidates(ctx context.Context, s codesage.Snapshot, q index.TriQuery) (paths map[string]struct{}, all bool, err error) {
	if q.Empty() {
		return nil, true, nil
	}
	o, err := x.acquire(ctx, s, Texts, x.o.RebuildWait)
	if err != nil {
		return nil, false, err
	}
	defer o.release()
	paths = map[string]struct{}{}
	err = o.ix.Candidates(ctx, q, func(f *index.FileMatch) error {
		paths[f.Path()] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, false, x.answer(ctx, err, o)
	}
	return paths, false, nil
}

// SearchChunks returns the k best chunks of a snapshot, and how many match. The
// tree is one that ParseChunks made for ChunkFields. Order: score, then path,
// then chunk.
func (x *Index) SearchChunks(ctx context.Context, s codesage.Snapshot, q query.Query, k int) (hits []search.ChunkHit, total int, err error) {
	o, err := x.acquire(ctx, s, Texts, x.o.RebuildWait)
	if err != nil {
		return nil, 0, err
	}
	defer o.release()
	opt := index.Options{K: k, MaxNodes: maxTree, MaxTerms: 1 << 20}
	if total, err = o.ix.Count(ctx, q, opt); err != nil {
		return nil, 0, x.answer(ctx, err, o)
	}
	found, err := o.ix.Search(ctx, q, opt)
	if err != nil {
		return nil, 0, x.answer(ctx, err, o)
	}
	for _, h := range found {
		hits = append(hits, chunkHit(h))
	}
	return hits, total, nil
}

func chunkHit(h index.Hit) search.ChunkHit {
	return search.ChunkHit{Path: h.Path, Chunk: int(h.Attrs[aChunk]), Start: int(h.Start), End: int(h.End),
		LineStart: int(h.Attrs[aLineStart]), LineEnd: int(h.Attrs[aLineEnd]), Score: h.Score}
}
