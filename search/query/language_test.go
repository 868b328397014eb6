package query

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// testFields cuts at ASCII letters and digits, in lower case, which is enough to
// see what the parser does.
var testFields = ChunkFields{Content: 0, Parts: 1, MaxToken: 40, Words: func(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}}

// show renders a tree with the pair for a single word, whole or part, as the
// word alone and the phrases as they are.
func show(q Query) string {
	switch q := q.(type) {
	case Or:
		if len(q) == 2 {
			a, isTerm := q[0].(Term)
			b, isPart := q[1].(Term)
			if isTerm && isPart && b.Field == 1 && a.Text == b.Text {
				return strings.TrimPrefix(a.String(), "0:")
			}
		}
		return "(" + showAll(q, " OR ") + ")"
	case And:
		return "(" + showAll(q, " AND ") + ")"
	case Not:
		return "(" + show(q.Q) + " NOT " + show(q.Except) + ")"
	case Const:
		return "1:" + show(q.Q)
	case Term:
		return "=" + strings.TrimPrefix(q.String(), "0:")
	case Phrase:
		return strings.TrimPrefix(q.String(), "0:")
	case Prefix:
		return strings.TrimPrefix(q.String(), "0:")
	}
	return q.String()
}

func showAll(qs []Query, sep string) string {
	var list []string
	for _, q := range qs {
		list = append(list, show(q))
	}
	return strings.Join(list, sep)
}

func TestParseChunks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"login", "login"},
		{"  Login ", "login"},
		{"error handling", "(error OR handling)"},
		{"patient AND authentication", "(=patient AND =authentication)"},
		{"login OR signup", "(login OR signup)"},
		{"a OR b AND c", "(a OR (=b AND =c))"},
		{"a AND b c", "((=a AND =b) OR c)"},
		{"patient AND (login OR auth)", "(=patient AND (=login OR =auth))"},
		{"auth NOT dep", "(auth NOT (=dep))"},
		{"auth -dep", "(auth NOT (=dep))"},
		{"auth AND -dep", "(=auth NOT (=dep))"},
		{"auth AND NOT dep", "(=auth NOT (=dep))"},
		{"a b NOT c", "((a OR b) NOT (=c))"},
		{"NOT c a", "(a NOT (=c))"},
		{"a OR NOT b", "(a OR 1:(all NOT (=b)))"},
		{"NOT a OR b", "(1:(all NOT (=a)) OR b)"},
		{"NOT dep", "1:(all NOT (=dep))"},
		{"-dep", "1:(all NOT (=dep))"},
		{"NOT a AND NOT b", "1:(all NOT (=a OR =b))"},
		{"NOT NOT a", "1:(all NOT (1:(all NOT (=a))))"},
		{"NOT (NOT a)", "1:(all NOT (1:(all NOT (=a))))"},
		{"user NOT NOT login", "(user NOT (1:(all NOT (=login))))"},
		{"user NOT (NOT login)", "(user NOT (1:(all NOT (=login))))"},
		{"user NOT -login", "(user NOT (1:(all NOT (=login))))"},
		{"user -(-login)", "(user NOT (1:(all NOT (=login))))"},
		{"user NOT NOT NOT login", "(user NOT (=login))"},
		{"user AND NOT NOT login", "(=user NOT (1:(all NOT (=login))))"},
		{"login AND (NOT user)", "(=login NOT (=user))"},
		{"((NOT user)) AND login", "(=login NOT (=user))"},
		{"login AND (NOT a AND NOT b)", "(=login NOT (=a OR =b))"},
		{"+login +(NOT user)", "(=login NOT (=user))"},
		{"login +(NOT user)", "(1:(all NOT (=user)) AND (login OR all))"},
		{"a OR (NOT b)", "(a OR 1:(all NOT (=b)))"},
		{"NOT (a OR b)", "1:(all NOT ((=a OR =b)))"},
		{"+user login", "(=user AND (login OR all))"},
		{"+user +login", "(=user AND =login)"},
		{"+user -login", "(=user NOT (=login))"},
		{`"a b"`, `"a b"`},
		{`'a b'`, `"a b"`},
		{`"a b" c`, `("a b" OR c)`},
		{`"a \"b\" c"`, `"a b c"`},
		{`"a"`, "=a"},
		{"x^2", "x^2"},
		{`"a b"^3`, `"a b"^3`},
		{"auth*", "auth*"},
		{"*", "1:all"},
		{"read_write", `"read write"`},
		{"a.b", `"a b"`},
		{"C++", "=c"},
		{"and or not", "(and OR or OR not)"},
		{"login?", "login"},
		{"&& a", "(() OR a)"},
		{"content:x", "x"},
		{`content:"a b"`, `"a b"`},
		{"content:(a b)", "(a OR b)"},
		{"file_path:Auth", `1:path~"Auth"`},
		{`file_path:"my dir/x"`, `1:path~"my dir/x"`},
		{"file_path:http AND header", `(1:path~"http" AND =header)`},
		{"NOT file_path:test", `1:(all NOT (1:path~"test"))`},
		{"http://x.org/a", `"http x org a"`},
		{"main()", "=main"},
		{"arr[0]", `"arr 0"`},
		{"std::vec::Vec", `"std vec vec"`},
		{`fmt.Printf("%s")`, `"fmt printf s"`},
		{`a.b("x y") OR c`, `("a b x y" OR c)`},
		{"f(a, b)", `"f a b"`},
		{"key: value", "(key OR value)"},
		{"x > 5", "(x OR () OR 5)"},
		{"[1 TO 5]", "(=1 OR to OR =5)"},
		{"{id}", "=id"},
		{"/users/{id}", `"users id"`},
		{"/users/{id} AND x", `("users id" AND =x)`},
		{"GET /api/users/{id}", `(get OR "api users id")`},
		{"pkg:scope:name", `"pkg scope name"`},
		{"function({arg})", `"function arg"`},
		{"-http://example.com", `1:(all NOT ("http example com"))`},
		{`a && !b`, "(a OR () OR =b)"},
		{"*ptr", "=ptr"},
		{`C:\temp`, `"c temp"`},
		{"NOT(foo)", `"not foo"`},
		{"(a)", "a"},
		{"don't", `"don t"`},
		{strings.Repeat("(", 40) + "x" + strings.Repeat(")", 40), "x"},
		{strings.Repeat(`""`, 250), "(" + strings.TrimSuffix(strings.Repeat("() OR ", 250), " OR ") + ")"},
		{strings.Repeat("q", 40), "()"},
		{`"a ` + strings.Repeat("q", 40) + ` b"`, `"a ? b"`},
	} {
		q, err := ParseChunks(test.text, testFields)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := show(q); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestParseChunksErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", "nothing to search for at character 1"},
		{"AND foo", "operator without a left side at character 1"},
		{"foo AND", "operator without a right side at character 8"},
		{"foo OR", "operator without a right side at character 7"},
		{"foo AND OR bar", "operator without a left side at character 9"},
		{"NOT", "operator without a right side at character 4"},
		{`"open`, "unbalanced quote at character 1"},
		{`é "open`, "unbalanced quote at character 3"},
		{`5" x`, "unbalanced quote at character 2"},
		{"(a", "unbalanced parenthesis at character 1"},
		{"a)", "unbalanced parenthesis at character 2"},
		{"f(a", "unbalanced parenthesis at character 2"},
		{"()", "empty parentheses at character 2"},
		{"a AND ( )", "empty parentheses at character 9"},
		{strings.Repeat("(", 41) + "x" + strings.Repeat(")", 41), "more than 40 nested parentheses at character 41"},
		{strings.Repeat("a", 5000), "query is too long at character 4097"},
	} {
		_, err := ParseChunks(test.text, testFields)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != "Syntax Error: "+test.want {
			t.Errorf("%.50s: got %v, want Syntax Error: %s", test.text, err, test.want)
		}
	}
}

func TestCheckFields(t *testing.T) {
	t.Parallel()
	const tail = "\nValid fields: content, file_path\n"
	for text, want := range map[string]string{
		"file:auth.go": "Invalid query: Unknown field 'file'." + tail + "Hint: Did you mean 'file_path'?\nDetails: Use 'file_path:auth.go' for path matching, or search content directly.",
		"xyz:foo":      "Invalid query: Unknown field 'xyz'." + tail + "Details: Use 'file_path:foo' for path matching, or search content directly.",
		"a Code:foo b": "Invalid query: Unknown field 'Code'." + tail + "Hint: Did you mean 'content'?\nDetails: Use 'file_path:foo' for path matching, or search content directly.",
		`path:"a b"`:   "Invalid query: Unknown field 'path'." + tail + "Hint: Did you mean 'file_path'?\nDetails: Use 'file_path:\"a' for path matching, or search content directly.",
		"日本 größe:1":   "Invalid query: Unknown field 'größe'." + tail + "Details: Use 'file_path:1' for path matching, or search content directly.",
	} {
		if err := CheckFields(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "login", "content:x", "file_path:y", "http://x", "mailto:a@b", "std::vec", "pkg:scope:name", "key: value",
		`"file:x"`, `a "b file:x"`, "a-b:c", "(file:x)", "::", ":x"} {
		if err := CheckFields(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPreprocess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{id}": `\{id\}`, "/users/{id}": `"/users/\{id\}"`, "/users/{id}/roles/{role}": `"/users/\{id\}/roles/\{role\}"`,
		"pkg:scope:name": `"pkg:scope:name"`, "  hello  ": "hello", `"a {b}"`: `"a \{b\}"`, "/users/{id} AND x": `/users/\{id\} AND x`,
	} {
		if got := Preprocess(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func FuzzParseChunks(f *testing.F) {
	for _, text := range []string{"a AND (b OR -c)", `"a \" b"~2^3 c*`, "file_path:(a b) +x", "((((", `f("x`, "NOT NOT NOT", "a:b:c\\", "{'", "\xff(\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		CheckFields(text)
		q, err := ParseChunks(text, testFields)
		if err == nil {
			_ = q.String()
			if n := nodes(q); n > 8*len(text)+8 {
				t.Errorf("%q: a tree of %d nodes", text, n)
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%q took %v", text, took)
		}
	})
}

func nodes(q Query) int {
	n := 1
	switch q := q.(type) {
	case And:
		for _, c := range q {
			n += nodes(c)
		}
	case Or:
		for _, c := range q {
			n += nodes(c)
		}
	case Not:
		n += nodes(q.Q) + nodes(q.Except)
	case Const:
		n += nodes(q.Q)
	}
	return n
}

// formula is a query of a random shape: its text, and what it matches among the
// eight sets of the words a, b and c.
func formula(r *rand.Rand, depth int) (text string, matches func(set int) bool) {
	if depth == 0 || r.IntN(4) == 0 {
		n := r.IntN(3)
		return string(rune('a' + n)), func(set int) bool { return set>>n&1 == 1 }
	}
	group := func(s string) string {
		if strings.ContainsRune(s, ' ') || r.IntN(4) == 0 {
			return "(" + s + ")"
		}
		return s
	}
	x, xMatches := formula(r, depth-1)
	if r.IntN(3) == 0 {
		return "NOT " + group(x), func(set int) bool { return !xMatches(set) }
	}
	y, yMatches := formula(r, depth-1)
	x, y = group(x), group(y)
	switch r.IntN(3) {
	case 0:
		return x + " AND " + y, func(set int) bool { return xMatches(set) && yMatches(set) }
	case 1:
		return x + " OR " + y, func(set int) bool { return xMatches(set) || yMatches(set) }
	}
	return x + " NOT " + y, func(set int) bool { return xMatches(set) && !yMatches(set) }
}

func matches(q Query, set int) bool {
	isHere := func(q Query) bool { return matches(q, set) }
	switch q := q.(type) {
	case Term:
		return q.Field == 0 && set>>(q.Text[0]-'a')&1 == 1
	case And:
		return len(q) > 0 && !slices.ContainsFunc(q, func(q Query) bool { return !matches(q, set) })
	case Or:
		return slices.ContainsFunc(q, isHere)
	case Not:
		return isHere(q.Q) && !isHere(q.Except)
	case Const:
		return isHere(q.Q)
	}
	return true
}

func TestNotIsSetDifferenceAtAnyDepth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text, want := formula(r, 4)
		q, err := ParseChunks(text, testFields)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for set := range 8 {
			if got := matches(q, set); got != want(set) {
				t.Fatalf("%s on %03b: got %v from %s", text, set, got, show(q))
			}
		}
	}
}
