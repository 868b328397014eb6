package local

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search/index"
	"codesage/search/query"
)

// cut cuts a text into windows of code points.
func cut(text string, size, overlap int) []codesage.Chunk {
	var at []int
	for i := range text {
		at = append(at, i)
	}
	at = append(at, len(text))
	var chunks []codesage.Chunk
	for i := 0; i < len(at)-1; i += size - overlap {
		start, end := at[i], at[min(i+size, len(at)-1)]
		line := 1 + strings.Count(text[:start], "\n")
		chunks = append(chunks, codesage.Chunk{Index: len(chunks), Start: start, End: end, LineStart: line,
			LineEnd: line + strings.Count(text[start:max(start, end-1)], "\n")})
	}
	return chunks
}

func hashOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A house is a text index and the texts that it should have.
type house struct {
	t             *testing.T
	x             *Index
	files         map[string]string
	at            codesage.Snapshot
	size, overlap int
}

// run makes a run that puts some files and deletes others.
func (h *house) run(put map[string]string, gone ...string) {
	h.t.Helper()
	w, err := h.x.BeginTexts(h.t.Context(), 1, h.at.Run, h.at.Run+1)
	if err != nil {
		h.t.Fatal(err)
	}
	for path, text := range put {
		h.files[path] = text
		if err := w.Put(h.t.Context(), path, hashOf(text), text, cut(text, h.size, h.overlap)); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, path := range gone {
		delete(h.files, path)
		if err := w.Delete(h.t.Context(), path); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := w.Commit(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.at = codesage.Snapshot{Repository: 1, Run: h.at.Run + 1}
}

func newHouse(t *testing.T, size, overlap int) *house {
	return &house{t: t, x: openTest(t, Options{}), files: map[string]string{}, at: codesage.Snapshot{Repository: 1}, size: size, overlap: overlap}
}

func (h *house) load(_ context.Context, path string) (string, bool, error) {
	text, ok := h.files[path]
	return text, ok, nil
}

// search renders hits as path#chunk score.
func (h *house) search(text string) string {
	h.t.Helper()
	q, err := query.ParseChunks(text, ChunkFields)
	if err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
	hits, total, err := h.x.SearchChunks(h.t.Context(), h.at, q, 100)
	if err != nil || total != len(hits) {
		h.t.Fatalf("%s: %d hits of %d, %v", text, len(hits), total, err)
	}
	return show(hits)
}

func (h *house) literal(text string) string {
	h.t.Helper()
	hits, total, err := h.x.SearchLiteral(h.t.Context(), h.at, text, 100, h.load)
	if err != nil || total != len(hits) {
		h.t.Fatalf("%s: %d hits of %d, %v", text, len(hits), total, err)
	}
	return show(hits)
}

func show(hits []ChunkHit) string {
	var list []string
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%s#%d %.2f", h.Path, h.Chunk, h.Score))
	}
	return strings.Join(list, ", ")
}

var authFiles = map[string]string{
	"src/auth.go": "package auth\n\n// authenticate checks a user.\nfunc authenticate(user, pass string) bool {\n\treturn verify(user, pass)\n}\n\n" +
		"func verify(user, pass string) bool {\n\treturn user != \"\" && len(pass) >= 8\n}\n",
	"src/login.go":       "package auth\n\nimport \"fmt\"\n\nfunc Login(user string) {\n\tif authenticate(user, \"x\") {\n\t\tfmt.Println(\"ok\")\n\t}\n}\n",
	"tests/auth_test.go": "package auth\n\nfunc TestAuthenticate(t *T) {\n\tgot := authenticate(\"a\", \"12345678\")\n\t_ = got\n}\n",
	"docs/guide.md":      "# Guide\n\nCall authenticate before Login.\n",
	"routes.yaml":        "routes:\n  - path: \"/users/{id}\"\n    handler: authenticate_user\n    note: read-write\n",
}

// The scores are those of the session tools' contract.
func TestSearchChunksScoresAsTheContractHasIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 512, 64)
	h.run(authFiles)
	for text, want := range map[string]string{
		"login":            "docs/guide.md#0 1.18, src/login.go#0 0.84",
		"verify login":     "src/auth.go#0 1.49, docs/guide.md#0 1.18, src/login.go#0 0.84",
		"verify AND login": "",
		"NOT user":         "docs/guide.md#0 1.00, tests/auth_test.go#0 1.00",
		"/users/{id}":      "routes.yaml#0 3.11",
		"content:verify":   "src/auth.go#0 1.49",
		"file_path:AUTH":   "src/auth.go#0 1.00, tests/auth_test.go#0 1.00",
		"zzz":              "",
		"&&":               "",
	} {
		if got := h.search(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]int{
		`fmt.Println("ok")`: 1, "FMT.println": 0, "ser, pa": 1, "{id}": 1, "file:x": 0, "authenticate": 5, "": 0, "a": 5,
	} {
		if _, n, err := h.x.SearchLiteral(t.Context(), h.at, text, 10, h.load); n != want || err != nil {
			t.Errorf("literal %s: got %d hits, %v, want %d", text, n, err, want)
		}
	}
}

func TestSearchChunksFindsIdentifierPartsLast(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 512, 64)
	h.run(map[string]string{
		"o.py": "class OvertimeService:\n    def parseHTMLResponse(self, user_id): return user_id\n",
		"x.py": "service = 1\nresponse = 2\n", "y.py": "html = 3\n",
	})
	for text, want := range map[string]string{
		"OvertimeService": "o.py", "overtimeservice": "o.py", "overtime": "o.py", "parseHTMLResponse": "o.py", "user_id": "o.py", "user id": "o.py",
		"service": "x.py o.py", `"service"`: "x.py", "service AND overtime": "", "service AND response": "x.py", "serv*": "x.py",
		"overtime NOT service": "o.py", "overtime service": "x.py o.py", "html response": "y.py x.py o.py",
	} {
		q, err := query.ParseChunks(text, ChunkFields)
		if err != nil {
			t.Fatal(err)
		}
		hits, _, err := h.x.SearchChunks(t.Context(), h.at, q, 10)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, hit := range hits {
			paths = append(paths, hit.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestSearchLiteralAcrossChunks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 10, 2)
	h.run(map[string]string{"a.txt": "0123456789ABCDEFGHIJ", "b.txt": "no digits"})
	for text, want := range map[string]string{"56": "a.txt#0", "89": "a.txt#0 a.txt#1", "6789ABC": "a.txt#0", "GHIJ": "a.txt#2", "0123456789ABCDEFGHIJ": "a.txt#0"} {
		var got []string
		for _, s := range strings.Split(h.literal(text), ", ") {
			chunk, _, _ := strings.Cut(s, " ")
			got = append(got, chunk)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %s", text, got, want)
		}
	}
}

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
	q, err := query.ParseChunks(text, ChunkFields)
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
