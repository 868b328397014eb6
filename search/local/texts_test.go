package local

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
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
	w, err := h.x.BeginTexts(h.t.Context(), 1, h.at.Run, codesage.Run{ID: h.at.Run + 1})
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
	q, err := query.ParseChunks(text, (*Index)(nil).ChunkFields())
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

func show(hits []search.ChunkHit) string {
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
		q, err := query.ParseChunks(text, (*Index)(nil).ChunkFields())
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
