package index_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
)

var trigramTexts = []string{
	"", "ab", "abc", "ABC def", "func (c *Client) Do(req *Request)", "x \u212aelvin \u017fhallowwithout y",
	"TODO(rsc): remove", "todo(x): delete", "package http\n", "tcp6Listener StatusOK statusnotfound", "aaaab aab",
	"foo qux ba\xffr", "naïve Größe GRÖSSE", "日本語", "if err == io.EOF || errors.Is(err, io.EOF)",
	"123-45-6789", "ReadFrom WriteTo", "a.b.c", "foobarbaz foobaz", "\xef\xbf\xbd replacement",
}

var trigramExprs = []string{
	`func \(\w+ \*Client\) Do\(`, `(?i)shallowwith(state|out)`, `(?i)kelvin`, `err(or)?s?\.(Is|As)\(err, io\.EOF`,
	`[0-9]{3}-[0-9]{2}-[0-9]{4}`, `tcp[46]?Listener`, `(?i)STATUS(ok|NotFound)`, `a{2,5}b`, `a{3,}b`, `^package http$`,
	`(?m)^package (http|net)$`, `x|`, `(foo|ba[rz])\s*qu?x`, `Read(er|From)|Write(r|To)`, `(?i)größe`, `日本語`, `ba.r`, "ba\ufffdr",
	`[^a]bc`, `(foo)+bar(baz)*`, `(foo){2}`, `foo(bar)?baz`, `()`, `a*b+c?`, `\babc\b`, `(?s)package.http`, `[a-z]{3}`, `(abc|def|ABC def)`,
	`(?:a|b|c|d|e|f)(?:a|b|c|d|e|f)(?:a|b|c|d|e|f)`, `\x{212a}elvin`, `ſhallow`, `(?i)ſhallow`, `[kK]elvin|[\x{212a}]elvin`,
}

// TestCandidatesMissNoFile compares candidates with every file that matches, in
// segments with deleted files.
func TestCandidatesMissNoFile(t *testing.T) {
	t.Parallel()
	var parts []index.Part
	var live []string
	for i := range 2 {
		var files []index.File
		p := index.Part{}
		for n, text := range trigramTexts {
			path := fmt.Sprintf("%d/%02d", i, n)
			files = append(files, index.File{Path: path, Text: text})
			if n%5 == 3 {
				p.Deleted.Add(n)
			} else {
				live = append(live, path)
			}
		}
		p.Segment = writeSegment(t, segPath(t, i), chunkSchema, files)
		parts = append(parts, p)
	}
	x := newIndex(t, parts...)
	for _, expr := range trigramExprs {
		q, err := index.Regexp(expr)
		if err != nil {
			t.Fatal(err)
		}
		got := candidates(t, x, q)
		re := regexp.MustCompile(expr)
		for _, p := range live {
			var n int
			fmt.Sscanf(p[2:], "%d", &n)
			if re.MatchString(trigramTexts[n]) && !slices.Contains(got, p) {
				t.Errorf("%s matches %q, which is no candidate", expr, trigramTexts[n])
			}
		}
		for _, p := range got {
			if !slices.Contains(live, p) {
				t.Errorf("%s: candidate %s is deleted", expr, p)
			}
		}
	}
	if got := candidates(t, x, index.TriQuery{}); !slices.Equal(got, live) {
		t.Errorf("all files: %v, want %v", got, live)
	}
}

func candidates(t *testing.T, x *index.Index, q index.TriQuery) (paths []string) {
	t.Helper()
	err := x.Candidates(context.Background(), q, func(f *index.FileMatch) error {
		paths = append(paths, f.Path())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestCandidatesAreFew guards against queries that hold for every file.
func TestCandidatesAreFew(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		q    index.TriQuery
		want []string
	}{
		{"literal", index.Literal("Client"), []string{trigramTexts[4]}},
		{"literal in another case", index.Literal("cLIENT"), []string{trigramTexts[4]}},
		{"folded literal", mustRegexp(t, `(?i)KELVIN`), []string{trigramTexts[5]}},
		{"alternatives", mustRegexp(t, `Read(er|From)|Write(r|To)`), []string{"ReadFrom WriteTo"}},
		{"optional part", mustRegexp(t, `tcp[46]?Listener`), []string{trigramTexts[9]}},
		{"repeats", mustRegexp(t, `a{4}b`), []string{"aaaab aab"}},
		{"any between", mustRegexp(t, `func.*Request`), []string{trigramTexts[4]}},
		{"nothing", index.Literal("nowhere"), nil},
	} {
		var got []string
		for _, text := range trigramTexts {
			if tc.q.Holds(text) {
				got = append(got, text)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: holds for %q, want %q", tc.name, got, tc.want)
		}
	}
}

func mustRegexp(t *testing.T, expr string) index.TriQuery {
	t.Helper()
	q, err := index.Regexp(expr)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func FuzzRegexpTrigrams(f *testing.F) {
	for i, expr := range trigramExprs {
		f.Add(expr, trigramTexts[i%len(trigramTexts)])
	}
	for _, expr := range trigramExprs {
		for _, text := range trigramTexts {
			checkTrigrams(f, expr, text)
		}
	}
	f.Fuzz(func(t *testing.T, expr, text string) { checkTrigrams(t, expr, text) })
}

// checkTrigrams fails when a text matches and its trigrams do not.
func checkTrigrams(t testing.TB, expr, text string) {
	t.Helper()
	re, err := regexp.Compile(expr)
	if err != nil || len(expr) > 1000 {
		return
	}
	q, err := index.Regexp(expr)
	if err != nil {
		t.Fatalf("%q compiles as a regular expression and not as a query: %v", expr, err)
	}
	if re.MatchString(text) && !q.Holds(text) {
		t.Errorf("%q matches %q, whose trigrams it does not allow", expr, text)
	}
	if strings.Contains(text, expr) && !index.Literal(expr).Holds(text) {
		t.Errorf("%q contains %q, whose trigrams it has not", text, expr)
	}
	folded := "(?i)" + regexp.QuoteMeta(expr)
	if q, err = index.Regexp(folded); err != nil {
		return // not UTF-8
	}
	if regexp.MustCompile(folded).MatchString(text) && !q.Holds(text) {
		t.Errorf("%q contains %q without regard to case, whose trigrams it has not", text, expr)
	}
}
