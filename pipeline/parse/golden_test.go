package parse

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
				compareGolden(t, filepath.Join(filepath.Dir(input), "golden"), render(r, text))
			})
		}
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
