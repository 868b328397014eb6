package algolia

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
)

// tree is the entities of files by path: their names.
type tree map[string][]string

func recordsOf(repo codesage.RepositoryID, run codesage.RunID, path string, names []string) []search.Record {
	list := []search.Record{}
	for i, name := range names {
		list = append(list, search.Record{
			ObjectID: search.ObjectID(repo, path, i), RepositoryID: repo, Run: run, EntityType: codesage.EntityFunction,
			EntityName: name, FilePath: path, Language: "go", LineStart: i + 1, LineEnd: i + 1, RankWeight: 3,
		})
	}
	return list
}

func begin(t *testing.T, e *Engine, repo codesage.RepositoryID, base, run codesage.RunID) search.Writer {
	t.Helper()
	w, err := e.Begin(t.Context(), codesage.Repository{ID: repo}, base, codesage.Run{ID: run})
	if err != nil {
		t.Fatalf("begin run %d of repository %d: %v", run, repo, err)
	}
	t.Cleanup(w.Abort)
	return w
}

// write gives a writer what differs between two trees.
func write(t *testing.T, w search.Writer, repo codesage.RepositoryID, run codesage.RunID, before, after tree) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if slices.Equal(before[path], after[path]) {
			continue
		}
		if err := w.Put(t.Context(), path, len(before[path]), recordsOf(repo, run, path, after[path])); err != nil {
			t.Fatalf("put %s: %v", path, err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[path]; !ok {
			if err := w.Delete(t.Context(), path, len(before[path])); err != nil {
				t.Fatalf("delete %s: %v", path, err)
			}
		}
	}
}

func commit(t *testing.T, w search.Writer) {
	t.Helper()
	if err := w.Commit(t.Context()); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// index makes a run that has a tree alone.
func index(t *testing.T, e *Engine, repo codesage.RepositoryID, run codesage.RunID, files tree) {
	t.Helper()
	w := begin(t, e, repo, 0, run)
	write(t, w, repo, run, nil, files)
	commit(t, w)
}

// entities are the places and names that the index has of a repository.
func entities(t *testing.T, e *Engine, repo codesage.RepositoryID) []string {
	t.Helper()
	list := []string{}
	r, err := e.post(t.Context(), "query", 1, question{
		Filters: repositoryFilter(repo), HitsPerPage: 1000, AttributesToRetrieve: attributes,
		AttributesToHighlight: []string{}, AttributesToSnippet: []string{}, RemoveWordsIfNoResults: "none", QueryLanguages: []string{"en"},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := records(r.Hits, scope{isExact: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		if r.ObjectID != search.ObjectID(repo, "", 0) {
			list = append(list, fmt.Sprintf("%s %d %s", r.FilePath, r.LineStart, r.EntityName))
		}
	}
	slices.Sort(list)
	return list
}

func (f tree) entities() []string {
	list := []string{}
	for path, names := range f {
		for i, name := range names {
			list = append(list, fmt.Sprintf("%s %d %s", path, i+1, name))
		}
	}
	slices.Sort(list)
	return list
}

func wantEntities(t *testing.T, e *Engine, repo codesage.RepositoryID, want tree) {
	t.Helper()
	if got, want := entities(t, e, repo), want.entities(); !slices.Equal(got, want) {
		t.Errorf("repository %d has %q, want %q", repo, got, want)
	}
}

// routes are the routes that were asked, but for the polls of tasks; batches with
// what they write and delete.
func routes(s *algoliatest.Server) string {
	var list []string
	for _, q := range s.Requests() {
		switch {
		case q.Route == "batch":
			list = append(list, fmt.Sprintf("batch+%d-%d", len(q.Adds), len(q.Deletes)))
		case q.Route == "settings":
			list = append(list, q.Method+" settings")
		case q.Route != "task":
			list = append(list, q.Route)
		}
	}
	return strings.Join(list, " ")
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s%d", prefix, i))
	}
	return list
}
