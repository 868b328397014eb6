package pattern

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPatternsMeanWhatPythonsRegexMakesOfThem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, line string
		want          bool
	}{
		{`createStoreImpl`, "const createStoreImpl = 1", true},
		{`TODO|FIXME`, "// FIXME: x", true},
		{`^\w+$`, "größe", true},
		{`\bé`, "xé", false},
		{`\bé`, "x é", true},
		{`\d`, "٣", true},
		{`(?a)\d`, "٣", false},
		{`a\sb`, "a\u00a0b", true},
		{`^a{,2}$`, "aa", true},
		{`^a{,2}$`, "aaa", false},
		{`^a{ 1 , 2 }$`, "aa", true},
		{`^a{x}$`, "a{x}", true},
		{`foo\Z`, "foo", true},
		{`foo\z`, "foo ", false},
		{`(?P<q>['"])x(?P=q)`, `'x'`, true},
		{`(?P<q>['"])x(?P=q)`, `'x"`, false},
		{`(?<q>a)\g<q>`, "aa", true},
		{`(a)|b\1`, "b", false},
		{`(?>a+)a`, "aaa", false},
		{`a++a`, "aaa", false},
		{`a*+b`, "aaab", true},
		{`foo(?!bar)`, "foobar", false},
		{`foo(?!bar)`, "foobaz foobar", true},
		{`(?<=a+)b`, "aaab", true},
		{`(?<!x|yz)d`, "yzd", false},
		{`(?i)straße`, "STRAßE", true},
		{`(?i)ß`, "ss", false},
		{`(?i)k`, "\u212a", true},
		{`(?i)i`, "İ", true},
		{`a(?i)b`, "aB", true},
		{`a(?i)b`, "AB", false},
		{`(?i:a)b`, "Ab", true},
		{`(?x) a b # comment`, "ab", true},
		{`(?x)[ ]`, " ", true},
		{`(a)?(?(1)b|c)$`, "ab", true},
		{`^(a)?(?(1)b|c)$`, "ac", false},
		{`^(?(?=a)ab|cd)$`, "cd", true},
		{`(?|(a)|(b))\1`, "bb", true},
		{`(?#note)a`, "a", true},
		{`\x41\u0042\U00000043\103`, "ABCC", true},
		{`[[:alpha:]_]+`, "é", true},
		{`[:alpha:]`, "p", true},
		{`[]a]`, "]", true},
		{`[^]a]`, "]", false},
		{`[a&&b]`, "&", true},
		{`\p{Lu}\p{Greek}\P{L}`, "Aα1", true},
		{`\p{Script=Han}`, "日", true},
		{`\mab\M`, "x ab.", true},
		{`\mab\M`, "xab", false},
		{`a\Kb`, "ab", true},
		{`\Gb`, "ab", false},
		{`\R`, "a\u2028b", true},
		{`(*FAIL)|a`, "a", true},
		{`$`, "", true},
		{`\B`, "a", false},
		{`x{1001}`, strings.Repeat("x", 1001), true},
		{`x{1001}`, strings.Repeat("x", 1000), false},
		{`(?:x{40}){40}`, strings.Repeat("x", 1600), true},
		{`(?m)^b$`, "b", true},
		{`\n`, "a", false},
		{`[^a]`, "a", false},
	} {
		m, err := Regexp(tc.pattern)
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
			continue
		}
		if got, err := m.MatchLine(tc.line, time.Now().Add(time.Minute)); got != tc.want || err != nil {
			t.Errorf("%q on %.20q: got %v %v, want %v", tc.pattern, tc.line, got, err, tc.want)
		}
	}
}

// Messages and positions are those of regex, where it refuses too.
func TestRefusedPatternsSayWhy(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`(`:                "missing ) at position 1",
		`)`:                "unbalanced parenthesis at position 0",
		`[a`:               "unterminated character set at position 2",
		`[`:                "unterminated character set at position 1",
		`[z-a]`:            "bad character range at position 4",
		`*a`:               "nothing to repeat at position 0",
		`a|*`:              "nothing to repeat at position 2",
		`a**`:              "multiple repeat at position 2",
		`a{2}{3}`:          "multiple repeat at position 4",
		`a{2,1}`:           "min repeat greater than max repeat at position 2",
		`x{99999999999}`:   "repeat count too big at position 2",
		`\q`:               `bad escape \q at position 2`,
		`[\q]`:             `bad escape \q at position 3`,
		`\`:                "bad escape (end of pattern) at position 1",
		`\x4`:              `incomplete escape \x4 at position 2`,
		`\U00110000`:       `bad hex escape \U00110000 at position 2`,
		`\1`:               "invalid group reference at position 2",
		`(a)\2`:            "invalid group reference at position 5",
		`(a\1)`:            "cannot refer to an open group at position 4",
		`(?P=a)`:           "unknown group at position 3",
		`(?P<1a>x)`:        "bad character in group name at position 6",
		`(?P<>x)`:          "missing group name at position 4",
		`(?P<a`:            "missing > at position 5",
		`(?Px)`:            "unknown extension at position 3",
		`(?z)a`:            "unknown extension at position 2",
		`(?i-i:a)`:         "bad inline flags: flag turned on and off at position 5",
		`(?i-)x`:           "bad inline flags: no flags after '-' at position 4",
		`(a)(?(1)b|c|d)`:   "missing ) at position 11",
		`(*X)`:             "unknown verb at position 2",
		`\p{Foo}`:          "unknown property at position 7",
		`[[:foo:]]`:        "unknown property at position 8",
		`\L<x>`:            "undefined named list at position 1",
		`a{else}`:          "expected } at position 3",
		`(?:foo){e<=1}`:    "fuzzy matching is not supported at position 7",
		`(foo){i<=1,d,s}`:  "fuzzy matching is not supported at position 5",
		`a{1<e<3}`:         "fuzzy matching is not supported at position 1",
		`a{2i+2d<=4}`:      "fuzzy matching is not supported at position 1",
		`a{1}{e}`:          "nothing for fuzzy constraint at position 4",
		`[a-z--[aeiou]]`:   "set operations are not supported at position 0",
		`[a-z&&[^aeiou]]`:  "set operations are not supported at position 0",
		`[[a-z]--[aeiou]]`: "set operations are not supported at position 0",
		`[\w--\d]`:         "set operations are not supported at position 0",
		`(?V1)[a]`:         "version 1 behaviour (set operations, full case-folding) is not supported at position 2",
		`(?w)a`:            "the flag w is not supported at position 2",
		`(?R)`:             "recursive patterns are not supported at position 2",
		`(?&x)`:            "recursive patterns are not supported at position 2",
		`(*PRUNE)a`:        "the verb (*PRUNE) is not supported at position 2",
		`\X`:               `grapheme clusters (\X) are not supported at position 1`,
		`\N{DIGIT ONE}`:    `named characters (\N{…}) are not supported at position 1`,
		strings.Repeat("(", 300) + strings.Repeat(")", 300): "too many nested groups at position 200",
	} {
		_, err := Regexp(pattern)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%.30q: got %q, want %q", pattern, got, want)
		}
	}
}

func TestExpressiblePatternsRunOnTheLinearEngine(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		`TODO|FIXME`: true, `\bfoo\b`: true, `(?i)a+?b{2,3}`: true, `(x)(?P<n>y)`: true, `\w+\(`: true,
		`a++`: false, `(?=a)b`: false, `(a)\1`: false, `(?>a)`: false, `x{1001}`: false,
	} {
		m, err := Regexp(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if _, linear := m.ascii.(*program); linear != want {
			t.Errorf("%q: linear %v, want %v", pattern, linear, want)
		}
	}
}

func scan(t *testing.T, m *Matcher, text string) (lines []string) {
	t.Helper()
	err := m.Scan(text, time.Time{}, func(n int, line string) bool {
		lines = append(lines, fmt.Sprintf("%d:%s", n, line))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestScanCountsLinesByLFAndDropsCR(t *testing.T) {
	t.Parallel()
	text := "package w\r\n\r\nfunc Four() {\r\n\u2028\x0c{\x85}\nlast {"
	brace, err := Regexp(`\{$`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Regexp(``)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		m    *Matcher
		want []string
	}{
		{"anchored", brace, []string{"3:func Four() {", "5:last {"}},
		{"literal", Literal("{"), []string{"3:func Four() {", "4:\u2028\x0c{\x85}", "5:last {"}},
		{"CR is not part", Literal("\r"), nil},
		{"no literal spans lines", Literal("w\n"), nil},
		{"empty", all, []string{"1:package w", "2:", "3:func Four() {", "4:\u2028\x0c{\x85}", "5:last {"}},
	} {
		if diff := cmp.Diff(tc.want, scan(t, tc.m, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if got := scan(t, all, ""); got != nil {
		t.Errorf("an empty text has lines %v", got)
	}
}

func TestScanOverManyWindowsFindsEveryLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40_000 {
		if i%1000 == 999 {
			b.WriteString(strings.Repeat("long ", 20_000))
		}
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	m, err := Regexp(`line \d*77$`)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Matcher{m, Literal("77\n"[:2])} {
		for _, l := range scan(t, m, b.String()) {
			number, text, _ := strings.Cut(l, ":")
			if !strings.HasSuffix(text, "line "+number) {
				t.Fatalf("line %s is %.40q", number, text)
			}
		}
	}
	if got := len(scan(t, m, b.String())); got != 400 {
		t.Errorf("got %d lines, want 400", got)
	}
}

func TestDeadlineEndsEveryEngine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, pattern, text string }{
		{"backtracking", `^(?=(a+)+b)`, strings.Repeat("a", 40)},
		{"large program, long line", `(?:(?:a?){30}){30}b`, strings.Repeat("a", 900_000)},
		{"many lines", `x(?:(?:a?){30}){30}b$`, strings.Repeat("x"+strings.Repeat("a", 80)+"bx\n", 12_000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m, err := Regexp(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err = m.Scan(tc.text, began.Add(300*time.Millisecond), func(int, string) bool { return true })
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
			if !errors.Is(err, ErrTimeout) {
				t.Errorf("got %v, want ErrTimeout", err)
			}
		})
	}
}

func FuzzRegexp(f *testing.F) {
	for _, p := range []string{`a{1,2}?`, `(?P<a>[^\W\d])(?P=a)`, `(?x)( #\n)`, `[[:alpha:]-\x]`, `(?(1)a)`, `\p{`, `(?|(a)|b)`, "\u00a0{", `\g<1>`} {
		f.Add(p, "aé b_1")
	}
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if len(pattern) > 200 || len(line) > 200 {
			return
		}
		line = strings.ToValidUTF8(strings.ReplaceAll(line, "\n", ""), "")
		m, err := Regexp(strings.ToValidUTF8(pattern, ""))
		if err != nil {
			return
		}
		matches, err := m.MatchLine(line, time.Now().Add(time.Second))
		if err == nil && matches && m.IndexExpr() != "" && !found(t, m.IndexExpr(), line) {
			t.Fatalf("%q: the index expression %q misses %q", pattern, m.IndexExpr(), line)
		}
	})
}
