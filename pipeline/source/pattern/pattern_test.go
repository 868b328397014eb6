package pattern

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		yes, no string // paths, separated by spaces
	}{
		{"*.go", "a.go d/a.go .go d/e/.x.go", "a.god a.Go go"},
		{"src/*.ts", "src/a.ts src/d/a.ts", "a.ts xsrc/a.ts"},
		{"**/*.ts", "a.ts d/a.ts d/e/a.ts", "a.tsx"},
		{"src/**/*.ts", "src/a.ts src/d/a.ts src/d/e/a.ts", "a.ts src.ts"},
		{"**/test_*.py", "test_a.py d/test_a.py test_d/a.py", "d/xtest_a.py contest_a.py"},
		{"**/target/**", "target/a d/target/a d/target/e/a", "target d/target xtarget/a targetx/a"},
		{"**", "a a/b", ""},
		{"a/**", "a/ a/b a/b/c", "a ab"},
		{"**/b", "b a/b a/c/b", "ab a/xb"},
		{"a/**/**/b", "a/b a/x/b", "a/xb"},
		{"a?c", "abc a/c aéc", "ac abbc"},
		{"[abc].go", "a.go c.go", "d.go"},
		{"[a-c]x[!0-9]", "axy bx/ cx-", "dxy ax1"},
		{"[]].go", "].go", "a.go"},
		{"[!]].go", "a.go", "].go"},
		{"[*].go", "*.go", "a.go"},
		{"{a,b}.go", "a.go b.go", "c.go {a,b}.go"},
		{"{src,test}/**/*.{go,ts}", "src/a.go test/d/b.ts", "lib/a.go src/a.js"},
		{"a{,b}c", "ac abc", "abbc"},
		{"{a,{b,c}d}", "a bd cd", "b ad {a,bd}"},
		{"{id}.go", "{id}.go", "id.go i.go"},
		{"[{]a,b[}]", "{a,b}", "a b"},
		{"{[,],x}y", ",y xy", "y"},
		{"héllo*", "héllo héllo/wörld", "hello"},
		{"", "", "a"},
		// braces that are no alternatives stand for themselves
		{"{a,b.go", "{a,b.go", "a.go b.go a,b.go"},
		{"{}", "{}", "a a.go"},
		{"{{a,b}.go", "{{a,b}.go", "a.go b.go {a,b.go {a.go"},
		{"a}.go", "a}.go", "a.go"},
		{"}{", "}{", "a"},
	} {
		p, err := Compile(tc.pattern)
		if err != nil {
			t.Errorf("Compile(%q): %v", tc.pattern, err)
			continue
		}
		for _, path := range strings.Fields(tc.yes) {
			if !p.Match(path) {
				t.Errorf("%q does not match %q", tc.pattern, path)
			}
		}
		for _, path := range strings.Fields(tc.no) {
			if p.Match(path) {
				t.Errorf("%q matches %q", tc.pattern, path)
			}
		}
	}
}

func TestCompileSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, reason string
		pos             int
	}{
		{"[unclosed", badRange, 0},
		{"a[", badRange, 1},
		{"a[]", badRange, 1},
		{"a[!]", badRange, 1},
		{"a***", badWildcards, 3},
		{"a**/b", badRecursive, 0},
		{"a/**b", badRecursive, 4},
		{"**b", badRecursive, 2},
		{"x/{a,b**}", badRecursive, 2},
		{strings.Repeat("{a,b}", 12), tooMany, 0},
		{strings.Repeat("a", 5000), tooLong, maxLength},
	} {
		_, err := Compile(tc.pattern)
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("Compile(%.20q) = %v, want an *Error", tc.pattern, err)
			continue
		}
		if bad.Pattern != tc.pattern || bad.Pos != tc.pos || bad.Reason != tc.reason {
			t.Errorf("Compile(%.20q) = %d %q of %.20q, want %d %q", tc.pattern, bad.Pos, bad.Reason, bad.Pattern, tc.pos, tc.reason)
		}
	}
	const want = "Pattern syntax error near position 0: invalid range pattern"
	if _, err := Compile("[unclosed"); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestMatchTreePrunesOnlyWhatMatchesWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, dir string
		want         bool
	}{
		{"**/target/**", "target", true},
		{"**/target/**", "d/target", true},
		{"**/target/**", "targets", false},
		{"build", "build", true},
		{"build", "d/build", false},
		{"foo?", "foo", false},
		{"*.go", "a", false},
		{"a/*", "a", true},
		{"*", "a", true},
		{"**", "a", true},
	} {
		p, err := Compile(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchTree(tc.dir); got != tc.want {
			t.Errorf("%q.MatchTree(%q) = %v, want %v", tc.pattern, tc.dir, got, tc.want)
		}
	}
}

// slow matches by the definition, trying everything.
func slow(tokens []token, path []rune) bool {
	if len(tokens) == 0 {
		return len(path) == 0
	}
	t := tokens[0]
	switch t.kind {
	case anyText:
		for i := 0; i <= len(path); i++ {
			if slow(tokens[1:], path[i:]) {
				return true
			}
		}
		return false
	case anyParts:
		if len(tokens) == 1 {
			return true
		}
		for i := 0; i <= len(path); i++ {
			if (i == 0 || path[i-1] == '/') && slow(tokens[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && t.takes(path[0]) && slow(tokens[1:], path[1:])
}

func TestMatchAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n int, of ...string) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(of[r.IntN(len(of))])
		}
		return b.String()
	}
	matches := 0
	for range 50000 {
		text := word(8, "a", "b", "/", "*", "?", "**/", "/**/", "[ab]", "[!a]", "é")
		tokens, err := parse(text)
		if err != nil {
			continue
		}
		path := word(9, "a", "b", "/", "é", "ab/")
		got, want := match(tokens, path), slow(tokens, []rune(path))
		if got != want {
			t.Fatalf("%q on %q = %v, want %v", text, path, got, want)
		}
		if got {
			matches++
		}
	}
	if matches < 1000 {
		t.Errorf("only %d matches: the test proves little", matches)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"{a,b.go", "{}", "{{a,b}.go", "a}.go", "{a,{b,c}}", "[{]", "**/{a,b}/**", strings.Repeat("{", 500), strings.Repeat("{a,", 400), strings.Repeat("{", 900) + strings.Repeat("}", 900), "{[,],", "[!"} {
		f.Add(seed, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		start := time.Now()
		if p, err := Compile(pattern); err == nil {
			p.Match(path)
			p.MatchTree(path)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
