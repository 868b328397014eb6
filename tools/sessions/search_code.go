package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"codesage"
	"codesage/search"
	"codesage/search/query"
	"codesage/store"
	"codesage/tools"
)

// Limits of search_code.
const (
	defaultK       = 10
	maxK           = 100
	maxQueryLength = 500  // characters
	maxSnippet     = 2000 // characters of a result
)

var searchCode = tools.Spec{
	Name: "search_code",
	Description: "Ranked full-text search in one session. Words are joined by OR; AND, OR, NOT (upper case), parentheses, " +
		"\"phrases\", content:x and file_path:x work; literal=true finds the text byte for byte instead. " +
		"Each result names its file, lines and chunk.",
	Arguments: tools.Schema{Title: "SearchCodeArgs", Fields: []tools.Field{
		{Name: "query", Type: tools.String, Required: true, Description: "What to search for", MinLength: 1, MaxLength: maxQueryLength, Advisory: true},
		sessionField(),
		{Name: "k", Type: tools.Integer, Nullable: true, Default: defaultK, Description: "Results at most", Min: tools.Limit(1), Max: tools.Limit(maxK), Advisory: true},
		{Name: "literal", Type: tools.Boolean, Default: false, Description: "Find the query as it stands, case-sensitive, without operators"},
	}},
}

func (s *set) searchCode(ctx context.Context, a tools.Arguments) (string, error) {
	text, literal := a.String("query"), a.Bool("literal")
	k, _ := a.Int("k")
	if err := checkQuery(text, k, literal); err != nil {
		return "", err
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	began := time.Now()
	texts := &textCache{set: s, session: x, texts: map[string]store.Text{}}
	var hits []search.ChunkHit
	if literal {
		hits, err = s.searchLiteral(ctx, x, strings.TrimSpace(text), k)
	} else {
		hits, err = s.searchWords(ctx, x, text, k)
	}
	if err != nil {
		return "", err
	}
	took := time.Since(began).Milliseconds()
	head := fmt.Sprintf("Found %d results for query '%s' (%dms):\n\n", len(hits), tools.OneLine(text), took)
	if len(hits) == 0 {
		return head + "No results found. Try different keywords or check session name.", nil
	}
	results, err := texts.results(ctx, hits)
	return head + results, err
}

// checkQuery checks what can be checked without the session.
func checkQuery(text string, k int, literal bool) error {
	if strings.TrimSpace(text) == "" {
		return failf(invalidParams, "Query cannot be empty")
	}
	if n := utf8.RuneCountInString(text); n > maxQueryLength {
		return failf(invalidParams, "Query too long (%d > %d characters)", n, maxQueryLength)
	}
	switch {
	case k > maxK:
		return failf(invalidParams, "k cannot exceed %d", maxK)
	case k < 1:
		return failf(invalidParams, "k must be between 1 and %d", maxK)
	case literal:
		return nil
	}
	if err := query.CheckFields(text); err != nil {
		return failf(invalidParams, "%s", err)
	}
	return nil
}

// searchWords searches by the query language.
func (s *set) searchWords(ctx context.Context, x session, text string, k int) ([]search.ChunkHit, error) {
	tree, err := query.ParseChunks(text, s.Index.ChunkFields())
	var syntax *query.SyntaxError
	if errors.As(err, &syntax) {
		return nil, failf(searchFailed, "Search failed: %s", syntax)
	}
	if err != nil {
		return nil, fmt.Errorf("parse query: %w", err)
	}
	fetch := func(n int) ([]search.ChunkHit, int, error) {
		return s.Index.SearchChunks(ctx, x.snapshot, tree, n)
	}
	if !scores(tree) {
		hits, _, err := fetch(k)
		return hits, s.searchError(x, err)
	}
	hits, err := fill(k, fetch)
	return hits, s.searchError(x, err)
}

// searchLiteral searches byte for byte.
func (s *set) searchLiteral(ctx context.Context, x session, text string, k int) ([]search.ChunkHit, error) {
	load := func(ctx context.Context, path string) (string, bool, error) {
		t, err := s.Store.File(ctx, x.snapshot, path)
		if errors.Is(err, codesage.ErrNotFound) {
			return "", false, nil
		}
		return t.Text, err == nil, err
	}
	hits, _, err := s.Index.SearchLiteral(ctx, x.snapshot, text, allChunks, load) // it looks at all in any case
	return thin(hits, k), s.searchError(x, err)
}

// searchError says which session a failed search was in.
func (s *set) searchError(x session, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("search in session %s: %w", x.Session, err)
}

// textCache holds the texts that one answer quotes.
type textCache struct {
	*set
	session session
	texts   map[string]store.Text
}

func (c *textCache) get(ctx context.Context, path string) (store.Text, error) {
	if t, ok := c.texts[path]; ok {
		return t, nil
	}
	t, err := c.Store.File(ctx, c.session.snapshot, path)
	if err != nil {
		return t, fmt.Errorf("read %s of session %s: %w", path, c.session.Session, err)
	}
	c.texts[path] = t
	return t, nil
}

// results prints hits with their texts.
func (c *textCache) results(ctx context.Context, hits []search.ChunkHit) (string, error) {
	disk := c.session.disk()
	defer disk.close()
	var b strings.Builder
	for i, h := range hits {
		t, err := c.get(ctx, h.Path)
		if err != nil {
			return "", err
		}
		if h.Start > h.End || h.End > len(t.Text) {
			return "", fmt.Errorf("chunk %d of %s: bytes %d-%d are not in the text", h.Chunk, h.Path, h.Start, h.End)
		}
		fmt.Fprintf(&b, "## Result %d (score: %.2f)\n", i+1, h.Score)
		fmt.Fprintf(&b, "**File:** %s (chunk %d, bytes %d-%d)\n", code(c.session.path(h.Path)), h.Chunk, h.Start, h.End)
		fmt.Fprintf(&b, "**Lines:** %d-%d\n", h.LineStart, h.LineEnd)
		if disk.state(t.File) != unchanged {
			b.WriteString(changedNote + "\n")
		}
		fmt.Fprintf(&b, "\n%s\n\n", fenced(t.Language, snippet(t.Text[h.Start:h.End])))
	}
	return b.String(), nil
}

// snippet is the text of a result, cut when it is too long.
func snippet(text string) string {
	text = shown(text)
	n := utf8.RuneCountInString(text)
	if n <= maxSnippet {
		return text
	}
	return fmt.Sprintf("%s...\n\n[Truncated %d chars]", search.FirstChars(text, maxSnippet), n-maxSnippet)
}
