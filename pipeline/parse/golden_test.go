package parse

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"codesage"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares what is found in testdata/<language>/ with the file
// golden beside each input.
func TestGolden(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	folders, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		inputs, _ := filepath.Glob(filepath.Join("testdata", folder.Name(), "[iI]nput.*"))
		for _, input := range inputs {
			t.Run(folder.Name(), func(t *testing.T) {
				language := strings.Replace(folder.Name(), "tsx", "typescript", 1)
				text, err := os.ReadFile(input)
				if err != nil {
					t.Fatal(err)
				}
				r, err := p.Parse(t.Context(), language, input, text)
				if err != nil || r.Skip != "" {
					t.Fatalf("got %q, %v", r.Skip, err)
				}
				checkResult(t, r, text)
				compareGolden(t, filepath.Join(filepath.Dir(input), "golden"), render(r, text))
			})
		}
	}
}

// checkResult checks what holds for every file.
func checkResult(t *testing.T, r Result, text []byte) {
	t.Helper()
	lines, start := bytes.Count(text, []byte("\n"))+1, 0
	for _, e := range r.Entities {
		last := e.EndByte - 1
		if e.Type == codesage.EntityDocSection { // may end with empty lines
			last++
		}
		switch {
		case e.StartByte < start || e.StartByte >= e.EndByte || e.EndByte > len(text):
			t.Errorf("%+v: bytes out of order or range", e)
		case e.LineStart != 1+bytes.Count(text[:e.StartByte], []byte("\n")) || e.LineEnd != 1+bytes.Count(text[:last], []byte("\n")) || e.LineEnd > lines:
			t.Errorf("%+v: lines are not those of the bytes", e)
		case e.NameLine != 0 && (e.NameLine < e.LineStart || e.NameLine > e.LineEnd):
			t.Errorf("%+v: the name is outside", e)
		case e.Name == "" || e.Signature == "" || !utf8.ValidString(e.Name+e.Description+e.Signature) || strings.ContainsAny(e.Name+e.Description+e.Signature, "\r\n"):
			t.Errorf("%+v: text is empty or not one valid line", e)
		case utf8.RuneCountInString(e.Signature) > maxSignature:
			t.Errorf("%s: signature of %d bytes", e.Name, len(e.Signature))
		}
		start = e.StartByte
	}
	last := uint32(0)
	for _, s := range r.Spans {
		if s.Start < last || s.Start >= s.End || int(s.End) > len(text) {
			t.Errorf("span %+v behind %d", s, last)
		}
		last = s.End
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func render(r Result, text []byte) string {
	var b strings.Builder
	for _, e := range r.Entities {
		fmt.Fprintf(&b, "%d-%d", e.LineStart, e.LineEnd)
		if e.NameLine != 0 {
			fmt.Fprintf(&b, " (%d)", e.NameLine)
		}
		fmt.Fprintf(&b, " %s %s\n    %s\n    %s\n", e.Type, e.Name, e.Description, e.Signature)
	}
	for _, s := range r.Spans {
		kind := "comment"
		if s.Kind == codesage.SpanString {
			kind = "string"
		}
		fmt.Fprintf(&b, "%s %q\n", kind, text[s.Start:s.End])
	}
	return b.String()
}
