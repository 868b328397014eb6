package sessions_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codesage"
)

// index makes a house with one session of these files.
func (h *house) index1(session string, files map[string]string) (root string) {
	h.t.Helper()
	root = tree(h.t, files)
	h.call("index_repository", args{"path": root, "session": session})
	h.settle()
	return root
}

// found is what find_file lists, without the root.
func (h *house) found(root string, a args) []string {
	h.t.Helper()
	var paths []string
	for _, line := range strings.Split(h.call("find_file", a), "\n") {
		if path, ok := strings.CutPrefix(line, "- `"+root+"/"); ok {
			paths = append(paths, strings.TrimSuffix(path, "`"))
		}
	}
	return paths
}

func TestB13UnbalancedBracesAnswerSoon(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := h.index1("s", map[string]string{"a.go": "package a\n", "b.go": "package b\n", "{a,b.go": "package c\n"})
	began := time.Now()
	for pattern, want := range map[string]string{"{a,b.go": "{a,b.go", "{}": "", "{{a,b}.go": "", "a}.go": "", "{a,b}.go": "a.go b.go"} {
		if got := strings.Join(h.found(root, args{"session": "s", "pattern": pattern}), " "); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestB15EveryToolCountsLinesAlike(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := h.index1("s", map[string]string{
		"p.py": "a = \"\x0c\"\nb = \"\u2028\"\ndef third(): pass\n",
		"w.go": "package w\r\n\r\nfunc Four() {\r\n}\r\n",
	})
	if got := h.call("find_references", args{"session": "s", "symbol": "third"}); !strings.Contains(got, "#### "+root+"/p.py:3\n") {
		t.Errorf("find_references: %s", got)
	}
	if got := h.call("search_code", args{"session": "s", "query": "third"}); !strings.Contains(got, "**Lines:** 1-3\n") {
		t.Errorf("search_code: %s", got)
	}
	if got := h.call("read_file", args{"session": "s", "file_path": "p.py"}); !strings.Contains(got, "(3 lines)") {
		t.Errorf("read_file: %s", got)
	}
	if got := h.call("read_file", args{"session": "s", "file_path": "p.py", "start_line": 3}); !strings.HasSuffix(got, "**Lines:** 3-3\n\n```python\ndef third(): pass\n```") {
		t.Errorf("read_file: %s", got)
	}
	if got := h.call("preview_chunk", args{"session": "s", "file_path": "p.py", "chunk_index": 0}); !strings.Contains(got, "**Chunk Lines:** 1-3 (of 3 total)") || !strings.Contains(got, "   3 | def third(): pass  <-- chunk ends here\n") {
		t.Errorf("preview_chunk: %s", got)
	}
	for name, a := range map[string]args{
		"find_references": {"session": "s", "symbol": "Four"}, "search_code": {"session": "s", "query": "Four"},
		"read_file": {"session": "s", "file_path": "w.go"}, "preview_chunk": {"session": "s", "file_path": "w.go", "chunk_index": 0},
	} {
		got := h.call(name, a)
		if strings.Contains(got, "\r") {
			t.Errorf("%s prints a CR: %q", name, got)
		}
		if name == "find_references" && !strings.Contains(got, "w.go:3\n") || name == "preview_chunk" && !strings.Contains(got, "   4 | }  <-- chunk ends here\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestB21TheLastLineNeedsNoEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.index1("s", map[string]string{"e.ts": "const a = 1\nexport default function cfg() { return a }", "one.py": "def only(): pass", "z.go": ""})
	for file, want := range map[string]string{
		"e.ts":   "**Chunk Lines:** 1-2 (of 2 total)\n\n```typescript\n   1 | const a = 1  <-- chunk starts here\n   2 | export default function cfg() { return a }  <-- chunk ends here\n```",
		"one.py": "**Chunk Lines:** 1-1 (of 1 total)\n\n```python\n   1 | def only(): pass  <-- chunk starts here  <-- chunk ends here\n```",
	} {
		if got := h.call("preview_chunk", args{"session": "s", "file_path": file, "chunk_index": 0}); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", file, got)
		}
	}
	if got := h.call("read_file", args{"session": "s", "file_path": "z.go"}); !strings.Contains(got, "(0 lines)") {
		t.Errorf("got %s", got)
	}
	h.refused(-32600, "Chunk not found: ...", "preview_chunk", args{"session": "s", "file_path": "z.go", "chunk_index": 0})
	h.refused(-32602, "Invalid params: start_line: Input should be less than or equal to 1, the lines of the file", "read_file", args{"session": "s", "file_path": "one.py", "start_line": 2})
}

func TestB29PartsOfIdentifiersAreFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := h.index1("s", map[string]string{
		"o.py": "class OvertimeService:\n    def parseHTMLResponse(self, user_id): return user_id\n", "x.py": "service = 1\nresponse = 2\n"})
	for _, q := range []string{"OvertimeService", "overtimeservice", "overtime service", "parseHTMLResponse", "html response", "user_id", "user id", "OVERTIMESERVICE"} {
		paths, _ := hits(t, root, h.call("search_code", args{"session": "s", "query": q}))
		if !strings.Contains(strings.Join(paths, " "), "o.py") || q == "OvertimeService" && paths[0] != "o.py" {
			t.Errorf("%s: found %v", q, paths)
		}
	}
}

func TestB30CodeInQueriesIsFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	texts := []string{"GET /users/{id}", "std::vector<int>", "pkg:scope:name", "array[0]", "-http://example.com", `"unclosed`, "a && !b", "*ptr", `C:\temp`, `fmt.Printf("%s")`}
	root := h.index1("s", map[string]string{"q.go": "package q\n\n// " + strings.Join(texts, "\n// ") + "\n", "other.go": "package other\n"})
	for _, q := range texts {
		text, f := h.try(t.Context(), "search_code", args{"session": "s", "query": q})
		if f != nil && f.code != -32004 && f.code != -32602 {
			t.Errorf("%s: %v", q, f)
		}
		paths, _ := hits(t, root, text)
		if len(paths) == 0 || paths[0] != "q.go" { // -, an odd quote and C: mean something else outside literal mode
			paths, _ = hits(t, root, h.call("search_code", args{"session": "s", "query": q, "literal": true}))
		}
		if len(paths) == 0 || paths[0] != "q.go" {
			t.Errorf("%s: found %v", q, paths)
		}
	}
	began := time.Now()
	for _, q := range []string{strings.Repeat("(", 40) + "x" + strings.Repeat(")", 40), strings.Repeat(`"`, 500), strings.Repeat("(", 500)} {
		if _, f := h.try(t.Context(), "search_code", args{"session": "s", "query": q}); f != nil && f.code != -32004 && f.code != -32602 {
			t.Errorf("%.10s: %v", q, f)
		}
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestB33WhatIsGoneIsNotFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	filler := ""
	for i := 1; i <= 400; i++ {
		filler += fmt.Sprintf("// w%d\n", i)
	}
	root := h.index1("s", map[string]string{"a.go": "package a\n\nfunc GoneOne() {}\n" + filler + "func StayOne() {}\n",
		"b.go": "package a\n\nfunc GoneTwo() {}\n", "c.go": "package a\n\nfunc Moved() {}\n"})
	write(t, root, "a.go", "package a\nfunc StayOne() {}\n")
	remove(t, root, "b.go")
	if err := os.Rename(filepath.Join(root, "c.go"), filepath.Join(root, "d.go")); err != nil {
		t.Fatal(err)
	}
	h.call("reindex_session", args{"session": "s", "force": true})
	if h.settle(); h.repository("s").Latest.Force {
		t.Error("the refresh was not incremental")
	}
	for q, want := range map[string]string{"GoneOne": "", "w399": "", "GoneTwo": "", "Moved": "d.go", "StayOne": "a.go"} {
		if paths, _ := hits(t, root, h.call("search_code", args{"session": "s", "query": q})); strings.Join(paths, " ") != want {
			t.Errorf("%s: found %v, want %q", q, paths, want)
		}
	}
	if got := h.call("find_references", args{"session": "s", "symbol": "StayOne"}); !strings.Contains(got, "(1 found)") || !strings.Contains(got, "a.go:2\n") {
		t.Errorf("StayOne: %s", got)
	}
	numbers := func() string {
		info := h.call("get_session_info", args{"session": "s"})
		return without(without(without(info, "- **Last"), "- **Size"), "- **Avg chunk size")
	}
	refreshed := numbers()
	if !strings.Contains(refreshed, "- **Files:** 2\n") {
		t.Errorf("got %s", refreshed)
	}
	if _, _, err := h.catalog.Reprocess(t.Context(), h.repository("s").ID, codesage.TriggerReprocess, true); err != nil {
		t.Fatal(err)
	}
	if h.settle(); numbers() != refreshed {
		t.Errorf("after a full run: %s\nwant %s", numbers(), refreshed)
	}
}

func TestB39ArgumentsAreConverted(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	raw := func(text string) any { return json.RawMessage(text) }
	for _, v := range []string{`2`, `2.0`, `2e0`, `"2"`, `" 2 "`, `"02"`, `"+2"`, `"2.0"`, `"0_2"`, `null`} {
		if got := h.call("search_code", args{"session": "fx", "query": "login", "k": raw(v)}); !strings.HasPrefix(got, "Found 2 ") {
			t.Errorf("k %s: %s", v, got)
		}
	}
	for _, v := range []string{`10.5`, `"10.5"`, `"10."`, `"1e1"`, `"0x10"`, `""`, `"ten"`, `"１０"`, `[10]`, `{}`, `"` + strings.Repeat("9", 4301) + `"`} {
		h.refused(-32602, "Invalid params: k: ...", "search_code", args{"session": "fx", "query": "login", "k": raw(v)})
	}
	if got := h.call("search_code", args{"session": "fx", "query": "12345678"}); !strings.HasPrefix(got, "Found 1 results for query '12345678'") {
		t.Errorf("got %s", got)
	}
	for _, v := range []string{`12345`, `true`, `null`} {
		h.refused(-32602, "Invalid params: query: Input should be a valid string", "search_code", args{"session": "fx", "query": raw(v)})
	}
	for _, v := range []string{`"false"`, `false`, `"off"`, `"no"`, `"0"`, `0`, `"n"`} {
		h.refused(-32600, "Deletion requires confirm=true parameter...", "delete_session", args{"session": "fx", "confirm": raw(v)})
	}
	for _, v := range []string{`2`, `""`, `" true"`, `"10"`, `null`} {
		h.refused(-32602, "Invalid params: confirm: Input should be a valid boolean...", "delete_session", args{"session": "fx", "confirm": raw(v)})
	}
	for _, v := range []string{`["*.go"]`, `"[\"*.go\"]"`} {
		if got := h.call("index_repository", args{"path": root, "session": "fx", "force": "yes", "include_patterns": raw(v)}); !strings.Contains(got, "**Files indexed:** 3\n") {
			t.Errorf("include %s: %s", v, got)
		}
	}
	h.refused(-32602, "Invalid params: include_patterns: Input should be a valid list", "index_repository", args{"path": root, "session": "fx", "include_patterns": "*.go"})
	for _, v := range []string{`true`, `"TRUE"`, `"on"`, `1`, `"t"`} {
		h.call("index_repository", args{"path": root, "session": "fx", "force": raw(v)})
	}
}

func TestB41NothingOutsideTheRootIsShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	w := tree(t, map[string]string{"app/ok.go": "package ok\n", "app-secret/key.txt": "TOPSECRET key\n"})
	for link, to := range map[string]string{"app/leak.go": "../app-secret/key.txt", "app/d": "../app-secret"} {
		if err := os.Symlink(to, filepath.Join(w, link)); err != nil {
			t.Fatal(err)
		}
	}
	h.call("index_repository", args{"path": w + "/app", "session": "s"})
	check := func(path string) {
		t.Helper()
		for name, a := range map[string]args{"read_file": {}, "preview_chunk": {"chunk_index": 0}} {
			a["session"], a["file_path"] = "s", path
			text, f := h.try(t.Context(), name, a)
			there, g := h.try(t.Context(), name, args{"session": "s", "file_path": path + ".none", "chunk_index": a["chunk_index"]})
			if name == "read_file" {
				there, g = h.try(t.Context(), name, args{"session": "s", "file_path": path + ".none"})
			}
			if f == nil || g == nil || f.code != g.code || strings.ReplaceAll(g.message, ".none", "") != f.message || strings.Contains(text+there+f.message, "TOPSECRET") {
				t.Errorf("%s %q: %q %v, and for what is not there %v", name, path, text, f, g)
			}
		}
	}
	for _, path := range []string{"../app-secret/key.txt", w + "/app-secret/key.txt", "leak.go", "d/key.txt", "ok.go/../../app-secret/key.txt",
		"ok.go\x00.txt", "%2e%2e/app-secret/key.txt", "....//app-secret/key.txt", w + "/app/../app-secret/key.txt", "/", "", "."} {
		if path != "" {
			check(path)
		}
	}
	for _, path := range []string{"ok.go", "./ok.go", w + "/app/ok.go"} {
		if got := h.call("read_file", args{"session": "s", "file_path": path}); !strings.Contains(got, "package ok") {
			t.Errorf("%s: %s", path, got)
		}
	}
	// An indexed file that becomes a link is not followed.
	remove(t, w, "app/ok.go")
	if err := os.Symlink("../app-secret/key.txt", filepath.Join(w, "app/ok.go")); err != nil {
		t.Fatal(err)
	}
	if got := h.call("read_file", args{"session": "s", "file_path": "ok.go"}); strings.Contains(got, "TOPSECRET") || !strings.Contains(got, "**Note:** file changed") {
		t.Errorf("got %s", got)
	}
	for name, a := range map[string]args{"list_dir": {}, "find_file": {"pattern": "*"}, "search_code": {"query": "TOPSECRET"}} {
		a["session"] = "s"
		if got := h.call(name, a); strings.Contains(got, "key") && name != "search_code" || strings.Contains(got, "app-secret") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
