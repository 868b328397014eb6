package repositories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/search/index"
)

// lines calls find_patterns and returns path:line of each match.
func lines(w *world, args string) string {
	w.Helper()
	var out []string
	for _, m := range decode[patternsResult](w, "find_patterns", `{"repository":"1",`+args+`}`).Matches {
		out = append(out, fmt.Sprintf("%s:%d", m.FilePath, m.Line))
	}
	return strings.Join(out, " ")
}

func TestFindPatternsFindsLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.published(git("pmndrs/zustand"), codesage.Outcome{},
		file{"README.md", "markdown", "Use createStoreImpl\n", nil},
		file{"src/a/b.py", "python", "# TODO: größe\nx = 1  # todo\n", nil},
		file{"src/c.py", "python", "\u00a0\x1ccreateStoreImpl()\x1f\t\r\nFIXME {\r\n", nil},
	)
	w.want("find_patterns", `{"repository":"pmndrs/zustand","pattern":"createStoreImpl","max_results":3}`,
		`{"repository":"pmndrs/zustand","pattern":"createStoreImpl","regex":false,"total_matches":2,"truncated":false,"matches":[
		{"file_path":"README.md","line":1,"text":"Use createStoreImpl"},{"file_path":"src/c.py","line":1,"text":"createStoreImpl()"}]}`)
	for args, want := range map[string]string{
		`"pattern":"TODO"`:                                         "src/a/b.py:1",
		`"pattern":"TODO|FIXME"`:                                   "",
		`"pattern":"TODO|FIXME","regex":"yes"`:                     "src/a/b.py:1 src/c.py:2",
		`"pattern":"(?i)todo","regex":true`:                        "src/a/b.py:1 src/a/b.py:2",
		`"pattern":"(?i)todo","regex":true,"path_glob":"src/*.py"`: "src/a/b.py:1 src/a/b.py:2",
		`"pattern":"create","path_glob":"*.md"`:                    "README.md:1",
		`"pattern":"create","path_glob":"*.MD"`:                    "",
		`"pattern":"create","path_glob":""`:                        "README.md:1 src/c.py:1",
		`"pattern":"\\{$","regex":true`:                            "src/c.py:2",
		`"pattern":"\\bgr\\w+e$","regex":true`:                     "src/a/b.py:1",
		`"pattern":"(?P<a>O)(?!.*(?P=a))","regex":true`:            "src/a/b.py:1",
		`"pattern":"\r"`:                                           "",
		`"pattern":"größe\n"`:                                      "",
	} {
		if got := lines(w, args); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	long := strings.Repeat("p", 201)
	for args, want := range map[string]string{
		`{"repository":"1"}`:                                        "Invalid arguments for 'find_patterns': pattern: Field required",
		`{"repository":"1","pattern":"` + long + `"}`:               "Invalid arguments for 'find_patterns': pattern: String should have at most 200 characters",
		`{"repository":"1","pattern":""}`:                           "Invalid arguments for 'find_patterns': pattern: String should have at least 1 character",
		`{"repository":"1","pattern":"x","max_results":501}`:        "Invalid arguments for 'find_patterns': max_results: Input should be less than or equal to 500",
		`{"repository":"1","pattern":"x","regex":null}`:             "Invalid arguments for 'find_patterns': regex: Input should be a valid boolean",
		`{"repository":"1","pattern":"(","regex":true}`:             "Invalid regular expression: missing ) at position 1",
		`{"repository":"1","pattern":"(?:a){e}","regex":true}`:      "Invalid regular expression: fuzzy matching is not supported at position 5",
		`{"repository":"1","pattern":"[a-z--[aeiou]]","regex":"1"}`: "Invalid regular expression: set operations are not supported at position 0",
	} {
		w.want("find_patterns", args, "error: "+want)
	}
}

func TestFindPatternsStopsAtTheFirstExtraMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.published(git("octo/demo"), codesage.Outcome{},
		file{"a.txt", "text", strings.Repeat("x"+strings.Repeat("é", 400)+"\n", 3), nil}, file{"b.txt", "text", "x\n", nil})
	for n, truncated := range map[int]bool{2: true, 3: true, 4: false, 5: false} {
		got := decode[patternsResult](w, "find_patterns", fmt.Sprintf(`{"repository":"1","pattern":"x","max_results":%d}`, n))
		if got.Truncated != truncated || got.TotalMatches != min(n, 4) || len(got.Matches) != min(n, 4) {
			t.Errorf("%d: got %d matches, truncated %v, want %v", n, got.TotalMatches, got.Truncated, truncated)
		}
		if text := []rune(got.Matches[0].Text); len(text) != 300 {
			t.Errorf("got %d characters, want 300", len(text))
		}
	}
}

func TestFindPatternsSkipsWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set.fileTime, w.set.callTime = time.Hour, time.Hour // only sizes count here
	w.published(git("octo/demo"), codesage.Outcome{},
		file{"large.txt", "text", "needle\n" + strings.Repeat("é", 1_000_000), nil},
		file{"limit.txt", "text", "needle\n" + strings.Repeat("é", 999_993), nil})
	if got := lines(w, `"pattern":"needle"`); got != "large.txt:1 limit.txt:1" {
		t.Errorf("literal: got %s", got)
	}
	for _, pattern := range []string{"ne+dle", "nothing like it"} {
		got := decode[patternsResult](w, "find_patterns", `{"repository":"1","regex":true,"pattern":"`+pattern+`"}`)
		if diff := cmp.Diff([]string{"large.txt"}, got.SkippedFiles); diff != "" || got.SkippedCount != 1 || got.Truncated {
			t.Errorf("%s: %+v\n%s", pattern, got, diff)
		}
	}
}

func TestFindPatternsKeepsItsTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := []file{{"a.txt", "text", "found b\n", nil}}
	for i := range 70 {
		files = append(files, file{fmt.Sprintf("evil%02d.txt", i), "text", "found b\n" + strings.Repeat("a", 60) + "\n", nil})
	}
	files = append(files, file{"z.txt", "text", "found b\n", nil})
	w.published(git("octo/demo"), codesage.Outcome{}, files...)
	const evil = `{"repository":"1","regex":true,"max_results":500,"pattern":"^(?=(a+)+b)|^found"}`
	w.set.fileTime, w.set.callTime = 20*time.Millisecond, time.Hour
	w.set.Texts = nil
	got := decode[patternsResult](w, "find_patterns", strings.Replace(evil, `"regex"`, `"path_glob":"[!e]*","regex"`, 1))
	if got.TotalMatches != 2 || got.SkippedCount != 0 || got.Truncated {
		t.Errorf("without slow files: got %+v", got)
	}
	w.set.callTime = 50 * time.Millisecond
	began := time.Now()
	got = decode[patternsResult](w, "find_patterns", evil)
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	if !got.Truncated || got.SkippedCount < 60 || len(got.SkippedFiles) != 50 || got.SkippedFiles[0] != "evil00.txt" {
		t.Errorf("call: got %d skipped, %d listed, truncated %v", got.SkippedCount, len(got.SkippedFiles), got.Truncated)
	}
	if got.TotalMatches+got.SkippedCount < 71 || got.Matches[0].FilePath != "a.txt" {
		t.Errorf("call: got %d matches, %d skipped", got.TotalMatches, got.SkippedCount)
	}
	w.set.callTime = time.Hour
	got = decode[patternsResult](w, "find_patterns", strings.Replace(evil, `"regex"`, `"path_glob":"?*[0z].txt","regex"`, 1))
	if got.Truncated || got.SkippedCount != 7 || got.Matches[len(got.Matches)-1].FilePath != "evil60.txt" {
		t.Errorf("file: got %+v", got)
	}
}

// brokenTexts can't answer.
type brokenTexts struct{}

func (brokenTexts) Candidates(context.Context, codesage.Snapshot, index.TriQuery) (map[string]struct{}, bool, error) {
	return nil, false, errors.New("index is being rebuilt")
}

func TestFindPatternsIsTheSameWithAndWithoutAnIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := rand.New(rand.NewPCG(5, 8))
	words := []string{"func", "Func", "FUNC", "straße", "STRASSE", "kelvin", "\u212aelvin", "ſet", "set", "İx", "日本語", "user_id", "userId", " ", "  ", "(", ")", "\r\n", "\n", "\n", "é", "1", "٣"}
	random := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	var files []file
	for i := range 60 {
		files = append(files, file{fmt.Sprintf("d%d/f%02d.go", i%3, i), "go", random(30), nil})
	}
	w.published(git("octo/demo"), codesage.Outcome{}, files...)
	pieces := append([]string{"(?i)", `\w+`, `\b`, ".", ".*", "[a-z]", "(?:func|set)", "(?=u)", "(?!x)", "$", "^", "u?", "[^f]", `\d`, "(s)", `(?>s+)`, "e{2,}", "|"}, words...)
	withIndex := w.set.Deps
	without := withIndex
	without.Texts = nil
	broken := withIndex
	broken.Texts = brokenTexts{}
	narrowed := 0
	for range 250 {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		args := fmt.Sprintf(`{"repository":"1","pattern":%s,"regex":%v,"max_results":%d}`, quote(b.String()), r.IntN(3) > 0, 1+r.IntN(500))
		w.use(without)
		want := w.answer("find_patterns", args)
		for _, d := range []Deps{withIndex, broken} {
			w.use(d)
			if got := w.answer("find_patterns", args); got != want {
				t.Errorf("%s\nwith the index:    %s\nwithout the index: %s", args, got, want)
			}
		}
		if q, err := index.Regexp(b.String()); err == nil && !q.Empty() {
			narrowed++
		}
	}
	if narrowed < 50 {
		t.Errorf("only %d patterns let the index leave files out", narrowed)
	}
}

// quote writes a text as JSON.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
