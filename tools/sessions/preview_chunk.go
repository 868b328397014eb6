package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codesage"
	"codesage/search/query"
	"codesage/tools"
)

// Limits of preview_chunk.
const (
	defaultAround = 10
	maxAround     = 100
)

var previewChunk = tools.Spec{
	Name:        "preview_chunk",
	Description: "Show a chunk that search_code found with the lines around it, numbered, as it was indexed.",
	Arguments: tools.Schema{Title: "PreviewChunkArgs", Fields: []tools.Field{
		sessionField(),
		filePathField(),
		{Name: "chunk_index", Type: tools.Integer, Required: true, Description: "Number of the chunk in its file, from 0", Min: tools.Limit(0)},
		{Name: "context_lines", Type: tools.Integer, Nullable: true, Default: defaultAround, Description: "Lines to show before and after",
			Min: tools.Limit(0), Max: tools.Limit(maxAround), Advisory: true},
	}},
}

func (s *set) previewChunk(ctx context.Context, a tools.Arguments) (string, error) {
	path := a.String("file_path")
	n, _ := a.Int("chunk_index")
	around, _ := a.Int("context_lines")
	switch {
	case strings.TrimSpace(path) == "":
		return "", failf(invalidParams, "file_path cannot be empty")
	case around > maxAround:
		return "", failf(invalidParams, "context_lines cannot exceed %d", maxAround)
	}
	if err := atLeast("context_lines", around, 0); err != nil {
		return "", err
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	notFound := failf(invalidRequest, "Chunk not found: file '%s', chunk index %d. File may not be indexed or chunk index invalid.", echo(path), n)
	f, err := s.file(ctx, x, path)
	if errors.Is(err, errNotIndexed) {
		return "", notFound
	}
	if err != nil {
		return "", err
	}
	chunks, err := s.chunks(ctx, x, f.Path)
	if err != nil {
		return "", err
	}
	if n >= len(chunks) {
		return "", notFound
	}
	d := x.disk()
	defer d.close()
	state := d.state(f.File)
	if state == gone {
		return "", failf(invalidRequest, "File not found: %s. May have been deleted or moved since indexing. Try re-indexing the session.", x.path(f.Path))
	}
	if chunks[n].End > len(f.Text) {
		return "", failf(invalidRequest, "File changed since indexing: %s. Re-index the session.", x.path(f.Path))
	}
	r := reading{session: x, Text: f, note: noteOf(state)}
	return r.preview(chunks[n], len(chunks), around), nil
}

// chunks returns the chunks of a file in order.
func (s *set) chunks(ctx context.Context, x session, path string) ([]codesage.Chunk, error) {
	this := query.PathFunc{Name: "file", Accept: func(p string) bool { return p == path }}
	hits, _, err := s.Index.SearchChunks(ctx, x.snapshot, this, allChunks)
	if err != nil {
		return nil, s.searchError(x, err)
	}
	chunks := make([]codesage.Chunk, len(hits))
	for i, h := range hits {
		chunks[i] = codesage.Chunk{Index: h.Chunk, Start: h.Start, End: h.End, LineStart: h.LineStart, LineEnd: h.LineEnd}
	}
	return chunks, nil
}

// preview shows a chunk of the file with the lines around it.
func (r reading) preview(c codesage.Chunk, of, around int) string {
	x := codesage.NewLineIndex(r.Text.Text)
	var b strings.Builder
	fmt.Fprintf(&b, "**File:** %s\n**Chunk:** %d of %d (bytes %d-%d)\n", code(r.session.path(r.Path)), c.Index, of, c.Start, c.End)
	fmt.Fprintf(&b, "**Context:** %d lines before/after\n", around)
	fmt.Fprintf(&b, "**Chunk Lines:** %d-%d (of %d total)\n%s\n", c.LineStart, c.LineEnd, x.Lines(), r.note)
	var lines strings.Builder
	for n := max(1, c.LineStart-around); n <= min(x.Lines(), c.LineEnd+around); n++ {
		lines.WriteString(numberedLine(n, x.Text(n)))
		if n == c.LineStart {
			lines.WriteString("  <-- chunk starts here")
		}
		if n == c.LineEnd {
			lines.WriteString("  <-- chunk ends here")
		}
		lines.WriteString("\n")
	}
	b.WriteString(fenced(r.Language, lines.String()))
	return b.String()
}
