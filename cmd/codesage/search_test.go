package main

import (
	"strings"
	"testing"
)

func TestHitsDoNotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := writeHits(&out, []byte(`{"total_hits": 1, "results": [{"file_path": "a\u009b2J.md", "line_start": 1,
		"description": "Markdown section: \u001b[2J\u202e", "signature": "def f(s=\"\u001b]0;title\u0007\"):\n"}]}`))
	want := "1 hits\na\\u009b2J.md:1  Markdown section: \\x1b[2J\\u202e\n    def f(s=\"\\x1b]0;title\\a\"):\\n\n"
	if err != nil || out.String() != want {
		t.Errorf("got %q, %v, want %q", out.String(), err, want)
	}
}
