package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the README's table")

func TestREADMEHasTheTable(t *testing.T) {
	const path, begin, end = "../README.md", "<!-- config:begin -->\n", "<!-- config:end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has lost the marks of the table")
	}
	want := before + begin + markdown() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("the README's table differs from the code's; run go test ./config -update")
	}
}

// markdown returns the table for the README.
func markdown() string {
	var b strings.Builder
	for _, s := range sections() {
		fmt.Fprintf(&b, "| %s | default | |\n| --- | --- | --- |\n", strings.ToLower(s.title))
		for _, v := range s.variables {
			def := ""
			if v.Default != "" {
				def = "`" + v.Default + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, def, v.Help)
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
