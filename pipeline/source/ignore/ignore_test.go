package ignore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files makes a tree of empty files and of ignore files.
func files(ignoreFiles map[string]string, paths ...string) tree {
	tr := tree{}
	for _, path := range paths {
		tr[path] = ""
	}
	for path, text := range ignoreFiles {
		tr[path] = text
	}
	return tr
}

// TestKnownCases holds faults that users of other indexers reported. Where git
// is installed, it is asked too.
func TestKnownCases(t *testing.T) {
	t.Parallel()
	root := func(text string) map[string]string { return map[string]string{".gitignore": text} }
	for _, tc := range []struct {
		name string
		tree tree
		want []string
	}{
		{"a negated rule takes back", files(root("plugins/*\n!plugins/keep\n"), "main.go", "plugins/drop/a.go", "plugins/keep/b.go", "plugins/keep/sub/c.go"),
			[]string{"main.go", "plugins/keep/b.go", "plugins/keep/sub/c.go"}},
		{"a slash before and behind", files(root("/Library/\n"), "Library/x.go", "sub/Library/y.go"), []string{"sub/Library/y.go"}},
		{"all but one folder", files(root("/*\n!/app\n"), "app/a.go", "vendorx/v.go", "top.go"), []string{"app/a.go"}},
		{"info/exclude", files(map[string]string{".git/info/exclude": "private/\n"}, "private/a.go", "b.go"), []string{"b.go"}},
		{"an ignore file wins over info/exclude", files(map[string]string{".git/info/exclude": "*.log\n", "d/.gitignore": "!a.log\n"}, "a.log", "d/a.log", "d/b.log"), []string{"d/.gitignore", "d/a.log"}},
		{"stars at both ends", files(root("**/genout/**\n"), "src/main.go", "web/genout/x/i.go", "genout/k.go", "top.go"), []string{"src/main.go", "top.go"}},
		{"stars of both kinds", files(root("a/**/*/**\n"), "a/f.go", "a/b/c.go"), []string{"a/f.go"}},
		{"a negation for one folder only", files(root("*.gen.go\n!api/*.gen.go\n"), "api/x.gen.go", "api/v1/y.gen.go", "z.gen.go"), []string{"api/x.gen.go"}},
		{"what lies in an ignored folder stays ignored", files(root("outx/\n!outx/keep.go\n"), "outx/keep.go", "m.go"), []string{"m.go"}},
		{"a byte-order mark", files(root("\uFEFF*.gen.go\n"), "a.gen.go", "a.go"), []string{"a.go"}},
		{"CR before LF", files(root("*.gen.go\r\n"), "a.gen.go", "a.go"), []string{"a.go"}},
		{"no LF at the end, CR", files(root("*.gen.go\r"), "a.gen.go", "a.go"), []string{"a.go"}},
		{"spaces at the end, kept and not", files(root("a \nb\\ \nc\t\n"), "a", "a ", "b", "b ", "c"), []string{"a ", "b", "c"}},
		{"a rule of a folder does not reach above it", files(map[string]string{"d/.gitignore": "/x\ny\n"}, "x", "y", "d/x", "d/y", "d/e/x", "d/e/y"), []string{"d/.gitignore", "d/e/x", "x", "y"}},
		{"a NUL ends a line", files(root("a\x00b\n"), "a", "ab"), []string{"ab"}},
		{"a star within a part gives way to stars before it", files(root("**/a*[b]/c\nx/**/*y*z/w\n"), "ax/ay/ab/c", "ax/a/b/c", "x/yq/q/yz/w", "x/yy/zz/w", "ac/a1b/c"), []string{"ax/a/b/c", "x/yy/zz/w"}},
		{"stars behind a literal start", files(root("d/foo**/x\n"), "d/foob/x", "d/foob/c/x", "d/foo/x"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := slices.DeleteFunc(tc.tree.kept(), func(p string) bool { return p == ".gitignore" })
			if tc.want != nil {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("kept files differ (-want +got):\n%s", diff)
				}
			}
			needGit(t)
			if diff := cmp.Diff(tc.tree.keptByGit(t), tc.tree.kept()); diff != "" {
				t.Errorf("kept files differ (-git +got):\n%s", diff)
			}
		})
	}
}

func TestClassesAgreeWithGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	tr := tree{}
	for class := range classes {
		tr[class+"/.gitignore"] = "x[[:" + class + ":]]\n"
		for c := 1; c < 256; c++ {
			if c != '/' {
				tr[class+"/x"+string([]byte{byte(c)})] = ""
			}
		}
	}
	if diff := cmp.Diff(tr.keptByCheckIgnore(t), tr.kept()); diff != "" {
		t.Errorf("kept files differ (-git +got):\n%s", diff)
	}
}

func TestMemoChangesNoResult(t *testing.T) {
	t.Parallel()
	m := maker{rand.New(rand.NewPCG(7, 7))}
	for range 20000 {
		pattern := ""
		for range 1 + m.IntN(8) {
			pattern += m.pick("*", "**", "**/", "/", "a", "b", "?", "[ab]", "*a", "/**")
		}
		text := strings.Trim(strings.ReplaceAll(m.path(), "foo", "ab"), "/")
		path := m.IntN(2) == 0
		plain := wild{pattern: pattern, text: text, path: path, attempts: -1 << 40}
		kept := wild{pattern: pattern, text: text, path: path, attempts: memoAfter}
		if want, got := plain.match(0, 0), kept.match(0, 0); got != want {
			t.Fatalf("pattern %q, text %q: with results kept %d, want %d", pattern, text, got, want)
		}
	}
}

// Matching tries each place of the pattern at each place of the text a few times,
// and no more often than that.
func TestHostilePatternsEndSoon(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, pattern, text string }{
		{"stars", strings.Repeat("*a", 40) + "b", strings.Repeat("a", 200)},
		{"parts", strings.Repeat("**/a/", 40) + "b", strings.Repeat("a/", 120) + "c"},
		{"stars in parts", strings.Repeat("**/*a*/", 30) + "b", strings.Repeat("aa/", 80) + "c"},
		{"sets", strings.Repeat("*[a-c]?", 40) + "z", strings.Repeat("abc", 80)},
	} {
		w := wild{pattern: tc.pattern, text: tc.text, path: true}
		if w.match(0, 0) == matched {
			t.Errorf("%s: pattern matches", tc.name)
		}
		if most := 10 * len(tc.pattern) * len(tc.text); w.attempts > most {
			t.Errorf("%s: %d attempts, want at most %d", tc.name, w.attempts, most)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, seed := range []string{"a/**/b", "[[:alpha:]", `\`, "!", "**", "[", "[]", "[!]", `[\`, "*\x00", "/", "//", `a\ `, "[a-"} {
		f.Add([]byte(seed), "a/b")
	}
	f.Fuzz(func(t *testing.T, rules []byte, path string) {
		m := New(rules)
		m.Push("", rules)
		name := ""
		for i, part := range strings.Split(path, "/") {
			if i > 0 {
				m.Push(name, rules)
			}
			name = part
			m.Ignored(name, i%2 == 0)
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	var rules strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rules, "*.ext%d\n/dir%d/\nsome/path/*.%d\n", i, i, i)
	}
	m := New(nil)
	m.Push("", []byte(rules.String()))
	m.Push("some", nil)
	for b.Loop() {
		m.Ignored("file_name.go", false)
	}
}
