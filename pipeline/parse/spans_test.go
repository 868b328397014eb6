package parse

import (
	"bytes"
	"go/scanner"
	"go/token"
	"testing"

	"codesage"

	"github.com/google/go-cmp/cmp"
)

func TestGoSpansAreThoseOfTheGoScanner(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	compared := 0
	for name, text := range goTree(t) {
		if bytes.ContainsRune(text, '\r') { // the scanner's literals leave them out
			continue
		}
		r, err := p.Parse(t.Context(), "go", name, text)
		if err != nil || r.Skip != "" {
			t.Fatalf("%s: got %q, %v", name, r.Skip, err)
		}
		if diff := cmp.Diff(goSpans(text), r.Spans); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if compared++; compared == 150 {
			return
		}
	}
}

func goSpans(text []byte) []codesage.Span {
	var out []codesage.Span
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		kind := codesage.SpanString
		switch tok {
		case token.EOF:
			return out
		case token.COMMENT:
			kind = codesage.SpanComment
		case token.STRING, token.CHAR:
		default:
			continue
		}
		start := uint32(file.Offset(pos))
		out = append(out, codesage.Span{Start: start, End: start + uint32(len(literal)), Kind: kind})
	}
}

func TestCodeInsideOfStringsIsNotInTheirSpans(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	for _, tc := range []struct{ language, text, hidden, used string }{
		{"python", `s = f"text {used} more"`, "text", "used"},
		{"javascript", "s = `text ${used} more`", "text", "used"},
		{"typescript", "const s = `text ${used(`text`)} more`", "text", "used"},
		{"ruby", `s = "text #{used} more"`, "text", "used"},
		{"php", `<?php $s = "text {$used} more";`, "text", "used"},
		{"kotlin", `val s = "text ${used} more"`, "text", "used"},
		{"swift", `let s = "text \(used) more"`, "text", "used"},
		{"scala", `val s = s"text ${used} more"`, "text", "used"},
		{"csharp", `class A { string s = $"text {used} more"; }`, "text", "used"},
		{"elixir", `s = "text #{used} more"`, "text", "used"},
		{"bash", `s="text ${used} more"`, "text", "used"},
		{"terraform", `s = "text ${used} more"`, "text", "used"},
		{"java", `class A { String s = "text"; int used; }`, "text", "used"},
		{"rust", `fn f() { let s = "text"; used() } // text`, "text", "used"},
		{"c", `char *s = "text"; /* text */ int used;`, "text", "used"},
		{"cpp", `auto s = R"(text)"; /* text */ int used;`, "text", "used"},
		{"lua", `s = [[text]] -- text` + "\nused()", "text", "used"},
		{"go", "package a\nvar s = `text` + \"text\" // text\nvar used = 't'", "text", "used"},
	} {
		t.Run(tc.language, func(t *testing.T) {
			r := parse(t, p, tc.language, "x", tc.text)
			code := []byte(tc.text)
			for _, s := range r.Spans {
				copy(code[s.Start:s.End], bytes.Repeat([]byte("·"), int(s.End)))
			}
			if bytes.Contains(code, []byte(tc.hidden)) || !bytes.Contains(code, []byte(tc.used)) {
				t.Errorf("what is left of %s is %s", tc.text, code)
			}
		})
	}
}
