package algolia

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/search/algolia/algoliatest"
)

func scopeOf(ids ...codesage.RepositoryID) (list []codesage.Snapshot) {
	for _, id := range ids {
		list = append(list, codesage.Snapshot{Repository: id, Run: 1})
	}
	return list
}

// lastBody is the body of the only question that was asked.
func lastBody(t *testing.T, s *algoliatest.Server) map[string]any {
	t.Helper()
	list := s.Requests()
	if len(list) != 1 || list[0].Route != "query" {
		t.Fatalf("asked %d times, want one query", len(list))
	}
	return list[0].Body
}

func TestSearchAsksWithTheOptionsOfTheContract(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	s.Requests()
	for _, test := range []struct {
		name    string
		q       search.Query
		filters string
	}{
		{"one repository", search.Query{Scope: scopeOf(7)}, `repository_id:7 AND NOT entity_type:"import"`},
		{"several", search.Query{Scope: scopeOf(9, 7, 3, 8, 7)}, `(repository_id = 3 OR repository_id:7 TO 9) AND NOT entity_type:"import"`},
		{"neighbours", search.Query{Scope: scopeOf(1, 2)}, `repository_id:1 TO 2 AND NOT entity_type:"import"`},
		{"type", search.Query{Scope: scopeOf(7), EntityType: codesage.EntityImport}, `repository_id:7 AND entity_type:"import"`},
		{"language", search.Query{Scope: scopeOf(7), Language: "c++", EntityType: codesage.EntityClass}, `repository_id:7 AND language:"c++" AND entity_type:"class"`},
		{"quotes", search.Query{Scope: scopeOf(7), Language: `a"b\`}, `repository_id:7 AND language:"a\"b\\" AND NOT entity_type:"import"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.q.Text, test.q.Limit, test.q.Page = "Load it", 7, 2
			if _, err := e.Search(t.Context(), test.q); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(lastBody(t, s))
			if err != nil {
				t.Fatal(err)
			}
			filters, _ := json.Marshal(test.filters)
			names, _ := json.Marshal(attributes)
			want := `{"analytics":false,"attributesToHighlight":[],"attributesToRetrieve":` + string(names) + `,"attributesToSnippet":[],"filters":` + string(filters) +
				`,"hitsPerPage":7,"ignorePlurals":true,"page":2,"query":"Load it","queryLanguages":["en"],"removeStopWords":true,"removeWordsIfNoResults":"allOptional"}`
			if string(got) != want {
				t.Errorf("asked %s, want %s", got, want)
			}
		})
	}
}

func TestNothingIsAskedWhenNothingCanBeFound(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	s.Requests()
	for _, q := range []search.Query{
		{Text: "load"},
		{Text: " !?", Scope: scopeOf(1)},
		{Text: "load", Scope: scopeOf(1), Language: "Go"},
		{Text: "load", Scope: scopeOf(1), EntityType: `class" OR "`},
	} {
		if r, err := e.Search(t.Context(), q); err != nil || r.TotalHits != 0 {
			t.Errorf("%+v: got %d hits, %v, want none", q, r.TotalHits, err)
		}
	}
	if names, err := e.Suggest(t.Context(), "load", scopeOf(1), 0); err != nil || len(names) > 0 {
		t.Errorf("suggest none: got %q, %v", names, err)
	}
	if got := routes(s); got != "" {
		t.Errorf("asked %q, want nothing", got)
	}
}

func TestLongQueryIsCutAtACharacter(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	for _, text := range []string{strings.Repeat("é", 400), "a" + strings.Repeat("日", 300), strings.Repeat("x\xff", 400)} {
		s.Requests()
		if _, err := e.Search(t.Context(), search.Query{Text: text, Scope: scopeOf(1)}); err != nil {
			t.Fatalf("search: %v", err)
		}
		got, _ := lastBody(t, s)["query"].(string)
		if len(got) > search.MaxQueryBytes || len(got) < search.MaxQueryBytes-3 || strings.Contains(got, "\uFFFD") {
			t.Errorf("asked %d bytes, %q", len(got), got)
		}
	}
}

func TestScopeOfAThousandRepositoriesHasABoundedFilter(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	var ids []codesage.RepositoryID
	for i := range 1000 {
		ids = append(ids, codesage.RepositoryID(2*i+1))
	}
	index(t, e, 501, 1, tree{"a.go": {"load"}})
	index(t, e, 502, 2, tree{"a.go": {"load"}}) // between members, but none
	s.Requests()
	r, err := e.Search(t.Context(), search.Query{Text: "load", Scope: scopeOf(ids...), Limit: 10})
	if err != nil || len(r.Hits) != 1 || r.Hits[0].RepositoryID != 501 {
		t.Errorf("got %d hits, %v, want that of repository 501", len(r.Hits), err)
	}
	if filters, _ := lastBody(t, s)["filters"].(string); len(filters) > maxSpans*40 {
		t.Errorf("the filter has %d bytes", len(filters))
	}
	got, err := e.Suggest(t.Context(), "load", scopeOf(ids...), 5)
	if err != nil || !slices.Equal(got, []string{"load"}) {
		t.Errorf("suggest: got %q, %v", got, err)
	}
}

func TestSuggestLooksAtTwiceTheLimit(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	s.Requests()
	if _, err := e.Suggest(t.Context(), "load", scopeOf(1), 9); err != nil {
		t.Fatal(err)
	}
	if got := lastBody(t, s)["hitsPerPage"]; got != 18. {
		t.Errorf("asked for %v hits, want 18", got)
	}
}

func TestMarksAreFoundByNoSearch(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{})
	before := tree{"a.go": {"load"}, "gone.go": {"load"}}
	index(t, e, 1, 1, before)
	w := begin(t, e, 1, 1, 2)
	write(t, w, 1, 2, before, tree{"a.go": {"load"}})
	commit(t, w)
	if got := s.Records("entities"); got != 2 {
		t.Fatalf("%d records, want the entity and the mark", got)
	}
	for _, q := range []search.Query{{Text: "load"}, {Text: "import"}, {Text: "import", EntityType: codesage.EntityImport}, {Text: "1"}} {
		q.Scope = scopeOf(1)
		if r, err := e.Search(t.Context(), q); err != nil || len(r.Hits) > 0 && r.Hits[0].EntityName == "" || r.TotalHits > 1 {
			t.Errorf("%+v: got %d hits, %v", q, r.TotalHits, err)
		}
	}
	if got, err := e.Languages(t.Context(), scopeOf(1)); err != nil || !slices.Equal(got, []string{"go"}) {
		t.Errorf("languages: got %q, %v", got, err)
	}
}

// members are the ids below 60 that are in one of the ranges.
func members(list []span) (ids []codesage.RepositoryID) {
	for id := codesage.RepositoryID(0); id < 60; id++ {
		if slices.ContainsFunc(list, func(s span) bool { return s.from <= id && id <= s.to }) {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestSpansHoldTheirIDs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		var ids []codesage.RepositoryID
		for range 1 + rnd.IntN(25) {
			ids = append(ids, codesage.RepositoryID(1+rnd.IntN(50)))
		}
		want := slices.Compact(slices.Sorted(slices.Values(ids)))
		list := idSpans(ids)
		if got := members(list); !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", ids, got, want)
		}
		both := slices.Sorted(slices.Values(append(members(list), members(complement(list))...)))
		if len(both) != 60 || len(slices.Compact(both)) != 60 {
			t.Fatalf("%v: the complement is %v", ids, complement(list))
		}
		n := 1 + rnd.IntN(8)
		few := bounded(list, n)
		if len(few) != min(n, len(list)) {
			t.Fatalf("%v: %d ranges, want %d of %d", ids, len(few), n, len(list))
		}
		for _, id := range want {
			if !slices.Contains(members(few), id) {
				t.Fatalf("%v: bounded to %v, which lacks %d", ids, few, id)
			}
		}
	}
}

func TestPageThatCrossesTheLastReachableHit(t *testing.T) {
	t.Parallel()
	e, _ := openFake(t, Config{})
	files := tree{}
	for i := range 20 {
		files[fmt.Sprintf("f%d.go", i)] = names("load", 51)
	}
	index(t, e, 1, 1, files)
	for page, want := range map[int]int{32: 30, 33: 10, 34: 0} {
		r, err := e.Search(t.Context(), search.Query{Text: "load", Scope: scopeOf(1), Limit: 30, Page: page})
		if err != nil || len(r.Hits) != want || r.TotalHits != 1020 || r.Pages != 34 {
			t.Errorf("page %d: got %d hits of %d, %d pages, %v, want %d of 1020, 34 pages", page, len(r.Hits), r.TotalHits, r.Pages, err, want)
		}
	}
}
