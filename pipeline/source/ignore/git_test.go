package ignore

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a folder as the tests make it: the text of each file by its path.
type tree map[string]string

// kept walks a tree with a Matcher and returns the files that are not ignored.
func (tr tree) kept() []string {
	var exclude []byte
	if text, ok := tr[".git/info/exclude"]; ok {
		exclude = []byte(text)
	}
	m := New(exclude)
	var out []string
	tr.walk(m, "", "", &out)
	slices.Sort(out)
	return out
}

func (tr tree) walk(m *Matcher, name, prefix string, out *[]string) {
	var rules []byte
	if text, ok := tr[prefix+".gitignore"]; ok {
		rules = []byte(text)
	}
	m.Push(name, rules)
	defer m.Pop()
	done := map[string]bool{}
	for path := range tr {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		first, _, dir := strings.Cut(rest, "/")
		switch {
		case done[first], first == ".git":
		case m.Ignored(first, dir):
		case dir:
			tr.walk(m, first, prefix+first+"/", out)
		default:
			*out = append(*out, path)
		}
		done[first] = true
	}
}

// git runs the real git, the oracle, and returns the paths that it prints.
func git(t testing.TB, dir, input string, args ...string) map[string]bool {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && len(exit.Stderr) == 0 {
		err = nil // check-ignore: no path is ignored
	}
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	paths := map[string]bool{}
	for path := range bytes.SplitSeq(out, []byte{0}) {
		paths[string(path)] = true
	}
	delete(paths, "")
	return paths
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
}

// plant writes those files of a tree to disk that take is true for, in a folder
// that git takes for a work tree.
func (tr tree) plant(t testing.TB, take func(path string) bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range map[string]string{
		".git/HEAD":         "ref: refs/heads/main\n",
		".git/config":       "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".git/objects/keep": "", ".git/refs/keep": "",
	} {
		write(t, dir, path, text)
	}
	for path, text := range tr {
		if take(path) {
			write(t, dir, path, text)
		}
	}
	return dir
}

// keptByGit returns the files that git lists.
func (tr tree) keptByGit(t testing.TB) []string {
	t.Helper()
	dir := tr.plant(t, func(string) bool { return true })
	return slices.Sorted(maps.Keys(git(t, dir, "", "ls-files", "-o", "-c", "-z", "--exclude-standard")))
}

// keptByCheckIgnore returns the files that git does not call ignored. Only the
// ignore files need to be on disk, which makes large trees cheap.
func (tr tree) keptByCheckIgnore(t testing.TB) []string {
	t.Helper()
	dir := tr.plant(t, func(path string) bool {
		return strings.HasSuffix(path, ".gitignore") || strings.HasPrefix(path, ".git/")
	})
	left := maps.Clone(tr)
	maps.DeleteFunc(left, func(path, _ string) bool { return strings.HasPrefix(path, ".git/") })
	input := strings.Join(slices.Collect(maps.Keys(left)), "\x00")
	for path := range git(t, dir, input, "check-ignore", "--no-index", "-z", "--stdin") {
		delete(left, path)
	}
	return slices.Sorted(maps.Keys(left))
}

func write(t testing.TB, dir, path, text string) {
	t.Helper()
	full := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// maker makes random trees and patterns of few names, so that they meet.
type maker struct{ *rand.Rand }

func (m maker) pick(words ...string) string { return words[m.IntN(len(words))] }

func (m maker) name() string {
	return m.pick("a", "b", "c", "ab", "abc", "a.b", "foo", "foo.go", "x y", "x ", "[a]", "a*", `a\b`, "é", "!n", "#h", ".d", "a-c", "A", "a]", "**", "-")
}

func (m maker) path() string {
	parts := make([]string, 1+m.IntN(4))
	for i := range parts {
		parts[i] = m.name()
	}
	return strings.Join(parts, "/")
}

func (m maker) fragment() string {
	return m.pick("*", "**", "?", "a", "b", "c", "ab", "foo", ".", ".go", "/", "/", "/**/", "**/", "/**", "[ab]", "[!a]", "[^a]", "[a-c]", "[]a]", "[!]a]", "[a-]",
		"[[:alpha:]]", "[[:space:]]", "[[:punct:]]", "[[:upper:]b]", "[[:nope:]]", "[[:alpha]", "[[:]", "[a", "[", "]", `\a`, `\*`, `\`, `\[`, `[\]]`, `[\a-\c]`, " ", `\ `, "é", "!", "#", "-", "[c-a]", "[*-/]", "[.-0]")
}

// near makes a pattern that is likely to match one of the paths.
func (m maker) near(paths []string) string {
	parts := strings.Split(paths[m.IntN(len(paths))], "/")
	from := m.IntN(len(parts)) * m.IntN(2)
	parts = slices.Clone(parts[from : from+1+m.IntN(len(parts)-from)])
	for i, part := range parts {
		switch m.IntN(8) {
		case 0:
			parts[i] = "*"
		case 1:
			parts[i] = "**"
		case 2:
			parts[i] = part[:1] + m.pick("*", "**", "?", "*?", "[!/]", "[[:graph:]]*")
		case 3:
			parts[i] = m.pick("*", "?", "[^b]", "[[:alnum:]]", "**") + part[1:]
		}
	}
	return strings.Join(parts, m.pick("/", "/", "/", "/**/", "/*/"))
}

func (m maker) line(paths []string) string {
	var b strings.Builder
	b.WriteString(m.pick("", "", "", "!", "/", "!/", "**/", `\!`, `\#`, "#"))
	switch m.IntN(4) {
	case 0:
		b.WriteString(m.path())
	case 1:
		for range 1 + m.IntN(5) {
			b.WriteString(m.fragment())
		}
	default:
		b.WriteString(m.near(paths))
	}
	if m.IntN(6) == 0 && b.Len() > 0 {
		s := []rune(b.String())
		s[m.IntN(len(s)+1)%len(s)] = []rune(m.pick("*", "?", "/", "a", "["))[0]
		b.Reset()
		b.WriteString(string(s))
	}
	b.WriteString(m.pick("", "", "", "/", "/", "/*", "/**", " ", "  ", `\ `, "\t", "\r", "*"))
	return b.String()
}

func (m maker) rules(paths []string) string {
	var b strings.Builder
	if m.IntN(6) == 0 {
		b.WriteString("\uFEFF")
	}
	for range 1 + m.IntN(5) {
		b.WriteString(m.line(paths) + m.pick("\n", "\n", "\n", "\r\n", "\n\n"))
	}
	if m.IntN(4) == 0 {
		b.WriteString(m.line(paths)) // a last line without an end
	}
	return b.String()
}

// tree makes a tree below a prefix, with ignore files in some of its folders.
func (m maker) tree(into tree, prefix string) {
	dirs := map[string]bool{prefix: true}
	paths := []string{"foo"}
	for range 6 + m.IntN(12) {
		path := m.path()
		if into.clash(prefix, path) {
			continue
		}
		into[prefix+path] = ""
		paths = append(paths, path)
		for i, c := range path {
			if c == '/' {
				dirs[prefix+path[:i+1]] = true
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if dir == prefix || m.IntN(4) == 0 {
			into[dir+".gitignore"] = m.rules(paths)
		}
	}
}

// clash reports whether a path needs a folder where a file is, or the reverse.
func (tr tree) clash(prefix, path string) bool {
	full := prefix + path
	for other := range tr {
		if other == full || strings.HasPrefix(other, full+"/") || strings.HasPrefix(full, other+"/") {
			return true
		}
	}
	return false
}

func TestMatcherAgreesWithGitOnRandomTrees(t *testing.T) {
	needGit(t)
	t.Parallel()
	check := func(t *testing.T, tr tree, want []string, seed uint64) {
		t.Helper()
		if diff := cmp.Diff(want, tr.kept()); diff != "" {
			t.Errorf("seed %d: kept files differ (-git +got):\n%s\n%s", seed, diff, tr.rulesOf(diff))
		}
	}
	// Many cases share one run of git, each in a folder of its own.
	const batches, cases = 13, 30
	for seed := range uint64(batches) {
		m := maker{rand.New(rand.NewPCG(seed, 1))}
		tr := tree{}
		for i := range cases {
			m.tree(tr, fmt.Sprintf("case%02d/", i))
		}
		if seed%3 == 0 {
			tr[".git/info/exclude"] = m.rules([]string{"foo", "a/b", "case01/a"})
		}
		check(t, tr, tr.keptByCheckIgnore(t), seed)
	}
	for seed := range uint64(15) {
		m := maker{rand.New(rand.NewPCG(seed, 2))}
		tr := tree{".git/info/exclude": m.rules([]string{"foo", "a/b", "x y"})}
		m.tree(tr, "")
		check(t, tr, tr.keptByGit(t), seed)
	}
}

// rulesOf prints the ignore files of the folders that a diff names.
func (tr tree) rulesOf(diff string) string {
	var b strings.Builder
	for path, text := range tr {
		top, _, _ := strings.Cut(path, "/")
		if strings.HasSuffix(path, ".gitignore") && strings.Contains(diff, top) || path == ".git/info/exclude" {
			fmt.Fprintf(&b, "%s: %q\n", path, text)
		}
	}
	return b.String()
}
