package difflib

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage/cputest"
)

// The expected values are those of CPython 3.11.7.
func TestRatioIsPythons(t *testing.T) {
	t.Parallel()
	text := strings.TrimSuffix(strings.Repeat("the quick brown fox jumps over the lazy dog and keeps running ", 5), " ")
	changed := strings.Replace(text, "keeps running", "keeps on running", 1)
	long := strings.Repeat("a", 300)
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{text, changed, 0.17391304347826086},
		{"b" + long, long, 0},
		{"abcd", "bcde", 0.75},
		{"tide", "diet", 0.25},
		{"diet", "tide", 0.5},
		{"", "", 1},
		{"", "a", 0},
		{"search_code", "serach_code", 0.9090909090909091},
		{"é/ü", "é/u", 2.0 / 3},
	} {
		if got := newMatcher(tc.b).ratio([]rune(tc.a)); got != tc.want {
			t.Errorf("ratio(%.20q, %.20q): got %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestCloseMatchesArePythons(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		word   string
		names  []string
		n      int
		cutoff float64
		want   []string
	}{
		{"appel", []string{"ape", "apple", "peach", "puppy"}, 3, 0.6, []string{"apple", "ape"}},
		{"serch_code", []string{"search_code", "list_repositories", "get_file"}, 1, 0.6, []string{"search_code"}},
		{"list_session", []string{"list_sessions", "list_repositories", "list_dir"}, 3, 0.6, []string{"list_sessions", "list_repositories", "list_dir"}},
		{"a", nil, 3, 0.6, []string{}},
		{"zzz", []string{"abc"}, 3, 0.6, []string{}},
		{"", []string{"", "a"}, 3, 0.6, []string{""}},
		{"ab", []string{"ab", "ab", "abc"}, 2, 0.6, []string{"ab", "ab"}},
	} {
		if diff := cmp.Diff(tc.want, CloseMatches(tc.word, tc.names, tc.n, tc.cutoff)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.word, diff)
		}
	}
}

// randomPath makes a path of few letters, so that many are alike.
func randomPath(r *rand.Rand, length int) string {
	letters := []rune("aabbc/._é")
	var b strings.Builder
	for range 1 + r.IntN(length) {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func TestCloseMatchesEqualPythonOnRandomPaths(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var script, want strings.Builder
	script.WriteString("import difflib, json\n")
	for range 150 {
		length := []int{6, 30, 300}[r.IntN(3)]
		word, names := randomPath(r, length), make([]string, 40)
		for i := range names {
			names[i] = randomPath(r, length)
		}
		n, cutoff := 1+r.IntN(12), []float64{0.4, 0.6}[r.IntN(2)]
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = strconv.Quote(name)
		}
		fmt.Fprintf(&script, "print('|'.join(difflib.get_close_matches(%q, [%s], %d, %g)))\n", word, strings.Join(quoted, ","), n, cutoff)
		fmt.Fprintln(&want, strings.Join(CloseMatches(word, names, n, cutoff), "|"))
	}
	cmd := exec.Command(python, "-X", "utf8", "-")
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run python3: %v", err)
	}
	if diff := cmp.Diff(string(out), want.String()); diff != "" {
		t.Errorf("matches (-python +got):\n%s", diff)
	}
}

func TestCloseMatchesAreQuickOverManyPaths(t *testing.T) {
	t.Parallel()
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("services/module_%03d/internal/handlers/handler_%d_test.go", i%500, i)
	}
	var got []string
	took := cputest.Of(func() {
		got = CloseMatches("services/module_123/internal/handler/handler_4123_test.go", names, 10, 0.4)
	})
	if len(got) != 10 {
		t.Errorf("got %d names, want 10", len(got))
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	t.Log(took)
}
