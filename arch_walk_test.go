package codesage_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted is a piece of text in backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// TestTheWalkOfTheArchitectureExists checks that every file and function which
// ARCHITECTURE.md names in "One folder, read in order" is there.
func TestTheWalkOfTheArchitectureExists(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, found := strings.Cut(string(text), "## One folder, read in order\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no walk")
	}
	walk, _, _ = strings.Cut(walk, "\n## ")
	checked := 0
	for line := range strings.Lines(walk) {
		if line[0] >= '1' && line[0] <= '9' {
			checked += checkStep(t, line)
		}
	}
	if checked < 12 {
		t.Errorf("the walk names %d functions only", checked)
	}
}

// checkStep checks the `file` `function` pairs of one step and returns how many
// there are. A file without a folder is in that of the file before; a folder
// stands for any of its files.
func checkStep(t *testing.T, step string) (pairs int) {
	t.Helper()
	place := ""
	for _, m := range quoted.FindAllStringSubmatch(step, -1) {
		name := m[1]
		switch {
		case strings.HasSuffix(name, ".go") && !strings.Contains(name, "/"):
			place = filepath.Join(filepath.Dir(place), name)
		case strings.Contains(name, "/"):
			place = name
		case place == "" || !token.IsIdentifier(name):
			continue
		default:
			pairs++
			if !declares(t, place, name) {
				t.Errorf("%s has no function %s, in %q", place, name, strings.TrimSpace(step))
			}
		}
	}
	return pairs
}

// declares reports whether a file, or any file of a folder, has a function or
// method of a name.
func declares(t *testing.T, place, function string) bool {
	t.Helper()
	files := []string{place}
	if info, err := os.Stat(place); err != nil {
		t.Error(err)
		return true
	} else if info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(place, "*.go"))
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == function {
				return true
			}
		}
	}
	return false
}
