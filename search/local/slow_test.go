package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// A slow chunk search by the formulas of the session tools' contract.

type slowChunk struct {
	path         string
	n            int
	words, parts []string // tokens in order, "" for one that is not indexed
}

type slowIndex []slowChunk

func (h *house) slow() (s slowIndex) {
	for path, text := range h.files {
		for _, c := range cut(text, h.size, h.overlap) {
			chunk := slowChunk{path: path, n: c.Index}
			for token := range index.Tokens(text) {
				word := text[token.Start:token.End]
				if token.Start < c.Start || token.Start >= c.End {
					continue
				}
				chunk.parts = append(chunk.parts, index.PartsOf(word)...)
				if len(word) >= 40 {
					word = ""
				}
				chunk.words = append(chunk.words, index.Fold(word))
			}
			s = append(s, chunk)
		}
	}
	slices.SortFunc(s, func(a, b slowChunk) int {
		if a.path != b.path {
			return strings.Compare(a.path, b.path)
		}
		return a.n - b.n
	})
	return s
}

func (c slowChunk) field(n int) []string {
	if n == fChunkParts {
		return c.parts
	}
	return c.words
}

func count(words []string, ok func(string) bool) (n float64) {
	for _, w := range words {
		if w != "" && ok(w) {
			n++
		}
	}
	return n
}

// bm25 scores tf occurrences in a chunk of something with an idf.
func (s slowIndex) bm25(c slowChunk, field int, tf, idf, weight float64) (float64, bool) {
	if tf == 0 {
		return 0, false
	}
	indexed := func(string) bool { return true }
	total := 0.
	for _, o := range s {
		total += count(o.field(field), indexed)
	}
	if weight == 0 {
		weight = 1
	}
	dl, avg := count(c.field(field), indexed), total/float64(len(s))
	return weight * idf * 2.2 * tf / (tf + 1.2*(.25+.75*dl/avg)), true
}

func (s slowIndex) idf(field int, ok func(string) bool) float64 {
	n := 0.
	for _, c := range s {
		if count(c.field(field), ok) > 0 {
			n++
		}
	}
	return math.Log(1 + (float64(len(s))-n+.5)/(n+.5))
}

// eval returns the score of a chunk, and whether it matches.
func (s slowIndex) eval(q query.Query, c slowChunk) (score float64, ok bool) {
	switch q := q.(type) {
	case query.All:
		return 0, true
	case query.Term:
		is := func(w string) bool { return w == q.Text }
		return s.bm25(c, q.Field, count(c.field(q.Field), is), s.idf(q.Field, is), q.Weight)
	case query.Prefix:
		is := func(w string) bool { return strings.HasPrefix(w, q.Text) }
		return s.bm25(c, q.Field, count(c.field(q.Field), is), s.idf(q.Field, is), q.Weight)
	case query.Phrase:
		tf, idf := 0., 0.
		for _, w := range q.Words {
			if w != "" {
				idf += s.idf(q.Field, func(x string) bool { return x == w })
			}
		}
		for i := range c.words {
			fits := i+len(q.Words) <= len(c.words)
			for j, w := range q.Words {
				fits = fits && (w == "" || c.words[i+j] == w)
			}
			if fits {
				tf++
			}
		}
		return s.bm25(c, q.Field, tf, idf, q.Weight)
	case query.Const:
		_, ok := s.eval(q.Q, c)
		return q.Score, ok
	case query.PathMatch:
		return 0, strings.Contains(strings.ToLower(c.path), strings.ToLower(string(q)))
	case query.Not:
		score, ok := s.eval(q.Q, c)
		_, isOut := s.eval(q.Except, c)
		return score, ok && !isOut
	case query.And:
		for _, m := range q {
			more, ok := s.eval(m, c)
			if !ok {
				return 0, false
			}
			score += more
		}
		return score, len(q) > 0
	case query.Or:
		for _, m := range q {
			if more, isIn := s.eval(m, c); isIn {
				score, ok = score+more, true
			}
		}
	}
	return score, ok
}

func (c corpus) language(depth int) string {
	if depth == 0 || c.rnd.IntN(3) == 0 {
		switch c.rnd.IntN(8) {
		case 0:
			return `"` + c.word() + " " + c.word() + `"`
		case 1:
			return c.identifier()
		case 2:
			return "file_path:" + c.word()
		case 3:
			return c.word() + "*"
		case 4:
			return c.word() + "^2"
		}
		return c.word()
	}
	a, b := c.language(depth-1), c.language(depth-1)
	return []string{a + " " + b, a + " AND " + b, a + " OR " + b, a + " NOT " + b, "(" + a + ") AND NOT (" + b + ")", "+" + c.word() + " " + b,
		"NOT (" + a + ")", "(" + a + " OR NOT " + c.word() + ") AND " + b}[c.rnd.IntN(8)]
}

func TestSearchChunksEqualsModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		c := corpus{rand.New(rand.NewPCG(seed, 2))}
		h := newHouse(t, 120, 15)
		for range 4 {
			put := map[string]string{}
			for range 6 {
				put[fmt.Sprintf("%s/%s%d.go", c.word(), c.word(), c.rnd.IntN(3))] = c.text(90) + "\n" + strings.Repeat("x", 30+c.rnd.IntN(20)) + " é " + c.text(40)
			}
			var gone []string
			for path := range h.files {
				if put[path] == "" && len(gone) < 2 {
					gone = append(gone, path)
				}
			}
			h.run(put, gone...)
		}
		s := h.slow()
		for range 100 {
			compareChunks(t, h, s, c.language(3))
		}
	}
}

func compareChunks(t *testing.T, h *house, s slowIndex, text string) {
	t.Helper()
	q, err := query.ParseChunks(text, (*Index)(nil).ChunkFields())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	hits, total, err := h.x.SearchChunks(t.Context(), h.at, q, len(s)+1)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	type key struct {
		path  string
		chunk int
	}
	want := map[key]float64{}
	for _, c := range s {
		if score, ok := s.eval(q, c); ok {
			want[key{c.path, c.n}] = score
		}
	}
	if total != len(want) || len(hits) != len(want) {
		t.Fatalf("%s = %s: got %d hits, total %d, want %d", text, q, len(hits), total, len(want))
	}
	for i, hit := range hits {
		score, ok := want[key{hit.Path, hit.Chunk}]
		if !ok || math.Abs(score-hit.Score) > 1e-5*max(1, score) {
			t.Fatalf("%s = %s: %s#%d scores %f, want %f", text, q, hit.Path, hit.Chunk, hit.Score, score)
		}
		if i == 0 {
			continue
		}
		before := hits[i-1]
		if before.Score < hit.Score || before.Score == hit.Score &&
			(before.Path > hit.Path || before.Path == hit.Path && before.Chunk >= hit.Chunk) {
			t.Fatalf("%s: %s#%d stands before %s#%d", text, before.Path, before.Chunk, hit.Path, hit.Chunk)
		}
	}
}
