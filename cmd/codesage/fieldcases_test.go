package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

// ignored is a case whose outcome is the set of indexed files.
type ignored struct {
	name  string
	files map[string]string
	want  []string
}

// empties makes files without a meaning of their own.
func empties(ignore string, paths ...string) map[string]string {
	files := map[string]string{".gitignore": ignore}
	for _, p := range paths {
		files[p] = "package x\n"
	}
	return files
}

var ignoredCases = []ignored{
	{"B01", empties("plugins/*\n!plugins/keep\n", "main.go", "plugins/drop/a.go", "plugins/keep/b.go", "plugins/keep/sub/c.go"),
		[]string{"main.go", "plugins/keep/b.go", "plugins/keep/sub/c.go"}},
	{"B02a", empties("/Library/\n", "Library/x.go", "sub/Library/y.go"), []string{"sub/Library/y.go"}},
	{"B02b", empties("/*\n!/app\n", "app/a.go", "vendorx/v.go", "top.go"), []string{"app/a.go"}},
	{"B06a", empties("**/genout/**\n", "src/main.go", "web/genout/x/i.go", "genout/k.go", "top.go"), []string{"src/main.go", "top.go"}},
	{"B06b", empties("a/**/*/**\n", "a/f.go", "a/b/c.go"), []string{"a/f.go"}},
	{"B08a", empties("*.gen.go\n!api/*.gen.go\n", "api/x.gen.go", "api/v1/y.gen.go", "z.gen.go"), []string{"api/x.gen.go"}},
	{"B08b", empties("outx/\n!outx/keep.go\n", "outx/keep.go", "m.go"), []string{"m.go"}},
	{"B10a", empties("\xEF\xBB\xBF*.gen.go\n", "a.gen.go", "a.go"), []string{"a.go"}},
	{"B10b", empties("*.gen.go\r\n", "a.gen.go", "a.go"), []string{"a.go"}},
}

func TestFieldCasesOfIgnoreFiles(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, tc := range ignoredCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			writeFiles(t, folder, tc.files)
			repo, _ := s.index(folder, tc.name)
			got := paths(t, s, int64(repo.ID))
			got = slices.DeleteFunc(got, func(p string) bool { return p == ".gitignore" })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("indexed files (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("B04", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		writeFiles(t, folder, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/info/exclude": "private/\n",
			".git/objects/x": "", ".git/refs/x": "",
			"private/a.go": "package a\n\nfunc Unutterable() {}\n", "b.go": "package b\n"})
		repo, _ := s.index(folder, "B04")
		if got := paths(t, s, int64(repo.ID)); !slices.Equal(got, []string{"b.go"}) {
			t.Errorf("indexed %q", got)
		}
		if got := must[searchResult](t, s, "search_code", args{"query": "Unutterable", "repository": "B04"}); got.TotalHits != 0 {
			t.Errorf("an excluded file answers: %v", got.Results)
		}
	})
}

func TestFieldCaseB11Links(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"src/a.go": "package a\nfunc OnlyA() {}\n"})
	for name, target := range map[string]string{"src/loop": ".", "src/up": "..", "dead.go": "nowhere.go", "alias.go": "src/a.go", "out": "/etc"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	repo, run := s.index(folder, "links")
	if took := time.Since(began); took > 10*time.Second || repo.Status != codesage.StatusCompleted {
		t.Errorf("%s after %s", repo.Status, took)
	}
	if run.Skipped[codesage.SkipSymlink] != 5 {
		t.Errorf("skipped %v, want 5 links", run.Skipped)
	}
	if got := definitions(t, s, "links", "OnlyA"); !slices.Equal(got, []string{"src/a.go:2-2"}) {
		t.Errorf("OnlyA is at %q", got)
	}
	if got := paths(t, s, int64(repo.ID)); !slices.Equal(got, []string{"src/a.go"}) {
		t.Errorf("indexed %q", got)
	}
	for _, path := range []string{"out/passwd", "/etc/passwd", "../passwd", "alias.go"} {
		if answer, err := call(s.api, "get_file", args{"repository": "links", "path": path}); err != nil || !answer.IsError {
			t.Errorf("get_file %s: %v %s", path, err, answer.Result)
		}
	}
	small := t.TempDir()
	writeFiles(t, small, map[string]string{"README.md": "# Hello\n"})
	if err := os.Symlink("nowhere", filepath.Join(small, "dead")); err != nil {
		t.Fatal(err)
	}
	if repo, _ := s.index(small, "small"); repo.Status != codesage.StatusCompleted || repo.TotalFiles != 1 {
		t.Errorf("a README and a dead link: %s with %d files", repo.Status, repo.TotalFiles)
	}
}

// definitions are the places of the definitions of an exact name.
func definitions(t testing.TB, s *server, repository, name string) []string {
	t.Helper()
	var places []string
	for _, d := range must[definitionsResult](t, s, "list_definitions", args{"repository": repository, "name": name, "limit": 500}).Definitions {
		if d.EntityName == name {
			places = append(places, fmt.Sprintf("%s:%d-%d", d.FilePath, d.LineStart, d.LineEnd))
		}
	}
	return places
}

func TestFieldCasesOfLines(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{
		"p.py":   "a = \"\x0c\"\nb = \"\u2028\"\ndef third(): pass\n",
		"w.go":   "package w\r\n\r\nfunc Four() {\r\n}\r\n",
		"m.py":   "\xEF\xBB\xBFdef alpha():\n    return 1\n",
		"m.go":   "\xEF\xBB\xBFpackage m\nfunc Beta() {}\n",
		"e.ts":   "const a = 1\nexport default function cfg() { return a }",
		"one.py": "def only(): pass",
		"z.go":   "",
	})
	s.index(folder, "lines")
	for name, want := range map[string]string{ // B15, B18, B21
		"third": "p.py:3-3", "Four": "w.go:3-4", "alpha": "m.py:1-2", "Beta": "m.go:2-2", "cfg": "e.ts:2-2", "only": "one.py:1-1",
	} {
		if got := definitions(t, s, "lines", name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is at %q, want %s", name, got, want)
		}
		found := must[searchResult](t, s, "search_code", args{"query": name, "repository": "lines"})
		if len(found.Results) == 0 || fmt.Sprintf("%s:%d-%d", found.Results[0].FilePath, found.Results[0].LineStart, found.Results[0].LineEnd) != want {
			t.Errorf("search_code %s: %+v, want %s", name, found.Results, want)
			continue
		}
		if text := found.Results[0].Snippet + *found.Results[0].Signature; strings.ContainsAny(text, "\r\ufeff") {
			t.Errorf("%s: %q has a CR or a byte-order mark", name, text)
		}
	}
	got := must[patternsResult](t, s, "find_patterns", args{"repository": "lines", "pattern": `\{$`, "regex": true})
	if want := []patternLine{{"w.go", 3, "func Four() {"}}; !slices.Equal(got.Matches, want) {
		t.Errorf("lines that end in a brace: %v, want %v", got.Matches, want)
	}
	for path, want := range map[string]int{"p.py": 3, "w.go": 4, "e.ts": 2, "one.py": 1, "z.go": 0} {
		answer, err := call(s.api, "get_file", args{"repository": "lines", "path": path})
		if err != nil {
			t.Fatal(err)
		}
		if answer.IsError {
			t.Errorf("get_file %s: %s", path, answer.Error)
			continue
		}
		var file fileResult
		if err := json.Unmarshal(answer.Result, &file); err != nil || file.TotalLines != want || strings.Contains(file.Content, "\r") {
			t.Errorf("%s has %d lines, want %d: %q (%v)", path, file.TotalLines, want, file.Content, err)
		}
	}
}

func TestFieldCasesOfNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	big := &strings.Builder{}
	big.WriteString("package big\n")
	for i := range 5000 {
		fmt.Fprintf(big, "func F%d() {}\n", i+1)
	}
	twice := "class A:\n    def run(self): return 1\nclass B:\n    def run(self): return 2\ndef run(): return 3\n"
	for session, files := range map[string]map[string]string{
		"big":  {"big.go": big.String()},
		"dup":  {"dup.py": twice, "dup2.py": twice},
		"case": {"o.py": "class OvertimeService:\n    def parseHTMLResponse(self, user_id): return user_id\n", "x.py": "service = 1\nresponse = 2\n"},
	} {
		folder := t.TempDir()
		writeFiles(t, folder, files)
		s.index(folder, session)
	}
	if got := must[definitionsResult](t, s, "list_definitions", args{"repository": "big"}); got.Total != 5000 { // B23
		t.Errorf("%d definitions, want 5000", got.Total)
	}
	for name, want := range map[string]string{"F4097": "big.go:4098-4098", "F5000": "big.go:5001-5001"} {
		if got := definitions(t, s, "big", name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is at %q", name, got)
		}
	}
	want := []string{"dup.py:2-2", "dup.py:4-4", "dup.py:5-5", "dup2.py:2-2", "dup2.py:4-4", "dup2.py:5-5"} // B27
	if got := definitions(t, s, "dup", "run"); !slices.Equal(got, want) {
		t.Errorf("run is at %q", got)
	}
	first := must[searchResult](t, s, "search_code", args{"query": "run", "repository": "dup", "limit": 3})
	for range 20 {
		if got := must[searchResult](t, s, "search_code", args{"query": "run", "repository": "dup", "limit": 3}); !cmp.Equal(got, first) || len(got.Results) != 3 {
			t.Fatalf("the same search answers otherwise: %s", cmp.Diff(first, got))
		}
	}
	for _, query := range []string{"OvertimeService", "overtimeservice", "overtime service", "parseHTMLResponse", "html response", "user_id", "user id", "OVERTIMESERVICE", "PARSEHTMLRESPONSE"} { // B29
		got := must[searchResult](t, s, "search_code", args{"query": query, "repository": "case"})
		if len(got.Results) == 0 || got.Results[0].FilePath != "o.py" {
			t.Errorf("%q finds %v", query, got.Results)
		}
	}
}

func TestFieldCaseB30CodeLikeQueries(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	texts := []string{"GET /users/{id}", "std::vector<int>", "pkg:scope:name", "array[0]", "-http://example.com", "\"unclosed", "a && !b", "*ptr", `C:\temp`, `fmt.Printf("%s")`}
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"q.go": "package q\n\nfunc Queries() {\n\t// " + strings.Join(texts, "\n\t// ") + "\n}\n", "other.go": "package q\n\nfunc Other() {}\n"})
	s.index(folder, "queries")
	for _, query := range texts {
		got := must[searchResult](t, s, "search_code", args{"query": query, "repository": "queries"})
		if len(got.Results) == 0 || got.Results[0].FilePath != "q.go" {
			t.Errorf("%q finds %v", query, got.Results)
		}
		lines := must[patternsResult](t, s, "find_patterns", args{"repository": "queries", "pattern": query})
		if lines.TotalMatches != 1 {
			t.Errorf("%q is on %d lines", query, lines.TotalMatches)
		}
	}
	for _, query := range []string{strings.Repeat("(", 40) + "x" + strings.Repeat(")", 40), strings.Repeat(`"`, 500)} {
		began := time.Now()
		if _, err := call(s.api, "search_code", args{"query": query, "repository": "queries"}); err != nil {
			t.Errorf("%.20s…: %v", query, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%.20s…: %s", query, took)
		}
	}
}

func TestFieldCaseB39Coercion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha12345() {}\n"})
	s.index(folder, "lax")
	for _, limit := range []string{`10`, `10.0`, `1e1`, `"10"`, `" 10 "`, `"010"`, `"+10"`, `"10.0"`, `"1_0"`} {
		raw := json.RawMessage(`{"repository":"lax","limit":` + limit + `}`)
		if _, err := ask[definitionsResult](s.api, "list_definitions", args{"repository": "lax", "limit": json.RawMessage(limit)}); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, limit := range []string{`10.5`, `"10.5"`, `"10."`, `"1e1"`, `"0x10"`, `""`, `"ten"`, `"１０"`, `[10]`, `{}`, `null`, `"` + strings.Repeat("9", 4301) + `"`} {
		if _, err := call(s.api, "list_definitions", args{"repository": "lax", "limit": json.RawMessage(limit)}); err == nil || !strings.Contains(err.Error(), "(422)") {
			t.Errorf("limit %.40s is taken: %v", limit, err)
		}
	}
	for _, yes := range []string{`true`, `"true"`, `"TRUE"`, `"yes"`, `"on"`, `"1"`, `1`, `"t"`} {
		if got := must[patternsResult](t, s, "find_patterns", args{"repository": "lax", "pattern": "Al.ha", "regex": json.RawMessage(yes)}); !got.Regex || got.TotalMatches != 1 {
			t.Errorf("regex %s: %+v", yes, got)
		}
	}
	for _, no := range []string{`false`, `"false"`, `"off"`, `"no"`, `"0"`, `0`, `"n"`} {
		if got := must[patternsResult](t, s, "find_patterns", args{"repository": "lax", "pattern": "Al.ha", "regex": json.RawMessage(no)}); got.Regex || got.TotalMatches != 0 {
			t.Errorf("regex %s: %+v", no, got)
		}
	}
	for _, bad := range []string{`2`, `""`, `" true"`, `"10"`, `null`} {
		if _, err := call(s.api, "find_patterns", args{"repository": "lax", "pattern": "x", "regex": json.RawMessage(bad)}); err == nil || !strings.Contains(err.Error(), "(422)") {
			t.Errorf("regex %s is taken: %v", bad, err)
		}
	}
	if got := must[searchResult](t, s, "search_code", args{"query": "12345"}); got.Query != "12345" {
		t.Errorf("the query is %q", got.Query)
	}
	if _, err := call(s.api, "search_code", args{"query": 12345}); err == nil || !strings.Contains(err.Error(), "(422)") {
		t.Errorf("a number is taken as query: %v", err)
	}
}
