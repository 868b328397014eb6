package sessions_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"codesage/pipeline/chunk"
	"codesage/search/query"
)

// The numbers are those of the contract's cases.

const indexedFX = "Indexing complete!\n\n**Session:** fx\n**Files indexed:** 5\n**Chunks created:** 5\n**Duration:** <s>s\n\n" +
	"You can now search your code with search_code."

func TestCase1And2IndexRepositoryAsksForForce(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	a := args{"path": root, "session": "fx"}
	like(t, h.call("index_repository", a), indexedFX)
	_, f := h.try(t.Context(), "index_repository", a)
	if f == nil || f.code != -32602 {
		t.Fatalf("got %v, want a refusal", f)
	}
	like(t, f.message, "Session 'fx' already exists.\n- Last indexed: <minute> (just now)\n- Files indexed: 5\n"+
		"- Schema version: v3 (current)\nUse force=true to re-index, or use existing session for search.")
	a["force"] = true
	like(t, h.call("index_repository", a), indexedFX)
}

func TestCase3To6IndexRepositoryRefuses(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	for _, tc := range []struct {
		change args
		want   string
	}{
		{args{"path": "src"}, "Path must be absolute"},
		{args{"path": root + "/nope"}, "Path does not exist: " + root + "/nope"},
		{args{"path": root + "/routes.yaml"}, "Path must be a directory"},
		{args{"session": "bad name!"}, "Session must contain only alphanumeric, hyphen, underscore"},
		{args{"session": strings.Repeat("a", 65)}, "Session must be 1-64 characters"},
		{args{"session": ""}, "Session must be 1-64 characters"},
		{args{"session": "-x"}, "Session must start with alphanumeric character"},
		{args{"session": "my-app-v1.0"}, "Session must contain only alphanumeric, hyphen, underscore"},
		{args{"chunk_size": 99}, "Chunk size must be between 100 and 2000 characters"},
		{args{"chunk_size": 2001}, "Chunk size must be between 100 and 2000 characters"},
		{args{"overlap": 501}, "Overlap must not exceed 500 characters"},
		{args{"chunk_size": 100, "overlap": 100}, "overlap (100) must be less than chunk_size (100)"},
		{args{"include_patterns": []string{"[x"}}, "Configuration error: Invalid include pattern '[x': Pattern syntax error near position 0: invalid range pattern"},
		{args{"exclude_patterns": []string{"a**"}}, "Configuration error: Invalid exclude pattern 'a**': ..."},
		{args{"max_size_kb": 5}, "Invalid params: max_size_kb: Extra inputs are not permitted"},
		{args{"force": "maybe"}, "Invalid params: force: Input should be a valid boolean, unable to interpret input"},
	} {
		a := args{"path": root, "session": "fx"}
		for k, v := range tc.change {
			a[k] = v
		}
		h.refused(-32602, tc.want, "index_repository", a)
	}
	h.refused(-32602, "missing field `path`", "index_repository", args{})
	if got := h.call("list_sessions", nil); !strings.HasPrefix(got, "No sessions available") {
		t.Errorf("a refused call made a session: %s", got)
	}
}

func TestCase7ChunksAreWindowsOfCharacters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text          string
		size, overlap int
		want          string
	}{
		{"0123456789ABCDEFGHIJ", 10, 2, "0:0-10 1:8-18 2:16-20"},
		{"0123456789", 10, 2, "0:0-10 1:8-10"},
		{"0123456789", 10, 0, "0:0-10"},
		{"", 10, 2, ""},
		{"a世b😀c界d", 4, 1, "0:0-9 1:5-14 2:13-14"},
	} {
		var got []string
		for _, c := range chunk.Cut(tc.text, tc.size, tc.overlap) {
			got = append(got, fmt.Sprintf("%d:%d-%d", c.Index, c.Start, c.End))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q %d/%d: got %v, want %s", tc.text, tc.size, tc.overlap, got, tc.want)
		}
	}
}

var resultHead = regexp.MustCompile("(?m)^## Result \\d+ \\(score: ([0-9.]+)\\)\n\\*\\*File:\\*\\* `([^`]+)`")

// hits returns the relative paths and the scores of a search's results.
func hits(t *testing.T, root, text string) (paths []string, scores []float64) {
	t.Helper()
	for _, m := range resultHead.FindAllStringSubmatch(text, -1) {
		score, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.TrimPrefix(m[2], root+"/"))
		scores = append(scores, score)
	}
	return paths, scores
}

func TestCase9To20SearchRanks(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	for _, tc := range []struct {
		query   string
		literal bool
		want    string // "path score", or a path alone
	}{
		{"login", false, "docs/guide.md 1.18, src/login.go 0.84"},
		{"verify login", false, "src/auth.go 1.49, docs/guide.md 1.18, src/login.go 0.84"},
		{"verify AND login", false, ""},
		{"NOT user", false, "docs/guide.md 1.00, tests/auth_test.go 1.00"},
		{"/users/{id}", false, "routes.yaml 3.11"},
		{"content:verify", false, "src/auth.go"},
		{"file_path:auth", false, "src/auth.go 1.00, tests/auth_test.go 1.00"},
		{`fmt.Println("ok")`, true, "src/login.go"},
		{"FMT.println", true, ""},
		{"ser, pa", true, "src/auth.go"},
		{"{id}", true, "routes.yaml"},
		{"file:x", true, ""},
	} {
		text := h.call("search_code", args{"query": tc.query, "session": "fx", "literal": tc.literal})
		paths, scores := hits(t, root, text)
		want := strings.Split(tc.want, ", ")
		if tc.want == "" {
			want = nil
			like(t, text, "Found 0 results for query '"+tc.query+"' (<ms>ms):\n\nNo results found. Try different keywords or check session name.")
		}
		if !strings.HasPrefix(text, fmt.Sprintf("Found %d results for query '%s' (", len(want), tc.query)) {
			t.Errorf("%s: first line of %s", tc.query, text)
		}
		if len(paths) != len(want) {
			t.Errorf("%s: got %v, want %v", tc.query, paths, want)
			continue
		}
		for i, w := range want {
			path, score, scored := strings.Cut(w, " ")
			if wantScore, _ := strconv.ParseFloat(score, 64); paths[i] != path || scored && math.Abs(scores[i]-wantScore) > 0.05*wantScore {
				t.Errorf("%s: result %d = %s %.2f, want %s", tc.query, i+1, paths[i], scores[i], w)
			}
		}
	}
}

func TestCase9ResultsHaveTheContractsForm(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	like(t, h.call("search_code", args{"query": "login", "session": "fx"}), "Found 2 results for query 'login' (<ms>ms):\n\n"+
		"## Result 1 (score: 1.18)\n**File:** `"+root+"/docs/guide.md` (chunk 0, bytes 0-41)\n**Lines:** 1-3\n\n"+
		"```markdown\n# Guide\n\nCall authenticate before Login.\n```\n\n"+
		"## Result 2 (score: 0.84)\n**File:** `"+root+"/src/login.go` (chunk 0, bytes 0-109)\n**Lines:** 1-9\n\n"+
		"```go\npackage auth\n\nimport \"fmt\"\n\nfunc Login(user string) {\n\tif authenticate(user, \"x\") {\n\t\tfmt.Println(\"ok\")\n\t}\n}\n```")
}

func TestCase15PreprocessIsDocumented(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/users/{id}/roles/{role}": `"/users/\{id\}/roles/\{role\}"`, "/users/{id}": `"/users/\{id\}"`,
		"{id}": `\{id\}`, "  hello  ": "hello", "pkg:scope:name": `"pkg:scope:name"`,
	} {
		if got := query.Preprocess(in); got != want {
			t.Errorf("Preprocess(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCase16And21SearchRefuses(t *testing.T) {
	t.Parallel()
	h, _ := indexed(t)
	details := func(field, value, hint string) string {
		return "Invalid query: Unknown field '" + field + "'.\nValid fields: content, file_path\n" + hint +
			"Details: Use 'file_path:" + value + "' for path matching, or search content directly."
	}
	for _, tc := range []struct {
		a    args
		code int
		want string
	}{
		{args{"query": "file:auth.go"}, -32602, details("file", "auth.go", "Hint: Did you mean 'file_path'?\n")},
		{args{"query": "xyz:foo"}, -32602, details("xyz", "foo", "")},
		{args{"query": "code:foo"}, -32602, details("code", "foo", "Hint: Did you mean 'content'?\n")},
		{args{"query": "   "}, -32602, "Query cannot be empty"},
		{args{"query": "x", "k": 101}, -32602, "k cannot exceed 100"},
		{args{"query": "x", "k": 0}, -32602, "k must be between 1 and 100"},
		{args{"query": strings.Repeat("x", 501)}, -32602, "Query too long (501 > 500 characters)"},
		{args{"query": "x", "session": "nope"}, -32001, "Session not found: nope"},
		{args{"query": "x", "session": "../x"}, -32602, "Invalid params: session: ..."},
		{args{"query": `"open`}, -32004, "Search failed: Syntax Error: ..."},
		{args{"query": "foo AND"}, -32004, "Search failed: ..."},
		{args{"query": "x", "limit": 3}, -32602, "Invalid params: limit: Extra inputs are not permitted"},
		{args{"session": "fx"}, -32602, "missing field `query`"},
	} {
		if tc.a["session"] == nil {
			tc.a["session"] = "fx"
		}
		h.refused(tc.code, tc.want, "search_code", tc.a)
	}
}

func TestCase23ListSessions(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	if got := h.call("list_sessions", nil); !strings.HasPrefix(got, "No sessions available") {
		t.Errorf("got %q", got)
	}
	for _, id := range []string{"zz", "fx", "broken"} {
		h.call("index_repository", args{"path": root, "session": id})
	}
	h.settle()
	broken, err := h.store.RepositoryBySession(t.Context(), "broken")
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(h.indexDir, fmt.Sprint(broken.ID), "texts", "run-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("manifests %v, %v", manifests, err)
	}
	for _, m := range manifests {
		if err := os.WriteFile(m, []byte("damage"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h.reopen()
	entry := "## %s\n- **Files:** 5\n- **Chunks:** 5\n- **Size:** <size>\n- **Schema:** v3 (current)\n- **Last indexed:** <minute> (just now)\n- **Created:** <iso>\n\n"
	like(t, h.call("list_sessions", nil)+"\n", "Available sessions (2):\n\n"+fmt.Sprintf(entry, "fx")+fmt.Sprintf(entry, "zz")+
		"Skipped 1 unreadable session(s): broken\n")
}

func TestCase24To28ReindexAndDelete(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	unchanged := "Configuration unchanged for session 'fx'. Use force=true to re-index anyway.\nCurrent config: chunk_size=512, overlap=64"
	h.refused(-32600, unchanged, "reindex_session", args{"session": "fx"})
	h.refused(-32600, unchanged, "reindex_session", args{"session": "fx", "chunk_size": 512})
	statistics := "**Indexing Statistics:**\n- Files indexed: 5\n- Chunks created: <n>\n- Index size: <size>\n- Duration: <s>s\n- Throughput: <n> files/sec\n\n"
	note := "**Note:** Session metadata (repository_path, last_indexed_at) updated automatically."
	like(t, h.call("reindex_session", args{"session": "fx", "force": true}), "# Session Re-Indexed: `fx`\n\n"+statistics+note)
	like(t, h.call("reindex_session", args{"session": "fx", "chunk_size": 100, "overlap": 20}), "# Session Re-Indexed: `fx`\n\n"+statistics+
		"**Configuration Changes:**\n- Chunk size: 512 -> 100\n- Overlap: 64 -> 20\n\n"+note)
	h.refused(-32602, "chunk_size must be between 100 and 2000 (got: 99)", "reindex_session", args{"session": "fx", "chunk_size": 99})
	h.refused(-32602, "overlap must be between 0 and 500 (got: 501)", "reindex_session", args{"session": "fx", "overlap": 501})
	h.refused(-32602, "overlap (100) must be less than chunk_size (100)", "reindex_session", args{"session": "fx", "overlap": 100})
	h.call("reindex_session", args{"session": "fx", "chunk_size": 512, "overlap": 64})

	if err := os.Rename(root, root+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root + "-moved") })
	h.refused(-32600, "Repository path no longer exists: "+root+"\nSession 'fx' cannot be re-indexed.\nPossible solutions:\n"+
		"- Move repository back to original location\n- Delete session and create new one at current location", "reindex_session", args{"session": "fx", "force": true})
	if paths, _ := hits(t, root, h.call("search_code", args{"query": "login", "session": "fx"})); len(paths) != 2 {
		t.Errorf("after the repository moved away: %v", paths)
	}

	h.refused(-32600, "Deletion requires confirm=true parameter. This prevents accidental session deletion.", "delete_session", args{"session": "fx", "confirm": false})
	h.refused(-32602, "missing field `confirm`", "delete_session", args{"session": "fx"})
	h.refused(-32602, "Invalid params: session: ...", "delete_session", args{"session": "../x", "confirm": true})
	if !strings.Contains(h.call("list_sessions", nil), "## fx\n") {
		t.Error("fx is not listed any more")
	}
	like(t, h.call("delete_session", args{"session": "fx", "confirm": true}), "**Session Deleted:** `fx`\n\n**Freed Resources:**\n"+
		"- Files indexed: 5\n- Chunks removed: 5\n- Disk space freed: <size>\n\nSession data and index permanently deleted.")
	h.refused(-32001, "Session not found: fx", "delete_session", args{"session": "fx", "confirm": true})
}

func TestCase30ListDir(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	want := "**Session:** fx\n**Files:** 5 (showing 5)\n\n| File Path | Chunks |\n|-----------|--------|\n"
	for _, path := range []string{"docs/guide.md", "routes.yaml", "src/auth.go", "src/login.go", "tests/auth_test.go"} {
		want += "| `" + root + "/" + path + "` | 1 |\n"
	}
	if got := h.call("list_dir", args{"session": "fx"}); got+"\n" != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	var order []string
	for _, m := range regexp.MustCompile("(?m)^\\| `.*/([^/`]+)` ").FindAllStringSubmatch(h.call("list_dir", args{"session": "fx", "sort": "size"}), -1) {
		order = append(order, m[1])
	}
	if got := strings.Join(order, " "); got != "auth.go login.go auth_test.go routes.yaml guide.md" {
		t.Errorf("by size: %s", got)
	}
	h.refused(-32602, "Invalid sort order: 'x'. Must be 'alpha', 'size', or 'indexed'.", "list_dir", args{"session": "fx", "sort": "x"})
}

func TestCase32FindFileRefuses(t *testing.T) {
	t.Parallel()
	h, _ := indexed(t)
	for _, tc := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "[unclosed"}, "Invalid glob pattern '[unclosed': Pattern syntax error near position 0: invalid range pattern"},
		{args{"pattern": "a**"}, "Invalid glob pattern 'a**': Pattern syntax error near position ..."},
		{args{"pattern": "(unclosed", "pattern_type": "regex"}, "Invalid regex pattern '(unclosed': ..."},
		{args{"pattern": " "}, "pattern cannot be empty"},
		{args{"pattern": "a", "pattern_type": "x"}, "Invalid pattern_type: 'x'. Must be 'glob' or 'regex'."},
		{args{"pattern": "a", "limit": 10001}, "limit cannot exceed 10000"},
		{args{"pattern": "a", "limit": 0}, "limit must be at least 1"},
	} {
		tc.a["session"] = "fx"
		h.refused(-32602, tc.want, "find_file", tc.a)
	}
}

func TestCase33ReadFile(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	path := root + "/docs/guide.md"
	want := "**File:** `" + path + "`\n**Session:** `fx`\n**Size:** 41 B (3 lines)\n**Language:** markdown\n\n```markdown\n# Guide\n\nCall authenticate before Login.\n```"
	for _, given := range []string{path, "docs/guide.md", "./docs/guide.md"} {
		if got := h.call("read_file", args{"session": "fx", "file_path": given, "max_size_kb": "any"}); got != want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", given, got, want)
		}
	}
	h.refused(-32600, "File '"+root+"/routes.txt' not indexed in session 'fx'. Check file_path or re-index the session.", "read_file", args{"session": "fx", "file_path": root + "/routes.txt"})
	h.refused(-32602, "file_path cannot be empty", "read_file", args{"session": "fx", "file_path": ""})
	write(t, root, "docs/guide.md", "# Changed\n")
	if got := h.call("read_file", args{"session": "fx", "file_path": path}); got != strings.Replace(want, "markdown\n\n", "markdown\n**Note:** file changed since indexing; re-index to refresh.\n\n", 1) {
		t.Errorf("after a change: %s", got)
	}
	remove(t, root, "docs/guide.md")
	h.refused(-32600, "File not found: "+path+". File may have been deleted since indexing. Try re-indexing the session.", "read_file", args{"session": "fx", "file_path": path})
}

func TestCase35And36PreviewChunk(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	h.call("index_repository", args{"path": root, "session": "fx", "chunk_size": 100, "overlap": 20, "force": true})
	path := root + "/src/auth.go"
	want := "**File:** `" + path + "`\n**Chunk:** 2 of 3 (bytes 160-196)\n**Context:** 1 lines before/after\n**Chunk Lines:** 9-10 (of 10 total)\n\n" +
		"```go\n   8 | func verify(user, pass string) bool {\n   9 | \treturn user != \"\" && len(pass) >= 8  <-- chunk starts here\n  10 | }  <-- chunk ends here\n```"
	if got := h.call("preview_chunk", args{"session": "fx", "file_path": path, "chunk_index": 2, "context_lines": 1}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	h.refused(-32600, "Chunk not found: file '"+path+"', chunk index 99. File may not be indexed or chunk index invalid.", "preview_chunk", args{"session": "fx", "file_path": path, "chunk_index": 99})
	h.refused(-32600, "Chunk not found: file 'nope', chunk index 0. File may not be indexed or chunk index invalid.", "preview_chunk", args{"session": "fx", "file_path": "nope", "chunk_index": 0})
	h.refused(-32602, "context_lines cannot exceed 100", "preview_chunk", args{"session": "fx", "file_path": path, "chunk_index": 0, "context_lines": 101})
	h.refused(-32602, "missing field `file_path`", "preview_chunk", args{"session": "fx", "chunk_index": 0})
	h.refused(-32602, "Invalid params: chunk_index: Input should be greater than or equal to 0", "preview_chunk", args{"session": "fx", "file_path": path, "chunk_index": -1})
}

func TestCase38FindReferences(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	block := func(path string, line int, language, context, pattern, confidence, more string) string {
		return fmt.Sprintf("#### %s/%s:%d\n```%s\n%s```\n- **Pattern:** %s\n- **Confidence:** %s\n%s\n", root, path, line, language, context, pattern, confidence, more)
	}
	like(t, h.call("find_references", args{"symbol": "authenticate", "session": "fx"})+"\n",
		"## References to `authenticate` (5 found)\n\n### High Confidence (3)\n\n"+
			block("tests/auth_test.go", 4, "go", "   2 | \n   3 | func TestAuthenticate(t *T) {\n   4 | \tgot := authenticate(\"a\", \"12345678\")\n   5 | \t_ = got\n   6 | }\n", "function_call", "1.00", "")+
			block("src/auth.go", 4, "go", "   2 | \n   3 | // authenticate checks a user.\n   4 | func authenticate(user, pass string) bool {\n   5 | \treturn verify(user, pass)\n   6 | }\n", "function_call", "0.95", "- **Definition:** yes\n")+
			block("src/login.go", 6, "go", "   4 | \n   5 | func Login(user string) {\n   6 | \tif authenticate(user, \"x\") {\n   7 | \t\tfmt.Println(\"ok\")\n   8 | \t}\n", "function_call", "0.95", "")+
			"### Low Confidence (2)\n\n"+
			block("docs/guide.md", 3, "markdown", "   1 | # Guide\n   2 | \n   3 | Call authenticate before Login.\n", "word_match", "0.35", "")+
			block("src/auth.go", 3, "go", "   1 | package auth\n   2 | \n   3 | // authenticate checks a user.\n   4 | func authenticate(user, pass string) bool {\n   5 | \treturn verify(user, pass)\n", "word_match", "0.30", "")+
			"---\n\n**Summary:**\n- High confidence: 3 references\n- Medium confidence: 0 references\n- Low confidence: 2 references\n- Total files: 4\n"+
			"- Session indexed: <second> (just now)\n\n**Files to update:**\n- `"+root+"/src/auth.go`\n- `"+root+"/src/login.go`\n- `"+root+"/tests/auth_test.go`\n")
}

func TestCase40FindReferencesNeverFailsOnASymbol(t *testing.T) {
	t.Parallel()
	h, root := newHouse(t), fixture(t)
	long := strings.Repeat("q", 60)
	write(t, root, "src/long.go", "package auth\n\nvar _ = "+long+"(1)\n")
	h.call("index_repository", args{"path": root, "session": "fx"})
	like(t, h.call("find_references", args{"symbol": "nosuch", "session": "fx"}), "No references found for `nosuch`\n\nSession last indexed: <second> (<rel>)")
	h.refused(-32602, "Symbol cannot be empty", "find_references", args{"symbol": "  ", "session": "fx"})
	h.refused(-32602, "Symbol must be at least 2 characters", "find_references", args{"symbol": "a", "session": "fx"})
	h.refused(-32602, "Symbol must be at least 2 characters", "find_references", args{"symbol": "é", "session": "fx"})
	h.refused(-32602, "Symbol must be at most 200 characters", "find_references", args{"symbol": strings.Repeat("a", 201), "session": "fx"})
	for _, symbol := range []string{"Foo::bar", "operator()", "arr[0]", "\"", "\n\n", "(((", "a\nb", "!!"} {
		if symbol == "\"" || symbol == "\n\n" {
			continue // too short once trimmed
		}
		if got := h.call("find_references", args{"symbol": symbol, "session": "fx"}); !strings.HasPrefix(got, "No references found for ") {
			t.Errorf("%q: %s", symbol, got)
		}
	}
	if got := h.call("find_references", args{"symbol": long, "session": "fx"}); !strings.Contains(got, "long.go:3\n") {
		t.Errorf("a symbol of 60 letters: %s", got)
	}
}
