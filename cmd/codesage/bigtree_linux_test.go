package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
)

const (
	mostOfServer = 400 << 20
	mostOfParser = 200 << 20
)

// TestTheStandardLibraryOfGoIsIndexed indexes a large real tree within the
// memory that is promised.
func TestTheStandardLibraryOfGoIsIndexed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a while")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	s := newServer(t)
	repo := s.add(filepath.Join(strings.TrimSpace(string(root)), "src"), "go")
	server, parsers := int64(0), int64(0)
	seen := map[int]bool{}
	s.eventually("the run ends", func() bool {
		server = max(server, peak(s.cmd.Process.Pid))
		for _, pid := range children(s.cmd.Process.Pid) {
			parsers = max(parsers, peak(pid))
		}
		if repo, err = s.api.Repository(context.Background(), repo.ID); err != nil {
			t.Fatal(err)
		}
		seen[repo.ProcessedFiles] = true
		return repo.Status == codesage.StatusCompleted || repo.Status == codesage.StatusFailed
	})
	run := s.newest(repo.ID)
	t.Logf("%s: %d files, %d entities in %.1f s; at most %d MB in the server and %d MB in a parse process; %d steps of progress; %s",
		repo.Status, repo.TotalFiles, repo.TotalEntities, run.Seconds, server>>20, parsers>>20, len(seen), repo.ErrorMessage)
	if repo.Status != codesage.StatusCompleted || repo.TotalFiles < 5000 || repo.ProcessedFiles != repo.TotalFiles {
		t.Errorf("%s with %d/%d files", repo.Status, repo.ProcessedFiles, repo.TotalFiles)
	}
	if server > mostOfServer || parsers > mostOfParser || parsers == 0 {
		t.Errorf("the server took %d MB and a parse process %d MB", server>>20, parsers>>20)
	}
	if len(seen) < 5 {
		t.Errorf("progress showed %d steps only", len(seen))
	}
	if got := must[searchResult](t, s, "search_code", args{"query": "ServeHTTP", "entity_type": "function"}); got.TotalHits == 0 || got.Results[0].EntityName != "ServeHTTP" {
		t.Errorf("ServeHTTP is not found first: %d hits", got.TotalHits)
	}
}
