package sessions_test

import (
	"context"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search/index"
	"codesage/search/local"
	"codesage/tools/sessions"
)

// blind is an index that can't tell which files a text may be in.
type blind struct{ *local.Index }

func (blind) Candidates(context.Context, codesage.Snapshot, index.TriQuery) (map[string]struct{}, bool, error) {
	return nil, true, nil
}

func TestReferencesAreTheSameWithoutTheIndex(t *testing.T) {
	t.Parallel()
	h, _ := indexed(t)
	for _, symbol := range []string{"authenticate", "user", "verify", "ok", "Println", "==", "&& len(", "guide", "authenticate_user", "T)"} {
		h.deps.Index = h.index
		with, err := sessions.AllReferences(t.Context(), h.deps, "fx", symbol)
		if err != nil {
			t.Fatal(err)
		}
		h.deps.Index = blind{h.index}
		without, err := sessions.AllReferences(t.Context(), h.deps, "fx", symbol)
		if err != nil || !slices.Equal(with, without) {
			t.Errorf("%s: with the index %v, without %v, %v", symbol, with, without, err)
		}
	}
}

func TestReferencesLeaveOutAFileCutAndCountWhatIsGone(t *testing.T) {
	t.Parallel()
	h, root := indexed(t)
	call := func(more args) string {
		a := args{"symbol": "authenticate", "session": "fx"}
		for k, v := range more {
			a[k] = v
		}
		return h.call("find_references", a)
	}
	for definedIn, want := range map[string]string{"src/auth.go": "(3 found)", "auth.go": "(3 found)", "uth.go": "(5 found)", root + "/src/auth.go": "(3 found)", "./auth.go": "(3 found)", "": "(5 found)"} {
		if got := call(args{"defined_in": definedIn}); !strings.Contains(got, want) {
			t.Errorf("defined_in %q: %s", definedIn, got)
		}
	}
	if got := call(args{"defined_in": "auth.go", "include_definition": true}); !strings.Contains(got, "(5 found)") {
		t.Errorf("include_definition: %s", got)
	}
	got := call(args{"max_results": 2, "context_lines": 0})
	if !strings.Contains(got, "(2 found)") || !strings.Contains(got, "- High confidence: 2 references\n- Medium confidence: 0 references\n- Low confidence: 0 references\n") ||
		!strings.Contains(got, "\n- Not shown: 3 more references (raise max_results)\n") || !strings.Contains(got, "```go\n   4 | func authenticate(user, pass string) bool {\n```") {
		t.Errorf("cut: %s", got)
	}
	if got := call(args{"symbol_type": "type"}); !strings.Contains(got, "(5 found)") || !strings.Contains(got, "word_match") || strings.Contains(got, "function_call") {
		t.Errorf("as a type: %s", got)
	}
	h.refused(-32602, "Invalid params: symbol_type: Input should be 'function', 'type', 'variable', 'constant' or 'any'", "find_references", args{"symbol": "xx", "session": "fx", "symbol_type": "y"})
	h.refused(-32602, "Invalid params: context_lines: Input should be less than or equal to 10", "find_references", args{"symbol": "xx", "session": "fx", "context_lines": 11})
	h.refused(-32602, "Invalid params: max_results: Input should be greater than or equal to 1", "find_references", args{"symbol": "xx", "session": "fx", "max_results": 0})

	remove(t, root, "src/login.go")
	write(t, root, "src/auth.go", "package auth\n")
	got = call(nil)
	if !strings.Contains(got, "(4 found)") || !strings.Contains(got, "\n- Skipped: 1 files missing on disk\n") || strings.Contains(got, "login.go") ||
		strings.Count(got, "- **Note:** file changed since indexing; re-index to refresh.\n") != 2 {
		t.Errorf("after changes: %s", got)
	}
}

func TestDefinitionsAndCommentsComeFromTheSymbolPass(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.index1("s", map[string]string{
		"a.go":  "package a\n\ntype Thing struct{ x *Other }\n\nfunc (t Thing) Run(o\n*Other) {}\n\n/*\nThing in a block\n*/\nvar text = `\nThing in a raw string\n`\n",
		"b.py":  "@wrap(target)\ndef target():\n    \"\"\"\n    target in a doc string\n    \"\"\"\n    return target\n",
		"c.txt": "Thing\n",
	})
	for _, symbol := range []string{"Thing", "target"} {
		got := h.call("find_references", args{"session": "s", "symbol": symbol, "context_lines": 0})
		if strings.Count(got, "- **Definition:** yes\n") != 1 {
			t.Errorf("%s: %s", symbol, got)
		}
	}
	lines, err := sessions.AllReferences(t.Context(), h.deps, "s", "Thing")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.go:3 word_match 60", "a.go:5 word_match 60", "a.go:12 word_match 40", "c.txt:1 word_match 35", "a.go:9 word_match 30"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	lines, err = sessions.AllReferences(t.Context(), h.deps, "s", "Other")
	if want := []string{"a.go:3 word_match 60", "a.go:6 word_match 60"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("a line that begins with a star is no comment: got %q, want %q, %v", lines, want, err)
	}
	if got := h.call("find_references", args{"session": "s", "symbol": "target", "context_lines": 0}); !strings.Contains(got, "   2 | def target():\n```\n- **Pattern:** function_call\n- **Confidence:** 0.95\n- **Definition:** yes\n") {
		t.Errorf("the definition is not the decorator: %s", got)
	}
}

// standardLibrary indexes the sources of the Go distribution.
func standardLibrary(t *testing.T) (h *house, root string) {
	t.Helper()
	if testing.Short() {
		t.Skip("indexes the Go standard library")
	}
	root, err := filepath.EvalSymlinks(filepath.Join(build.Default.GOROOT, "src"))
	if err != nil {
		t.Skip("no Go sources here")
	}
	h = newHouse(t)
	h.call("index_repository", args{"path": root, "session": "go"})
	return h, root
}

func TestReferencesFindWhatGrepFindsInTheStandardLibrary(t *testing.T) {
	h, root := standardLibrary(t)
	repo := h.repository("go")
	s, ok := repo.TextSnapshot()
	if !ok {
		t.Fatal("no texts")
	}
	var paths []string
	for after := ""; ; {
		files, err := h.store.ListFiles(t.Context(), s, after, 5000)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		if len(files) < 5000 {
			break
		}
		after = files[len(files)-1].Path
	}
	if len(paths) < 5000 {
		t.Fatalf("%d files indexed, want 5,000 and more", len(paths))
	}
	symbols := []string{"err", "Reader", "ReadAll", "NewReplacer", "memmove", "x509", "ErrUnexpectedEOF", "http.Handler", "TODO(rsc)", "GOEXPERIMENT"}
	want := grep(t, root, paths, symbols)
	for _, symbol := range symbols {
		lines, err := sessions.AllReferences(t.Context(), h.deps, "go", symbol)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, l := range lines {
			place, _, _ := strings.Cut(l, " ")
			got[place] = true
		}
		missing := 0
		for _, place := range want[symbol] {
			if !got[place] {
				if missing++; missing <= 3 {
					t.Errorf("%s: %s is missing", symbol, place)
				}
			}
		}
		if len(got) != len(want[symbol]) || len(got) != len(lines) {
			t.Errorf("%s: %d lines (%d distinct), grep finds %d", symbol, len(lines), len(got), len(want[symbol]))
		}
		t.Logf("%s: %d lines", symbol, len(lines))
	}
}

// grep returns "path:line" of every line that holds a symbol as a whole word.
func grep(t *testing.T, root string, paths, symbols []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	var words []*regexp.Regexp
	for _, s := range symbols {
		words = append(words, regexp.MustCompile(`(?m)(?:^|[^A-Za-z0-9_$\n])`+regexp.QuoteMeta(s)+`(?:$|[^A-Za-z0-9_$])`))
	}
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range words {
			if !strings.Contains(string(data), symbols[i]) {
				continue
			}
			for n, line := range strings.Split(string(data), "\n") {
				if strings.Contains(line, symbols[i]) && word.MatchString(line) {
					found[symbols[i]] = append(found[symbols[i]], fmt.Sprintf("%s:%d", path, n+1))
				}
			}
		}
	}
	return found
}

func TestReferencesMarkDefinitionsThatAreNoEntities(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	root := h.index1("s", map[string]string{
		"a.go":    "package a\n\nconst (\n\tLimit = 3\n)\n\nfunc f() int { return Limit }\n",
		"main.tf": "resource \"aws_s3_bucket\" \"Limit\" {\n}\noutput \"x\" {\n  value = aws_s3_bucket.Limit.id\n}\n",
		"m.h":     "#define Limit 3\n/* const int Limit = 3; */\n",
	})
	got := h.call("find_references", args{"session": "s", "symbol": "Limit"})
	var defined []string
	for block := range strings.SplitSeq(got, "#### ") {
		if strings.Contains(block, "\n- **Definition:** yes\n") {
			place, _, _ := strings.Cut(block, "\n")
			defined = append(defined, strings.TrimPrefix(place, root+"/"))
		}
	}
	slices.Sort(defined)
	if want := []string{"a.go:4", "m.h:1", "main.tf:1"}; !slices.Equal(defined, want) {
		t.Errorf("got %v, want %v: %s", defined, want, got)
	}
}
