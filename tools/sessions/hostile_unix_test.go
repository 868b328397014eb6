//go:build unix

package sessions_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are names of files that try to write lines of answers. The first two and
// the last one are left out of the index.
var hostile = []string{"new\n**File:** `x`\n.go", "esc\x1b[31m.go", "turn\u202eog.go", "sep\u2028arated.go",
	"bar|and`tick`.go", "it's $(echo) one.go", "bad\xff.go"}

// linesOf returns the lines of an answer outside its code fences.
func linesOf(text string) (lines []string) {
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestNamesOfFilesStayInTheirLine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files := map[string]string{"skip\n- all: fine.bin": "\x00"}
	for _, name := range hostile {
		files[name] = "package a\n\nfunc needle() {}\n"
	}
	root := h.index1("s", files)
	long := "it's a long\u2028name.txt"
	write(t, root, long, strings.Repeat("x\n", 15_000))
	check := func(name string, a args, lines int) string {
		text, f := h.try(t.Context(), name, a)
		if f != nil {
			text = f.message
		}
		if strings.ContainsAny(text, "\x1b\u202e\u2028") || !utf8.ValidString(text) {
			t.Errorf("%s %v: got %.2000q", name, a, text)
		}
		if got := linesOf(text); lines > 0 && len(got) != lines {
			t.Errorf("%s %v: got %d lines, want %d: %q", name, a, len(got), lines, got)
		}
		return text
	}
	got := check("index_repository", args{"session": "s", "path": root, "force": true}, 13)
	if !strings.Contains(got, "\n- skip\\n- all: fine.bin: path name\n") {
		t.Errorf("got %q", got)
	}
	h.settle()
	check("list_dir", args{"session": "s"}, 5+5)
	found := check("find_file", args{"session": "s", "pattern": "*.go"}, 5+4)
	check("search_code", args{"session": "s", "query": "needle\nAND\x1b"}, 0)
	check("search_code", args{"session": "s", "query": "nothing\n\x1b"}, 3)
	check("search_code", args{"session": "s", "query": "x\x1b:y\u2028z\x1b"}, 0)
	if refs := check("find_references", args{"session": "s", "symbol": "needle", "include_definition": true}, 0); strings.Count(refs, "#### ") != 4 {
		t.Errorf("got %s", refs)
	}
	check("find_references", args{"session": "s", "symbol": "no\nthing\x1b"}, 3)
	check("read_file", args{"session": "s", "file_path": "no\nsuch\x1b"}, 1)
	check("preview_chunk", args{"session": "s", "file_path": "no\nsuch\x1b", "chunk_index": 0}, 1)
	check("index_repository", args{"session": "t", "path": "/no\nsuch\x1b"}, 1)
	check("find_file", args{"session": "s", "pattern": "[\n\x1b"}, 1)
	if text := check("read_file", args{"session": "s", "file_path": long}, 0); !strings.Contains(text, "\n- For full file, use bash: cat $'"+root+`/it\'s a long\u2028name.txt'`+"\n") {
		t.Errorf("got %.900q", text)
	}
	if text := check("read_file", args{"session": "s", "file_path": hostile[5]}, 0); !strings.Contains(text, "**File:** `"+root+"/it's $(echo) one.go`\n") {
		t.Errorf("got %.900q", text)
	}
	// A path can be used as it is shown.
	for line := range strings.SplitSeq(found, "\n") {
		if name, ok := strings.CutPrefix(line, "- "); ok {
			h.call("read_file", args{"session": "s", "file_path": strings.Trim(strings.Trim(name, "`"), " ")})
			h.call("read_file", args{"session": "s", "file_path": strings.ReplaceAll(filepath.Base(strings.Trim(strings.Trim(name, "`"), " ")), "|", `\|`)})
		}
	}
}
