package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheREADMENamesCommandsThatExist holds README and Makefile against the
// program: a command or target that a text names must be there.
func TestTheREADMENamesCommandsThatExist(t *testing.T) {
	t.Parallel()
	readme := text(t, "../../README.md")
	makefile := text(t, "../../Makefile")
	root := newRoot(terminal{})
	root.InitDefaultHelpCmd()
	commands := regexp.MustCompile("(?:bin/codesage|`codesage|BINARY\\)) ([a-z][a-z-]*)").FindAllStringSubmatch(readme+makefile, -1)
	if len(commands) < 8 {
		t.Fatalf("only %d commands were found in the texts", len(commands))
	}
	for _, m := range commands {
		if found, _, err := root.Find([]string{m[1]}); err != nil || found == root {
			t.Errorf("the texts name `codesage %s`, which is no command", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\bmake ([a-z][a-z-]*)`).FindAllStringSubmatch(readme+text(t, "../../CONTRIBUTING.md"), -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("the texts name `make %s`, which is no target", m[1])
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
