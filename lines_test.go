package codesage_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"codesage"
)

func TestLinesEndAtLFOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"one LF", "\n", []string{""}},
		{"no LF at the end", "a\nb", []string{"a", "b"}},
		{"LF at the end", "a\nb\n", []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"", "", "a", ""}},
		{"CR before LF", "package w\r\n\r\nfunc Four() {\r\n}\r\n", []string{"package w", "", "func Four() {", "}"}},
		{"CR elsewhere", "a\rb\r\r\nc\r", []string{"a\rb\r", "c\r"}},
		{"form feed and U+2028", "a = \"\x0c\"\nb = \"\u2028\"\ndef third(): pass\n", []string{"a = \"\x0c\"", "b = \"\u2028\"", "def third(): pass"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := codesage.NewLineIndex(tc.text)
			if got := codesage.CountLines(tc.text); got != len(tc.want) || x.Lines() != got {
				t.Fatalf("CountLines = %d, Lines = %d, want %d", got, x.Lines(), len(tc.want))
			}
			for i, want := range tc.want {
				if got := x.Text(i + 1); got != want {
					t.Errorf("line %d = %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

func TestLineIndexOutsideTheText(t *testing.T) {
	t.Parallel()
	x := codesage.NewLineIndex("ab\ncd")
	for _, tc := range []struct{ offset, want int }{{-5, 1}, {0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 2}, {99, 2}} {
		if got := x.Line(tc.offset); got != tc.want {
			t.Errorf("Line(%d) = %d, want %d", tc.offset, got, tc.want)
		}
	}
	for _, tc := range []struct{ line, start, end int }{{-1, 0, 0}, {0, 0, 0}, {1, 0, 2}, {2, 3, 5}, {3, 5, 5}, {99, 5, 5}} {
		if start, end := x.Range(tc.line); start != tc.start || end != tc.end {
			t.Errorf("Range(%d) = %d, %d, want %d, %d", tc.line, start, end, tc.start, tc.end)
		}
	}
	if got := codesage.NewLineIndex("ab\n").Line(3); got != 1 {
		t.Errorf("line behind the last LF = %d, want 1: there is no other", got)
	}
	if got := codesage.NewLineIndex("").Line(0); got != 0 {
		t.Errorf("line of an empty text = %d, want 0", got)
	}
}

func TestLineIndexAgreesWithCounting(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString([]string{"\n", "\r\n", "a", "é", "\r", "\u2028"}[r.IntN(6)])
		}
		text := b.String()
		x := codesage.NewLineIndex(text)
		for offset := range len(text) {
			line := x.Line(offset)
			if want := 1 + strings.Count(text[:offset], "\n"); line != want {
				t.Fatalf("%q: Line(%d) = %d, want %d", text, offset, line, want)
			}
			if start := x.Start(line); start > offset || x.Start(line+1) <= offset {
				t.Fatalf("%q: byte %d is not on line %d", text, offset, line)
			}
		}
	}
}
