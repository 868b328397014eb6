package parse

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBrokenFilesGiveValidResults damages the golden inputs: what is found may
// be anything, but in order, in range and valid, and no process may die of it.
func TestBrokenFilesGiveValidResults(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Processes: 1})
	inputs, _ := filepath.Glob("testdata/*/[iI]nput.*")
	random := rand.New(rand.NewPCG(1, 2))
	for _, input := range inputs {
		language := strings.Replace(filepath.Base(filepath.Dir(input)), "tsx", "typescript", 1)
		text, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			broken := damage(random, text)
			r, err := p.Parse(t.Context(), language, input, broken)
			if err != nil || r.Skip != "" {
				t.Fatalf("%s: got %q, %v for\n%s", language, r.Skip, err, broken)
			}
			if checkResult(t, r, broken); t.Failed() {
				t.Fatalf("%s:\n%s", language, broken)
			}
		}
	}
	if p.Restarts() != 0 {
		t.Errorf("got %d restarts", p.Restarts())
	}
}

// damage returns a copy of a text with some stretches cut, moved or overwritten.
func damage(random *rand.Rand, text []byte) []byte {
	b := bytes.Clone(text)
	for range 1 + random.IntN(6) {
		i := random.IntN(len(b))
		j := min(len(b), i+random.IntN(40))
		switch stretch := bytes.Clone(b[i:j]); random.IntN(3) {
		case 0:
			b = slices.Delete(b, i, j)
		case 1:
			b = slices.Insert(b, random.IntN(len(b)), stretch...)
		case 2:
			b[i] = byte(random.IntN(256))
		}
	}
	return b
}
