package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage/pipeline/source/git/gittest"
)

// linesOf returns the lines of the log from a place on that have one of the messages.
func (h *house) linesOf(from int, messages ...string) (lines []string) {
	for line := range strings.Lines(h.log.String()[from:]) {
		for _, message := range messages {
			if strings.Contains(line, ` msg="`+message) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// damage removes the index files of a repository and returns where the log ends.
func (h *house) damage(id any) (logged int) {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, "index", fmt.Sprint(id))); err != nil {
		h.t.Fatal(err)
	}
	return len(h.log.String())
}

// Whatever a run or a request makes the parts log, from the source to the search
// engine, carries its id: also a rebuild that goes on without it.
func TestEveryLineOfAPartHasTheIDOfItsRunOrRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	remote := h.hosts.Repo("github.com", "octo/demo")
	remote.Commit("main", gittest.Files(map[string]string{
		"a.go": "package a\n\nfunc Load() {}\n", "b.kt": "val s = " + strings.Repeat(`"${`, 3_000)}))
	id := h.indexed(remote.URL())
	rebuild := []string{"search index is missing or damaged", "rebuilt search index"}
	check := func(from, want int, attr string, messages ...string) {
		t.Helper()
		// A line may come after what it tells of can be seen.
		h.until("the lines are written", func() bool { return len(h.linesOf(from, messages...)) >= want })
		lines := h.linesOf(from, messages...)
		if len(lines) != want {
			t.Errorf("%d lines, want %d", len(lines), want)
		}
		for _, line := range lines {
			if strings.Count(line, " run=")+strings.Count(line, " request=") != 1 || !strings.Contains(line+" ", attr) {
				t.Errorf("no%sin: %s", attr, line)
			}
		}
		if t.Failed() {
			t.Fatal(h.log.String()[from:])
		}
	}
	check(0, 4, " run=1 ", "run started", "fetched a repository", "parser crashed", "run completed")

	from := h.damage(id)
	h.ask("POST", "/api/v1/ai/mcp/tools/call", `{"tool_name":"search_code","arguments":{"query":"Load"}}`,
		"Content-Type", "application/json", "X-Request-ID", "r1")
	check(from, 2, " request=r1 ", rebuild...)

	remote.Commit("main", gittest.Files(map[string]string{"a.go": "package a\n\nfunc Store() {}\n"}))
	from = h.damage(id)
	h.ask("POST", fmt.Sprintf("/api/v1/repositories/%d/reprocess", id), "", "X-Request-ID", "r2")
	h.until("the run has begun", func() bool { return h.repository(id).Latest.ID == 2 })
	h.ended(id)
	check(from, 2, " run=2 ", rebuild...)
}
