package local

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"codesage"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
)

// SearchLiteral returns the k best chunks of a snapshot that contain text byte
// for byte, and how many do. Their score is the BM25 of the text as if it were
// one term. A place where the text crosses the end of its chunk counts for the
// first chunk that it begins in, unless another chunk has it whole. load returns
// the text of a file of the snapshot; ok is false when it has gone, which leaves
// the file out.
func (x *Index) SearchLiteral(ctx context.Context, s codesage.Snapshot, text string, k int,
	load func(ctx context.Context, path string) (body string, ok bool, err error)) (hits []search.ChunkHit, total int, err error) {
	if text == "" {
		return nil, 0, nil
	}
	o, err := x.acquire(ctx, s, Texts, x.o.RebuildWait)
	if err != nil {
		return nil, 0, err
	}
	defer o.release()
	files, err := o.candidateChunks(ctx, text)
	if err != nil {
		return nil, 0, x.answer(ctx, err, o)
	}
	var found []literalChunk
	for _, f := range files {
		body, ok, err := load(ctx, f[0].Path)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			found = append(found, countLiteral(f, body, text)...)
		}
	}
	model := index.DefaultBM25
	idf := model.IDF(o.ix.Docs(), len(found))
	for _, c := range found {
		c.Score = model.Score(idf, float64(c.count), float64(c.length), o.ix.AvgLen(fChunk))
		hits = append(hits, c.ChunkHit)
	}
	slices.SortFunc(hits, func(a, b search.ChunkHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path), cmp.Compare(a.Chunk, b.Chunk))
	})
	return hits[:min(max(k, 0), len(hits))], len(hits), nil
}

// A literalChunk is a chunk with how often it has a text and how long it is.
type literalChunk struct {
	search.ChunkHit
	count, length int
}

// candidateChunks returns the chunks of each file that may contain a text.
func (o *opened) candidateChunks(ctx context.Context, text string) ([][]literalChunk, error) {
	paths := map[string]bool{}
	err := o.ix.Candidates(ctx, index.Literal(text), func(f *index.FileMatch) error {
		paths[f.Path()] = true
		return nil
	})
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	byPath := map[string][]literalChunk{}
	accept := query.PathFunc{Name: "candidates", Accept: func(path string) bool { return paths[path] }}
	err = o.ix.Each(ctx, accept, index.Options{}, func(m *index.Match) error {
		start, end := m.Range()
		path := m.Path()
		byPath[path] = append(byPath[path], literalChunk{length: m.Len(fChunk), ChunkHit: search.ChunkHit{Path: path, Chunk: int(m.Attr(aChunk)),
			Start: int(start), End: int(end), LineStart: int(m.Attr(aLineStart)), LineEnd: int(m.Attr(aLineEnd))}})
		return nil
	})
	var files [][]literalChunk
	for _, chunks := range byPath {
		slices.SortFunc(chunks, func(a, b literalChunk) int { return cmp.Compare(a.Start, b.Start) })
		files = append(files, chunks)
	}
	slices.SortFunc(files, func(a, b []literalChunk) int { return strings.Compare(a[0].Path, b[0].Path) })
	return files, err
}

// countLiteral returns the chunks of a file, which are in order, that have a
// text. Occurrences don't overlap each other.
func countLiteral(chunks []literalChunk, body, text string) []literalChunk {
	for i := range chunks {
		if c := &chunks[i]; c.End <= len(body) {
			c.count = strings.Count(body[c.Start:c.End], text)
		}
	}
	for at := 0; ; {
		next := strings.Index(body[at:], text)
		if next < 0 {
			break
		}
		start, end := at+next, at+next+len(text)
		first := sort.Search(len(chunks), func(i int) bool { return chunks[i].End > start })
		isWhole := false
		for i := first; i < len(chunks) && chunks[i].Start <= start && !isWhole; i++ {
			isWhole = end <= chunks[i].End
		}
		if !isWhole && first < len(chunks) && chunks[first].Start <= start {
			chunks[first].count++
		}
		at = end
	}
	return slices.DeleteFunc(chunks, func(c literalChunk) bool { return c.count == 0 })
}
