package sessions

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"codesage"
)

func TestLinesAreClassified(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, kind, want string }{
		{"x := S(1)", "any", "function_call 95"},
		{"x.S (1)", "any", "method_call 92"},
		{"x.S(1) + S(2)", "any", "function_call 95"},
		{"func f(a: S)", "any", "type_annotation 85"},
		{"crate::S;", "any", "word_match 60"},
		{"use crate::S;", "any", "use_statement 90"},
		{"fn f() -> S", "any", "return_type 85"},
		{"Vec<S>", "any", "generic_type 85"},
		{"return S {", "any", "type_instantiation 85"},
		{"S = 1", "any", "assignment_target 80"},
		{"S := 1", "any", "assignment_target 80"},
		{"S == 1", "any", "word_match 60"},
		{"S => 1", "any", "word_match 60"},
		{"x = S", "any", "assignment_value 80"},
		{"x := S", "any", "assignment_value 80"},
		{"x == S", "any", "word_match 60"},
		{"x != S", "any", "word_match 60"},
		{"x <= S", "any", "word_match 60"},
		{"S.x", "any", "property_access 85"},
		{"import { S } from 'x'", "any", "python_import 90"},
		{"from a import S", "any", "python_import 90"},
		{"import a.S", "any", "import 90"},
		{"S(x) // import S", "any", "function_call 95"},
		{"S {", "function", "word_match 60"},
		{"S(1)", "type", "word_match 60"},
		{"S(1)", "variable", "word_match 60"},
		{"S = 1", "constant", "assignment_target 80"},
		{"import S", "type", "import 90"},
		{"xS S_ $S 1S SS", "any", ""},
		{"é S é", "any", "word_match 60"},
	} {
		refs := scan("first\n"+tc.line+"\nlast\n", "S", tc.kind)
		got := ""
		if len(refs) == 1 && refs[0].line == 2 {
			got = fmt.Sprintf("%s %d", refs[0].pattern, refs[0].base)
		}
		if got != tc.want {
			t.Errorf("%q as %s: got %q (%d lines), want %q", tc.line, tc.kind, got, len(refs), tc.want)
		}
	}
}

func TestConfidenceIsSummedInHundredths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line, path string
		want       int
	}{
		{"S(1)", "a.go", 95}, {"S(1)", "a_test.go", 100}, {"S(1)", "spec/a.go", 100}, {"// S(1)", "a.go", 65},
		{`"S(1)"`, "a_test.go", 80}, {`"S(1)"`, "a.md", 50}, {"# S", "a.md", 5}, {"* S", "a.rst", 5}, {`f("x", S)`, "a.go", 60},
		{`f("S", S)`, "a.go", 60}, {`f('S', "S")`, "a.go", 40}, {`don't S won't`, "a.go", 40}, {`don't S`, "a.go", 60}, {`"a\" S"`, "a.go", 40}, {`"a" S "b"`, "a.go", 60},
	} {
		refs := scan(tc.line, "S", "any")
		if len(refs) != 1 {
			t.Fatalf("%q: %d lines", tc.line, len(refs))
		}
		if got := confidence(refs[0].base, tc.path, refs[0].text); got != tc.want {
			t.Errorf("%q in %s: got %d, want %d", tc.line, tc.path, got, tc.want)
		}
	}
}

func TestSpansDecideWhatIsCommentOrString(t *testing.T) {
	t.Parallel()
	spans := []codesage.Span{{Start: 10, End: 20, Kind: codesage.SpanComment}, {Start: 30, End: 40, Kind: codesage.SpanString}}
	for _, tc := range []struct {
		places []int
		want   lineMarks
	}{
		{[]int{5}, lineMarks{}}, {[]int{10}, lineMarks{comment: true}}, {[]int{19, 12}, lineMarks{comment: true}}, {[]int{20}, lineMarks{}},
		{[]int{30, 39}, lineMarks{quoted: true}}, {[]int{12, 33}, lineMarks{quoted: true}}, {[]int{12, 25}, lineMarks{}}, {[]int{99}, lineMarks{}},
	} {
		if got := spanMarks(spans, tc.places); got != tc.want {
			t.Errorf("%v: got %+v, want %+v", tc.places, got, tc.want)
		}
	}
}

func TestScanFindsWhatAWholeWordSearchFinds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"ab", "a", "b", "_", "$", "aba", " ", "\n", "\r\n", "é", ".", "(", "1"}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		for _, symbol := range []string{"ab", "aba", "a.b", "ab ab"} {
			whole := regexp.MustCompile(`(^|[^A-Za-z0-9_$])` + regexp.QuoteMeta(symbol) + `($|[^A-Za-z0-9_$])`)
			var want, got []int
			for i, line := range strings.Split(text, "\n") {
				if whole.MatchString(strings.TrimSuffix(line, "\r")) {
					want = append(want, i+1)
				}
			}
			for _, ref := range scan(text, symbol, "any") {
				got = append(got, ref.line)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q in %q: got lines %v, want %v", symbol, text, got, want)
			}
		}
	}
}

func TestAFileOfOneLongLineEndsSoon(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("S S\"", 500_000)
	if refs := scan(text, "S", "any"); len(refs) != 1 {
		t.Errorf("got %d lines", len(refs))
	}
}
