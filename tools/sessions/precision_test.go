package sessions

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The lines have been read by a person; a line that is classified in another way
// than when it was read must be read again.
func TestHighReferencesAreTrueInNinetyOfAHundred(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/precision.tsv")
	if err != nil {
		t.Fatal(err)
	}
	right, all := 0, 0
	for _, row := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.SplitN(row, "\t", 6)
		verdict, symbol, place, pattern, line := f[0], f[1], f[2], f[3], f[5]
		want, err := strconv.Atoi(f[4])
		if err != nil || want < highLevel {
			t.Fatalf("%s: confidence %q", place, f[4])
		}
		all++
		if verdict == "yes" {
			right++
		}
		path, _, _ := strings.Cut(place, ":")
		refs := scan(line, symbol, "any")
		if len(refs) != 1 {
			t.Errorf("%s: %s is found in %d lines of %q", place, symbol, len(refs), line)
			continue
		}
		if got := confidence(refs[0].base, path, refs[0].text); refs[0].pattern != pattern || got != want {
			t.Errorf("%s: %s %d, was %s %d when it was checked: %q", place, refs[0].pattern, got, pattern, want, line)
		}
	}
	if all != 100 || right < 90 {
		t.Errorf("%d of %d are true references, want 90 of 100", right, all)
	}
	t.Logf("%d of %d", right, all)
}
