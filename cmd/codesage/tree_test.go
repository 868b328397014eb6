package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a generated source tree: path to text. The same seed and version
// give the same tree. Every definition's name and every text tells its version.
type tree map[string]string

// newTree returns a tree of n files in some languages.
func newTree(seed uint64, n, version int) tree {
	files := tree{}
	for i := range n {
		// Each file has a source of its own, so that versions differ only where
		// they mean to.
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		v := 1
		if version > 1 && i%3 == 0 {
			v = version
		}
		if version > 1 && i%17 == 1 || version == 1 && i%19 == 2 {
			continue // gone with the next version, or new in it
		}
		path, text := newFile(r, i, v)
		files[path] = text
	}
	return files
}

var generators = []struct {
	suffix string
	head   func(i int) string
	define func(name string, body []string) string
}{
	{".go", func(i int) string { return fmt.Sprintf("package p%d\n\nimport \"fmt\"\n", i%7) }, func(name string, body []string) string {
		return fmt.Sprintf("// %s does its part.\nfunc %s(a, b int) int {\n\tfmt.Println(%q)\n\tif a > b {\n\t\treturn a - b\n\t}\n\treturn b\n}\n", name, name, strings.Join(body, " "))
	}},
	{".py", func(int) string { return "import os\n\n" }, func(name string, body []string) string {
		return fmt.Sprintf("class %s:\n    def run(self, a, b):\n        \"\"\"%s\"\"\"\n        return a + b\n", name, strings.Join(body, " "))
	}},
	{".ts", func(int) string { return "import { x } from './x'\n\n" }, func(name string, body []string) string {
		return fmt.Sprintf("export function %s(a: number): string {\n  // %s\n  return `${a}`\n}\n", name, strings.Join(body, " "))
	}},
	{".java", func(i int) string { return fmt.Sprintf("package p%d;\n\nimport java.util.List;\n\n", i%5) }, func(name string, body []string) string {
		return fmt.Sprintf("class %s {\n    /* %s */\n    int value(int a) { return a; }\n}\n", name, strings.Join(body, " "))
	}},
	{".rs", func(int) string { return "use std::fmt;\n\n" }, func(name string, body []string) string {
		return fmt.Sprintf("pub fn %s(a: i32) -> i32 {\n    // %s\n    a + 1\n}\n", strings.ToLower(name), strings.Join(body, " "))
	}},
	{".md", func(i int) string { return fmt.Sprintf("# Chapter %d\n\n", i) }, func(name string, body []string) string {
		return fmt.Sprintf("## %s\n\n%s.\n\n", name, strings.Join(body, " "))
	}},
	{".json", func(int) string { return "" }, func(name string, body []string) string {
		return fmt.Sprintf("{%q: %q}\n", name, strings.Join(body, " "))
	}},
}

var nouns = []string{"order", "invoice", "parser", "queue", "cache", "token", "session", "index", "reader", "writer", "config", "stream"}

func newFile(r *rand.Rand, i, version int) (path, text string) {
	g := generators[i%len(generators)]
	noun := nouns[r.IntN(len(nouns))]
	path = fmt.Sprintf("%s/part%02d/%s_%d%s", nouns[i%5], i%23, noun, i, g.suffix)
	var b strings.Builder
	b.WriteString(g.head(i))
	for k := range 6 + r.IntN(14) {
		body := make([]string, 3+r.IntN(12))
		for j := range body {
			body[j] = nouns[r.IntN(len(nouns))]
		}
		name := fmt.Sprintf("V%d%s%d_%d", version, strings.ToUpper(noun[:1])+noun[1:], i, k)
		b.WriteString(g.define(name, append(body, fmt.Sprintf("version%d", version))))
		b.WriteString("\n")
	}
	return path, b.String()
}

// write makes a folder hold this tree and nothing else.
func (f tree) write(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(full string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, _ := filepath.Rel(dir, full)
		if _, stays := f[filepath.ToSlash(path)]; stays {
			return nil
		}
		return os.Remove(full)
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{}
	for path, text := range f {
		if old, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(old) != text {
			changed[path] = text
		}
	}
	writeFiles(t, dir, changed)
}
