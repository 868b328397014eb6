//go:build unix

package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"codesage"
)

func TestAnIndexIsOfOneDatabaseAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	of := func(identity string) *indexClaim {
		c := newIndexClaim(dir, identity, slog.New(slog.DiscardHandler))
		c.wait = 0
		return c
	}
	file := filepath.Join(dir, "index", "7", "texts", "run-1-1.json")
	isThere := func() bool {
		_, err := os.Stat(file)
		return err == nil
	}
	for _, identity := range []string{"a", "b", "a"} {
		var mu sync.Mutex
		var releases []func() error
		var all sync.WaitGroup
		for range 8 { // whoever is first
			all.Go(func() {
				claim := of(identity)
				claim.wait = patience
				release, err := claim.take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				releases = append(releases, release)
			})
		}
		all.Wait()
		if isThere() {
			t.Errorf("%s sees another's files", identity)
		}
		if err := os.RemoveAll(indexDir(dir)); err != nil { // the claim stays
			t.Fatal(err)
		}
		writeFiles(t, dir, map[string]string{"index/7/texts/run-1-1.json": identity})
		if _, err := of("other").take(t.Context()); codesage.KindOf(err) != codesage.KindConflict {
			t.Errorf("beside %s: %v", identity, err)
		}
		for _, release := range releases {
			if err := release(); err != nil {
				t.Error(err)
			}
		}
		release, err := of(identity).take(t.Context())
		if err != nil || !isThere() {
			t.Fatalf("the files of %s are gone, %v", identity, err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoServersOfOneDataFolderMixNothing: the ids of repositories and runs are
// the same in both databases.
func TestTwoServersOfOneDataFolderMixNothing(t *testing.T) {
	t.Parallel()
	one := newTeam(t)
	two := newTeam(t, "CODESAGE_DATA_DIR="+one.data)
	two.data = one.data
	begin := func(x *team) (api, worker *server) { return x.start("api"), x.start("worker") }
	stop := func(servers ...*server) {
		for _, s := range servers {
			s.stop()
		}
	}
	folders := map[string]string{}
	for _, name := range []string{"Alpha", "Beta"} {
		folders[name] = t.TempDir()
		writeFiles(t, folders[name], map[string]string{"a.go": "package a\n\n// " + name + " has a text.\nfunc " + name + "() {}\n"})
	}
	// finds checks that a server finds what it indexed, by definition and by text.
	finds := func(api *server, want, not string) {
		t.Helper()
		for name, n := range map[string]int{want: 1, not: 0} {
			lines := must[patternsResult](t, api, "find_patterns", args{"repository": "folder", "pattern": name + " has a text"})
			hits := must[searchResult](t, api, "search_code", args{"repository": "folder", "query": name})
			if lines.TotalMatches != n || hits.TotalHits != n {
				t.Errorf("%s is on %d lines and in %d hits, want %d", name, lines.TotalMatches, hits.TotalHits, n)
			}
		}
	}
	api, worker := begin(one)
	api.index(folders["Alpha"], "folder")
	finds(api, "Alpha", "Beta")
	out := command{args: []string{"api"}, env: two.env}.run(t)
	if faults := out.faults(); out.code != exitFailed || len(faults) != 1 || !strings.Contains(faults[0], "in use for another database") {
		t.Errorf("code %d, %q\n%s", out.code, faults, out.stderr)
	}
	finds(api, "Alpha", "Beta")
	stop(worker, api)

	api, worker = begin(two)
	api.index(folders["Beta"], "folder")
	finds(api, "Beta", "Alpha")
	stop(worker, api)

	api, worker = begin(one)
	api.eventually("the index is built anew", func() bool {
		answer, err := call(api.api, "search_code", args{"repository": "folder", "query": "Alpha"})
		return err == nil && !answer.IsError
	})
	finds(api, "Alpha", "Beta")
	stop(worker, api)
}
