package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"codesage"
)

// slowScript is a script that a parser does not finish.
var slowScript = strings.Repeat("<<A ", 40_000)

// hostileFiles are inputs that crash, hang or exhaust grammars, each with the
// reasons with which it may be counted; an empty one stands for none.
func hostileFiles() (files map[string]string, reasons map[string][]codesage.SkipReason) {
	deep := func(s string) string { return strings.Repeat(s, 100_000) }
	const timeout, crash, size = codesage.SkipParseTimeout, codesage.SkipParserCrash, codesage.SkipParseSize
	files, reasons = map[string]string{}, map[string][]codesage.SkipReason{}
	add := func(path, text string, may ...codesage.SkipReason) { files[path], reasons[path] = text, may }
	add("quotes.md", strings.Repeat(strings.Repeat("> ", 260)+"x\n", 100), "")
	add("lists.md", strings.Repeat("- ", 10_000), "")
	add("interpolation.kt", "val s = "+strings.Repeat(`"${`, 3_000), crash)
	add("heredocs.sh", slowScript, timeout)
	add("quotes.lua", strings.Repeat("'", 90_000), timeout)
	add("brackets.js", deep("(")+"1"+deep(")")+";\n", "", timeout, crash, size) // B26: n1.js
	add("open.rs", deep("("), "", timeout, crash, size)                         // B26: n2.rs
	add("brackets.json", deep("[")+deep("]"), "")                               // B26: n3.json
	add("templates.cpp", deep("<A "), timeout, size)
	add("large.js", strings.Repeat(" ", 1_000_001), size)
	return files, reasons
}

// TestHostileFilesCostThemselvesOnly indexes inputs that crash or hang grammars
// beside good files.
func TestHostileFilesCostThemselvesOnly(t *testing.T) {
	t.Parallel()
	files, reasons := hostileFiles()
	folder := t.TempDir()
	writeFiles(t, folder, files)
	writeFiles(t, folder, map[string]string{"fine.go": "package fine\n\nfunc Fine() {}\n", "fine.kt": "fun fineToo() {}\n", "fine.sh": "fine_as_well() { :; }\n"})
	s := newServer(t, "PARSE_PROCESSES=2")
	began := time.Now()
	repo, run := s.index(folder, "hostile")
	took := time.Since(began)
	t.Logf("%.1f s, skipped %v, %s", took.Seconds(), run.Skipped, repo.ErrorMessage)
	if repo.Status != codesage.StatusCompleted || took > time.Minute {
		t.Errorf("%s after %s: %s", repo.Status, took, repo.ErrorMessage)
	}
	checkReasons(t, s, repo.ID, run.Skipped, reasons)
	if repo.TotalFiles != len(files)+3 || !strings.HasPrefix(repo.ErrorMessage, "Partially indexed: ") {
		t.Errorf("%d files, want %d: %q", repo.TotalFiles, len(files)+3, repo.ErrorMessage)
	}
	for name, want := range map[string]string{"Fine": "fine.go:3-3", "fineToo": "fine.kt:1-1", "fine_as_well": "fine.sh:1-1"} {
		if got := definitions(t, s, "hostile", name); len(got) != 1 || got[0] != want {
			t.Errorf("%s is at %q", name, got)
		}
	}
	for path := range files { // as text all of them are there
		if answer, err := call(s.api, "get_file", args{"repository": "hostile", "path": path}); err != nil || answer.IsError {
			t.Errorf("get_file %s: %v %s", path, err, answer.Error)
		}
	}
	_, again := s.index(folder, "hostile")
	if again.ParsedFiles != 0 || len(again.Skipped) != len(run.Skipped) {
		t.Errorf("the second run parsed %d and skipped %v", again.ParsedFiles, again.Skipped)
	}
}

// checkReasons holds the list of skipped files against what may be there, and
// against the run's own counts.
func checkReasons(t *testing.T, s *server, id codesage.RepositoryID, counted map[codesage.SkipReason]int, may map[string][]codesage.SkipReason) {
	t.Helper()
	skips, _, err := s.api.Skipped(context.Background(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	listed, found := map[codesage.SkipReason]int{}, map[string]codesage.SkipReason{}
	for _, k := range skips {
		listed[k.Reason]++
		found[k.Path] = k.Reason
	}
	for path, reasons := range may {
		ok := false
		for _, r := range reasons {
			ok = ok || found[path] == r
		}
		if !ok {
			t.Errorf("%s is skipped with %q, want one of %q", path, found[path], reasons)
		}
	}
	for reason, n := range counted {
		if listed[reason] != n {
			t.Errorf("%d files are counted as %q, and %d listed", n, reason, listed[reason])
		}
	}
}
