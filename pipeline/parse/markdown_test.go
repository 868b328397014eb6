package parse

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMarkdownSections(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"to the next of its level or above", "# A\n\n## B\ntext\n\n### C\n## D\n# E\n", "A:1-7 B:3-6 C:6-6 D:7-7 E:8-8"},
		{"setext", "Title\n=====\n\nSub\n---\ntext\n", "Title:1-6 Sub:4-6"},
		{"setext of two lines", "Two\nlines\n---\n", "Two lines:1-3"},
		{"closing marks", "# A #\n## B ##x\n### C###\n", "A:1-3 B ##x:2-3 C###:3-3"},
		{"not in a fence", "```\n# no\n```\n# Yes\n", "Yes:4-4"},
		{"a fence closes with as many marks", "````\n```\n# no\n````\n# Yes\n", "Yes:5-5"},
		{"a fence closes with its own marks", "~~~\n```\n# no\n~~~\n# Yes\n", "Yes:5-5"},
		{"an open fence runs to the end", "# A\n```\n# no\n", "A:1-3"},
		{"a fence in a list", "- x\n  ```\n  # no\n  ```\n# Yes\n", "Yes:5-5"},
		{"front matter", "---\ntitle: x\n# no\n---\n# Yes\n", "Yes:5-5"},
		{"a rule is no front matter", "---\n# Yes\n", "Yes:2-2"},
		{"indented code", "    # no\n\n\t# no\n   # Yes\n", "Yes:4-4"},
		{"HTML comment", "<!-- a\n# no\n-->\n# Yes\n", "Yes:4-4"},
		{"raw HTML", "<pre>\n# no\n</pre>\n# Yes\n", "Yes:4-4"},
		{"quotes and lists", "> # no\n- # no\n\n1. text\n---\n", ""},
		{"a rule under a list", "* a\nlazy\n---\n", ""},
		{"no space", "#no\n#\n####### no\n", ""},
		{"CRLF", "# A\r\ntext\r\n# B\r\n", "A:1-2 B:3-3"},
		{"no LF at the end", "# A", "A:1-1"},
		{"code in a title", "# `run` now\n", "`run` now:1-1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			entities, _ := sections([]byte(tc.text))
			if got := names(Result{Entities: entities}); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMarkdownSectionIsQualifiedByThoseAround(t *testing.T) {
	t.Parallel()
	entities, _ := sections([]byte("# Install\n### Docker\n## Next\n"))
	var got []string
	for _, e := range entities {
		got = append(got, e.Description)
	}
	want := "Markdown section: Install|Markdown section: Install > Docker|Markdown section: Install > Next"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"# A\nB\n===\n```\n#\n", "---\na\n---\n# b", "<!--\n-->\n> # x\n\t#\n", "\uFEFF# x\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entities, _ := sections(text)
		lines, start := len(lineStarts(text)), 0
		for _, e := range entities {
			if e.StartByte < start || e.StartByte > e.EndByte || e.EndByte > len(text) ||
				e.LineStart < 1 || e.LineStart > e.LineEnd || e.LineEnd > lines {
				t.Fatalf("%+v in %q", e, text)
			}
			if e.Name == "" || !utf8.ValidString(e.Name+e.Signature+e.Description) || strings.ContainsAny(e.Signature, "\r\n") {
				t.Fatalf("%+v in %q", e, text)
			}
			start = e.StartByte
		}
	})
}
