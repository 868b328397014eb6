package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"codesage/tools"
)

func TestListDirPagesAndWarns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files := map[string]string{}
	for i := range 1203 {
		files[fmt.Sprintf("f%04d.txt", i)] = strings.Repeat("x", 1+i%7)
	}
	root := h.index1("big", files)
	table := func(from, to int) string {
		rows := "| File Path | Chunks |\n|-----------|--------|\n"
		for i := from; i < to; i++ {
			rows += fmt.Sprintf("| `%s/f%04d.txt` | 1 |\n", root, i)
		}
		return strings.TrimSuffix(rows, "\n")
	}
	warning := func(shown, which, rest, next, files string) string {
		return "WARNING: OUTPUT TRUNCATED - MAXIMUM 500 FILES DISPLAYED\n\nShowing: " + shown + " of 1,203 files (" + which + ")\n" +
			"Reason: Maximum display limit is 500 files (MCP 25k token limit)\nNot shown: " + rest + " files\n\nSUGGESTIONS:\n" +
			"- Use `find_file` with patterns to filter: find_file(session=\"big\", pattern=\"*.yaml\")\n" +
			"- Use `offset` to see the next files: list_dir(session=\"big\", sort=\"alpha\", offset=" + next + ")\n" +
			"- For full file list, use bash: find " + root + " -type f | sort\n\n---\n\n**Files " + files + " (of 1,203 total):**\n\n"
	}
	for _, tc := range []struct {
		a    args
		want string
	}{
		{nil, warning("100", "first 100, alphabetically sorted", "1,103", "100", "1-100") + table(0, 100)},
		{args{"limit": 9999}, warning("500", "first 500, alphabetically sorted", "703", "500", "1-500") + table(0, 500)},
		{args{"limit": 500, "offset": 500}, warning("500", "files 501-1,000, alphabetically sorted", "703", "1000", "501-1,000") + table(500, 1000)},
		{args{"limit": 500, "offset": 1000}, "**Session:** big\n**Files:** 1,203 (showing 1,001-1,203)\n\n" + table(1000, 1203)},
		{args{"offset": 5000}, "**Session:** big\n**Files:** 1,203 (showing 0)\n\nNo files at offset 5000."},
	} {
		a := args{"session": "big"}
		for k, v := range tc.a {
			a[k] = v
		}
		if got := h.call("list_dir", a); got != tc.want {
			t.Errorf("%v: got:\n%.900s\nwant:\n%.900s", tc.a, got, tc.want)
		}
	}
	h.refused(-32602, "Invalid params: limit: Input should be greater than or equal to 1", "list_dir", args{"session": "big", "limit": 0})
	if got := h.call("list_dir", args{"session": "big", "sort": "size"}); !strings.Contains(got, "(first 100, largest first)") || !strings.Contains(got, "f0006.txt` | 1 |\n| `"+root+"/f0013.txt`") {
		t.Errorf("by size: %.900s", got)
	}
	if got := h.call("list_dir", args{"session": "big", "sort": "indexed"}); !strings.Contains(got, "(first 100, index order)") {
		t.Errorf("by index: %.900s", got)
	}
	got := h.call("find_file", args{"session": "big", "pattern": "f00*", "limit": 2, "offset": 2})
	if want := "**Session:** `big`\n**Pattern:** `f00*`\n**Matches:** 100 of 1,203 total files (showing 3-4)\n\n**Matched Files:**\n- `" + root + "/f0002.txt`\n- `" + root +
		"/f0003.txt`\n\nNot shown: 96 files; use offset=4 to see the next ones."; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestFindFileTriesBothFormsOfAPath(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	for _, tc := range []struct{ pattern, kind, want string }{
		{"*.go", "glob", "src/auth.go src/login.go tests/auth_test.go"},
		{"src/*.go", "glob", "src/auth.go src/login.go"},
		{"src/**/*.go", "glob", "src/auth.go src/login.go"},
		{"**/*_test.go", "glob", "tests/auth_test.go"},
		{root + "/src/*", "glob", "src/auth.go src/login.go"},
		{"*.GO", "glob", ""},
		{"[!s]*.md", "glob", "docs/guide.md"},
		{"^src/", "regex", "src/auth.go src/login.go"},
		{"src/.*\\.(go|js)$", "regex", "src/auth.go src/login.go"},
		{"^" + root + "/routes", "regex", "routes.yaml"},
	} {
		if got := strings.Join(h.found(root, args{"session": "fx", "pattern": tc.pattern, "pattern_type": tc.kind}), " "); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.kind, tc.pattern, got, tc.want)
		}
	}
	if got := h.call("find_file", args{"session": "fx", "pattern": "nope"}); got != "**Session:** `fx`\n**Pattern:** `nope`\n**Matches:** 0 of 5 total files\n\n"+
		"No files match the pattern. Try a different pattern or check session." {
		t.Errorf("got %s", got)
	}
}

func TestReadFileIsCutByCharacters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lines := ""
	for i := 1; i <= 5000; i++ {
		lines += fmt.Sprintf("line %04d\n", i)
	}
	root := h.index1("s", map[string]string{
		"whole.txt": strings.Repeat("x", 20_000), "cut.txt": strings.Repeat("x", 20_001), "emoji.txt": strings.Repeat("\U0001F600", 6000), "lines.txt": lines,
		"first.txt": strings.Repeat("x", 25_000) + "\nsecond\n", "second.txt": "first\n" + strings.Repeat("x", 25_000), "empty.txt": "",
	})
	read := func(file string, more args) string {
		a := args{"session": "s", "file_path": file}
		for k, v := range more {
			a[k] = v
		}
		return h.call("read_file", a)
	}
	for _, file := range []string{"whole.txt", "emoji.txt"} {
		if got := read(file, nil); strings.Contains(got, "WARNING") {
			t.Errorf("%s: %.300s", file, got)
		}
	}
	want := "WARNING: FILE TRUNCATED - SHOWING FIRST 20000 CHARACTERS\n\nShowing: Characters 1-20000 of 20001 total (100.0%)\n" +
		"Reason: Maximum display limit is 20000 characters (MCP 25k token limit)\nNot shown: 1 characters\n\nSUGGESTIONS:\n" +
		"- Use `search_code` to find specific content in this file\n- Use `preview_chunk` to view specific sections\n" +
		"- Line 1 alone is longer than 20000 characters\n- For full file, use bash: cat " + root + "/cut.txt\n\n---\n\n**File:** `" + root + "/cut.txt`\n**Showing:** First 20000 characters (~1 lines)\n\n```\n" +
		strings.Repeat("x", 20_000) + "\n```"
	if got := read("cut.txt", nil); got != want {
		t.Errorf("got:\n%.900s\nwant:\n%.900s", got, want)
	}
	if got := read("lines.txt", nil); !strings.Contains(got, "start_line=2001)") || !strings.HasSuffix(got, "line 2000\n```") {
		t.Errorf("got %.900s", got)
	}
	if got := read("lines.txt", args{"start_line": 4999}); !strings.HasSuffix(got, "(5000 lines)\n**Language:** text\n**Lines:** 4999-5000\n\n```\nline 4999\nline 5000\n```") {
		t.Errorf("got %s", got)
	}
	if got := read("lines.txt", args{"end_line": 1}); !strings.HasSuffix(got, "**Lines:** 1-1\n\n```\nline 0001\n```") {
		t.Errorf("got %s", got)
	}
	got := read("lines.txt", args{"start_line": 100, "end_line": 4000})
	if !strings.Contains(got, "**Lines:** 100-2099\n**Not shown:** lines 2100-4000; read on with start_line=2100\n") || !strings.HasSuffix(got, "line 2099\n```") {
		t.Errorf("got %.300s", got)
	}
	if got := read("first.txt", nil); !strings.Contains(got, "\n- Line 1 alone is longer than 20000 characters\n- Use `start_line` and `end_line` to read on: "+
		"read_file(session=\"s\", file_path=\""+root+"/first.txt\", start_line=2)\n") {
		t.Errorf("got %.900s", got)
	}
	if got := read("first.txt", args{"start_line": 1}); !strings.Contains(got, "**Lines:** 1-1\n**Not shown:** 5000 characters of line 1, which alone is longer than 20000\n"+
		"**Not shown:** lines 2-2; read on with start_line=2\n\n```\nx") {
		t.Errorf("got %.300s", got)
	}
	if got := read("second.txt", nil); !strings.Contains(got, "\n- Use `start_line` and `end_line` to read on: ") || !strings.Contains(got, "start_line=2)\n") {
		t.Errorf("got %.900s", got)
	}
	if got := read("second.txt", args{"start_line": 2}); !strings.Contains(got, "**Lines:** 2-2\n**Not shown:** 5000 characters of line 2, which alone is longer than 20000\n\n```\nx") {
		t.Errorf("got %.300s", got)
	}
	for _, more := range []args{{"start_line": 1}, {"end_line": 3}} {
		if got := read("empty.txt", more); !strings.HasSuffix(got, "(0 lines)\n**Language:** text\n**Lines:** none, the file is empty\n\n```\n```") {
			t.Errorf("%v: got %s", more, got)
		}
	}
	h.refused(-32602, "Invalid params: start_line: the file is empty", "read_file", args{"session": "s", "file_path": "empty.txt", "start_line": 2})
	h.refused(-32602, "Invalid params: end_line: Input should be greater than or equal to start_line", "read_file", args{"session": "s", "file_path": "lines.txt", "start_line": 5, "end_line": 4})
	h.refused(-32602, "Invalid params: start_line: Input should be greater than or equal to 1", "read_file", args{"session": "s", "file_path": "lines.txt", "start_line": 0})
}

func TestChunksOfOneFileDoNotCrowdTheAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files := map[string]string{"crowd.txt": strings.Repeat("needle and more of the words that fill the chunk up\n", 200)}
	for i := range 4 {
		files[fmt.Sprintf("other%d.txt", i)] = strings.Repeat("filler words stand here\n", 20) + "needle\n"
	}
	root := h.index1("s", files)
	paths, _ := hits(t, root, h.call("search_code", args{"session": "s", "query": "needle", "k": 14}))
	all := h.call("list_dir", args{"session": "s"})
	if !strings.Contains(all, "/crowd.txt` | 24 |") {
		t.Fatalf("the chunks are others than the test counts on: %s", all)
	}
	places := h.call("search_code", args{"session": "s", "query": "needle", "k": 100})
	if got := strings.Count(places, "/crowd.txt`"); got < 8 || got > 12 {
		t.Errorf("%d of 24 neighbouring chunks are shown, want every second", got)
	}
	if len(paths) != 14 {
		t.Errorf("k = 14 shows %d results", len(paths))
	}
	for i := range 4 {
		if !strings.Contains(places, fmt.Sprintf("/other%d.txt`", i)) {
			t.Errorf("other%d.txt is missing", i)
		}
	}
	if got := strings.Count(h.call("search_code", args{"session": "s", "query": "file_path:crowd", "k": 100}), "## Result"); got != 24 {
		t.Errorf("a query that only names a path shows %d chunks, want all 24", got)
	}
}

func TestSessionToolsLeaveTheSchemaToClients(t *testing.T) {
	t.Parallel()
	s := tools.Schema{Ignored: []string{"old"}, Fields: []tools.Field{
		{Name: "k", Type: tools.Integer, Nullable: true, Default: 3, Max: tools.Limit(5), Advisory: true},
		{Name: "s", Type: tools.String, Nullable: true, MaxLength: 1, Enum: []string{"a"}, Pattern: "^a$", Advisory: true},
	}}
	got, faults := s.Parse([]byte(`{"k":"99","s":"long","old":{}}`))
	if n, _ := got.Int("k"); faults != nil || n != 99 || got.String("s") != "long" {
		t.Errorf("got %v, %v", got, faults)
	}
	if schema := string(s.JSON()); strings.Contains(schema, "old") || !strings.Contains(schema, `"maximum":5`) {
		t.Errorf("schema %s", schema)
	}
	if _, faults := s.Parse([]byte(`{"k":"x"}`)); len(faults) != 1 {
		t.Errorf("a text for a number: %v", faults)
	}
}
