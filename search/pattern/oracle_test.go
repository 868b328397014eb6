package pattern

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// oracle says which lines match, as Python's regex module has it. An answer
// that begins with "error" is the message of a pattern that does not compile.
func oracle(t *testing.T, patterns []string, lines [][]string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import regex").Run() != nil {
		t.Skip("python3 with the module regex is not installed")
	}
	const script = `
import json, regex, sys, warnings
warnings.simplefilter('ignore')
patterns, lines = json.load(sys.stdin)
out = []
for p, ls in zip(patterns, lines):
    try:
        c = regex.compile(p)
    except Exception as e:
        out.append('error ' + str(e))
        continue
    answer = ''
    for l in ls:
        try:
            answer += '1' if c.search(l, timeout=1) else '0'
        except TimeoutError:
            answer += '?'
    out.append(answer)
json.dump(out, sys.stdout)
`
	input, err := json.Marshal([]any{patterns, lines})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-X", "utf8", "-c", script)
	cmd.Stdin = strings.NewReader(string(input))
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("run python3: %v", err)
	}
	var answers []string
	if err := json.Unmarshal(output, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// answer is what this package says in the form of the oracle.
func answer(pattern string, lines []string) string {
	m, err := Regexp(pattern)
	if err != nil {
		return "error " + err.Error()
	}
	var b strings.Builder
	for _, l := range lines {
		switch ok, err := m.MatchLine(l, time.Now().Add(time.Second)); {
		case err != nil:
			b.WriteByte('?')
		case ok:
			b.WriteByte('1')
		default:
			b.WriteByte('0')
		}
	}
	return b.String()
}

// A generator makes random patterns and lines of a small alphabet, so that they
// often match.
type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) line() string {
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteString(g.pick("a", "a", "b", "b", "c", "A", "B", "_", " ", ".", "-", "1", "é", "É", "ß", "K", "k", "ſ", "s", "İ", "i", "日", "٣", "\u00a0", "\t", "\u0301", "😀"))
	}
	return b.String()
}

func (g generator) atom(depth int) string {
	if depth <= 0 || g.IntN(3) > 0 {
		return g.pick("a", "b", "c", "a", "b", "A", "é", "k", "i", "日", ".", `\w`, `\W`, `\d`, `\s`, `\S`, `\b`, `\B`, "^", "$", `\A`, `\Z`,
			"[ab]", "[^a]", `[\w-]`, `[^\W_]`, "[a-z]", "[[:alpha:]]", "[[:^upper:]]", `\p{Lu}`, `\P{L}`, `\p{^Greek}`, "_", `\.`, `\x61`, `\u00e9`, `\m`, `\M`, "[é-ü]")
	}
	in := g.alternation(depth - 1)
	return g.pick("(?:"+in+")", "("+in+")", "("+in+")", "(?i:"+in+")", "(?="+in+")", "(?!"+in+")", "(?<="+in+")", "(?<!"+in+")", "(?>"+in+")")
}

func (g generator) alternation(depth int) string {
	s := g.sequence(depth)
	for range g.IntN(3) / 2 {
		s += "|" + g.sequence(depth)
	}
	return s
}

func (g generator) sequence(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.atom(depth))
		if g.IntN(3) == 0 {
			b.WriteString(g.pick("*", "+", "?", "{2}", "{,2}", "{1,}", "{0,3}"))
			b.WriteString(g.pick("", "", "", "?", "+"))
		}
	}
	return b.String()
}

func (g generator) pattern() string {
	p := g.alternation(3)
	if n := strings.Count(p, "(") - strings.Count(p, "(?"); n > 0 && g.IntN(2) == 0 {
		p += fmt.Sprintf(`\%d`, 1+g.IntN(n))
	}
	return g.pick("", "", "", "(?i)", "(?a)", "(?ai)", "(?m)") + p
}

// oddCased reports whether a pattern asks for a sort of cased letter while case
// is ignored in ASCII. There regex's search and match contradict each other.
func oddCased(pattern string) bool {
	ignores := strings.Contains(pattern, "(?i") || strings.Contains(pattern, "(?ai")
	cased := strings.Contains(pattern, "Lu") || strings.Contains(pattern, "upper")
	return ignores && cased && strings.Contains(pattern, "(?a")
}

func TestRandomPatternsMatchAsPythonsRegexDoes(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(7, 11))}
	const rounds = 1000
	patterns, lines := make([]string, rounds), make([][]string, rounds)
	for i := range patterns {
		for patterns[i] == "" || oddCased(patterns[i]) {
			patterns[i] = g.pattern()
		}
		lines[i] = make([]string, 12)
		for j := range lines[i] {
			lines[i][j] = g.line()
		}
	}
	failed := 0
	for i, want := range oracle(t, patterns, lines) {
		got := answer(patterns[i], lines[i])
		if strings.HasPrefix(want, "error") && strings.HasPrefix(got, "error") || got == want || strings.Contains(got+want, "?") {
			continue
		}
		if failed++; failed < 20 {
			t.Errorf("%q: got %s, want %s\nlines %q", patterns[i], got, want, lines[i])
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d patterns differ", failed, rounds)
	}
}

// Whatever the index leaves out has no matching line, and Scan finds the lines
// that MatchLine accepts.
func TestIndexAndScanNeverMissALine(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(3, 5))}
	for range 600 {
		expr := g.pattern()
		m, err := Regexp(expr)
		if err != nil {
			continue
		}
		var lines []string
		for range 8 {
			lines = append(lines, g.line())
		}
		var want, got []int
		for i, l := range lines {
			if ok, err := m.MatchLine(l, time.Time{}); err != nil {
				t.Fatal(err)
			} else if ok {
				want = append(want, i+1)
			}
		}
		text := strings.Join(lines, "\r\n") + "\r\n"
		err = m.Scan(text, time.Time{}, func(n int, line string) bool {
			got = append(got, n)
			if line != lines[n-1] {
				t.Errorf("%q: line %d is %q, want %q", expr, n, line, lines[n-1])
			}
			return true
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: Scan found %v (%v), want %v in %q", expr, got, err, want, text)
		}
		if len(want) > 0 && m.IndexExpr() != "" && !found(t, m.IndexExpr(), text) {
			t.Errorf("%q: the index expression %q misses %q", expr, m.IndexExpr(), text)
		}
	}
}
