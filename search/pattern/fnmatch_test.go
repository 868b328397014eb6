package pattern

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// The expected values are those of CPython's fnmatch.fnmatchcase.
func TestFNMatchIsPythons(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		glob, name string
		want       bool
	}{
		{"[!a]*.go", "b.go", true}, {"[!a]*.go", "a.go", false}, {"*.go", "dir/x.go", true}, {"src/*.go", "src/a/b.go", true},
		{"[]a]x", "]x", true}, {"a[", "a[", true}, {"[a-", "[a-", true}, {"*.py", "a.py\n", false}, {`foo\*`, "foo*", false},
		{"[^a]x", "bx", false}, {"[^a]x", "^x", true}, {"[b-a]", "a", false}, {"?", "é", true}, {"*.py", "A.PY", false},
		{"*.go", "a.go", true}, {"*.go", "b/c.go", true}, {"*.go", ".x.go", true}, {"*.go", "a.go\n", false},
		{strings.Repeat("?", 1_000_000), "a", false}, {strings.Repeat("*", 1_000_000) + "a", "ba", true},
		{strings.Repeat("[ab]", 16_000), "ab", false}, {"[" + strings.Repeat("a-c", 100_000) + "]", "b", true},
		{"[!b-a]", "x", true}, {"[[]", "[", true}, {"[a-b-c]", "-", true}, {`[\]`, `\`, true}, {"**", "", true}, {"{a,b}.go", "a.go", false},
	} {
		if got := NewFNMatch(tc.glob).Match(tc.name); got != tc.want {
			t.Errorf("fnmatch(%q, %.30q): got %v, want %v", tc.name, tc.glob, got, tc.want)
		}
	}
}

func TestRandomGlobsMatchAsPythonsFNMatchDoes(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	g := generator{rand.New(rand.NewPCG(1, 9))}
	random := func(n int, of ...string) string {
		var b strings.Builder
		for range g.IntN(n) {
			b.WriteString(g.pick(of...))
		}
		return b.String()
	}
	var cases [][2]string
	for range 20000 {
		cases = append(cases, [2]string{
			random(7, "a", "b", "-", "/", "*", "?", "[", "]", "!", "^", `\`, "é", "[", "]", "-", "&&", "\n"),
			random(4, "a", "b", "-", "/", "[", "]", "!", "^", `\`, "é", "&", "\n"),
		})
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "-c",
		"import fnmatch, json, sys; json.dump([fnmatch.fnmatchcase(n, g) for g, n in json.load(sys.stdin)], sys.stdout)")
	cmd.Stdin = strings.NewReader(string(input))
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("run python3: %v", err)
	}
	var want []bool
	if err := json.Unmarshal(output, &want); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got := NewFNMatch(c[0]).Match(c[1]); got != want[i] {
			t.Errorf("fnmatch(%q, %q): got %v, want %v", c[1], c[0], got, want[i])
		}
	}
}
