package algolia

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
)

func keeping(runs map[codesage.RepositoryID][]codesage.RunID) search.Keep {
	return func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) { return runs, nil }
}

func retain(t *testing.T, e *Engine, keep map[codesage.RepositoryID][]codesage.RunID) {
	t.Helper()
	if err := e.Retain(t.Context(), keeping(keep)); err != nil {
		t.Fatalf("retain: %v", err)
	}
}

func TestRetainRemovesRepositoriesThatAreGone(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{PageSize: 3})
	e := openAt(t, s, Config{})
	files := tree{"a.go": names("load", 7), "b.go": names("b", 2)}
	for repo := codesage.RepositoryID(1); repo <= 6; repo++ {
		index(t, e, repo, codesage.RunID(repo), files)
	}
	retain(t, e, map[codesage.RepositoryID][]codesage.RunID{2: {2}, 4: {}, 5: {9}})
	for repo := codesage.RepositoryID(1); repo <= 6; repo++ {
		want := tree{}
		if repo == 2 || repo == 4 || repo == 5 {
			want = files
		}
		wantEntities(t, e, repo, want)
	}
	s.Requests()
	retain(t, e, map[codesage.RepositoryID][]codesage.RunID{2: {2}, 4: {}, 5: {9}})
	if got := routes(s); got != "browse" {
		t.Errorf("a second time it asked %q, want to browse only", got)
	}
}

// A repository that is added after the first question and indexed before its
// records are listed stays: keep is asked again.
func TestRetainSparesARepositoryThatIsNew(t *testing.T) {
	t.Parallel()
	e, _ := openFake(t, Config{})
	files := tree{"a.go": names("load", 3)}
	index(t, e, 1, 1, files)
	index(t, e, 3, 2, files) // was deleted
	known := map[codesage.RepositoryID][]codesage.RunID{1: {1}}
	err := e.Retain(t.Context(), func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
		now := maps.Clone(known)
		if known[2] == nil {
			known[2] = []codesage.RunID{3}
			index(t, e, 2, 3, files)
		}
		return now, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEntities(t, e, 1, files)
	wantEntities(t, e, 2, files)
	wantEntities(t, e, 3, tree{})
}

func TestRetainRemovesNothingWhenItCannotAsk(t *testing.T) {
	t.Parallel()
	e, _ := openFake(t, Config{})
	files := tree{"a.go": names("load", 3)}
	index(t, e, 1, 1, files)
	away, asked := errors.New("the database is away"), 0
	for last := 1; last <= 2; last++ {
		asked = 0
		err := e.Retain(t.Context(), func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) {
			if asked++; asked == last {
				return nil, away
			}
			return nil, nil
		})
		if !errors.Is(err, away) {
			t.Errorf("question %d: got %v", last, err)
		}
	}
	wantEntities(t, e, 1, files)
}

func TestRetainWithNothingToKeepEmptiesTheIndex(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	index(t, e, 1, 1, tree{"a.go": names("load", 3)})
	retain(t, e, nil)
	retain(t, e, nil)
	if got := s.Records("entities"); got != 0 {
		t.Errorf("%d records are left, want none", got)
	}
}

func TestRetainSparesARepositoryWithAWriter(t *testing.T) {
	t.Parallel()
	e, _ := openFake(t, Config{HoldBytes: 1})
	files := tree{"a.go": names("a", 1200)}
	index(t, e, 2, 9, tree{"a.go": {"x"}})
	w := begin(t, e, 1, 0, 1)
	write(t, w, 1, 1, nil, files)
	keep := map[codesage.RepositoryID][]codesage.RunID{2: {9}}
	retain(t, e, keep)
	retain(t, e, keep)
	commit(t, w)
	if got := len(entities(t, e, 1)); got != 1000 {
		t.Errorf("a search shows %d entities, want the 1000 that it can reach", got)
	}
	retain(t, e, keep)
	wantEntities(t, e, 1, tree{})
}

func TestRetainOfAThousandRepositoriesAsksBoundedQuestions(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	keep := map[codesage.RepositoryID][]codesage.RunID{}
	for i := range 1000 {
		keep[codesage.RepositoryID(2*i+1)] = []codesage.RunID{5}
	}
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	index(t, e, 500, 2, tree{"a.go": {"load"}})
	index(t, e, 5000, 3, tree{"a.go": {"load"}})
	s.Requests()
	retain(t, e, keep)
	n := 0
	for _, q := range s.Requests() {
		if q.Route == "browse" {
			n++
		}
		if text, _ := q.Body["filters"].(string); len(text) > maxSpans*40 || strings.Count(text, " OR ") >= maxSpans {
			t.Errorf("a filter has %d bytes", len(text))
		}
	}
	if n > 11 {
		t.Errorf("asked %d times, want at most 11", n)
	}
	if got := s.Records("entities"); got != 1 {
		t.Errorf("%d records are left, want one", got)
	}
}
