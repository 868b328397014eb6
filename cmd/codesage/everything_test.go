package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/api/client"
)

// everything is all that a server tells about one repository: question to
// answer, without what differs between two equal indexes (times, and how a run
// came by its result).
type everything map[string]string

// tellEverything asks a server everything about a repository.
func tellEverything(t testing.TB, s *server, id codesage.RepositoryID) everything {
	t.Helper()
	e := everything{}
	repo, run := s.finish(id)
	e.record("rest", timeless(repo))
	e.record("run", map[string]any{"files": run.TotalFiles, "processed": run.ProcessedFiles, "entities": run.TotalEntities,
		"bytes": run.Bytes, "skipped": run.Skipped, "notice": run.Notice, "status": run.Status})
	for _, r := range must[listResult](t, s, "list_repositories", nil).Repositories {
		r.ProcessedAt = nil
		e.record("list_repositories", r)
	}
	for after := ""; ; {
		skips, next, err := s.api.Skipped(context.Background(), id, after)
		if err != nil {
			t.Fatal(err)
		}
		e.record("skipped after "+after, skips)
		if after = next; after == "" {
			break
		}
	}
	e.call(t, s, "analyze_repository", args{"repository": repo.Name})
	for _, path := range paths(t, s, int64(id)) {
		e.call(t, s, "get_file", args{"repository": repo.Name, "path": path})
		e.call(t, s, "list_definitions", args{"repository": repo.Name, "path_prefix": path, "limit": 500})
	}
	for _, query := range []string{"order", "invoice parser", "token cache run", "V1Order", "version1", "version2", "does its part", "Chapter", "value"} {
		for page := range 4 {
			e.call(t, s, "search_code", args{"query": query, "limit": 50, "page": page})
		}
		e.call(t, s, "search_code", args{"query": query, "entity_type": "import"})
		e.call(t, s, "search_code", args{"query": query, "language": "go", "limit": 50})
	}
	for _, pattern := range []string{"version1", `cache\s+token`, `^func V\d+Reader`, "no such text"} {
		e.call(t, s, "find_patterns", args{"repository": repo.Name, "pattern": pattern, "regex": true, "max_results": 500})
	}
	return e
}

// timeless is a repository without its times.
func timeless(r client.Repository) client.Repository {
	r.ProcessedAt, r.CreatedAt, r.UpdatedAt = time.Time{}, time.Time{}, time.Time{}
	return r
}

func (e everything) record(question string, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	e[question] = string(raw)
}

func (e everything) call(t testing.TB, s *server, tool string, a args) {
	t.Helper()
	answer, err := call(s.api, tool, a)
	if err != nil {
		t.Fatal(err)
	}
	e.record(fmt.Sprint(tool, " ", a), answer)
}

// checkSame compares two servers' everything.
func checkSame(t testing.TB, got, want everything) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d answers, want %d", len(got), len(want))
	}
	shown := 0
	for question, answer := range want {
		if diff := cmp.Diff(answer, got[question]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", question, diff)
			if shown++; shown == 5 {
				t.Fatal("and perhaps more")
			}
		}
	}
}
