package searchtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"codesage"
	"codesage/search"
)

func testPages(t *testing.T, s *suite) {
	var all []entity
	for i := range 23 {
		all = append(all, entity{name: fmt.Sprintf("load%d", i), path: fmt.Sprintf("f%d.go", i)})
	}
	s.index(first, all...)
	seen := map[string]bool{}
	for page := range 5 {
		r := s.search(search.Query{Text: "load", Limit: 5, Page: page})
		if r.TotalHits != 23 || r.Pages != 5 || r.Page != page {
			t.Errorf("page %d: got %d hits, %d pages, page %d, want 23, 5, %d", page, r.TotalHits, r.Pages, r.Page, page)
		}
		for _, h := range r.Hits {
			seen[h.EntityName] = true
		}
	}
	if len(seen) != 23 {
		t.Errorf("the pages show %d entities, want 23", len(seen))
	}
	for _, page := range []int{5, 1000, 1 << 40} {
		if r := s.search(search.Query{Text: "load", Limit: 5, Page: page}); len(r.Hits) > 0 {
			t.Errorf("page %d has %d hits, want none", page, len(r.Hits))
		}
	}
}

func testBeyondMaxHits(t *testing.T, s *suite) {
	var all []entity
	for i := range search.MaxHits + 30 {
		all = append(all, entity{name: fmt.Sprintf("load%d", i), path: fmt.Sprintf("f%d.go", i/10), line: i%10 + 1})
	}
	s.index(first, all...)
	last := s.search(search.Query{Text: "load", Limit: 50, Page: search.MaxHits/50 - 1})
	if last.TotalHits != search.MaxHits+30 || len(last.Hits) != 50 || last.Pages != search.MaxHits/50 {
		t.Errorf("got %d hits of %d, %d pages, want 50 of %d, %d pages", len(last.Hits), last.TotalHits, last.Pages, search.MaxHits+30, search.MaxHits/50)
	}
	if r := s.search(search.Query{Text: "load", Limit: 50, Page: search.MaxHits / 50}); len(r.Hits) > 0 {
		t.Errorf("a page beyond %d hits has %d", search.MaxHits, len(r.Hits))
	}
}

func testWholeRecords(t *testing.T, s *suite) {
	at := codesage.Snapshot{Repository: 7, Run: 3}
	e := entity{path: "dir/ü.py", name: "日本_load", kind: codesage.EntityClass, lang: "python", line: 12, sig: "class X:\n", desc: "Python class: X",
		content: "body \"quoted\"\r\n\tend", isTest: true}
	s.index(at, e)
	want := e.record(7, 3, 0)
	r := s.search(search.Query{Text: "load"}, at)
	if len(r.Hits) != 1 || r.Hits[0] != want {
		t.Errorf("got %+v, want %+v", r.Hits, want)
	}
}

func testScope(t *testing.T, s *suite) {
	second := codesage.Snapshot{Repository: 2, Run: 5}
	s.index(first, entity{name: "loadOne"})
	s.index(second, entity{name: "loadTwo"})
	for _, test := range []struct {
		scope []codesage.Snapshot
		want  string
	}{
		{[]codesage.Snapshot{first}, "[loadOne]"},
		{[]codesage.Snapshot{second}, "[loadTwo]"},
		{[]codesage.Snapshot{second, first}, "[loadOne loadTwo]"},
		{[]codesage.Snapshot{first, second, first}, "[loadOne loadTwo]"},
	} {
		if got := sorted(s.names("load", test.scope...)); fmt.Sprint(got) != test.want {
			t.Errorf("scope %v: got %q, want %s", test.scope, got, test.want)
		}
	}
	r, err := s.engine.Search(t.Context(), search.Query{Text: "load", Limit: 10})
	if err != nil || r.TotalHits != 0 {
		t.Errorf("an empty scope gave %d hits, %v, want none", r.TotalHits, err)
	}
}

func testRefresh(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "GoneOne", path: "a.go"}, entity{name: "StayOne", path: "a.go", line: 9},
		entity{name: "GoneTwo", path: "b.go"}, entity{name: "Moved", path: "c.go"}, entity{name: "Kept", path: "k.go"})
	next := codesage.Snapshot{Repository: 1, Run: 2}
	w := s.begin(1, next)
	s.put(w, next, 2, entity{name: "StayOne", path: "a.go", line: 2})
	s.put(w, next, 0, entity{name: "Moved", path: "d.go"})
	for _, path := range []string{"b.go", "c.go"} {
		if err := w.Delete(t.Context(), path, 1); err != nil {
			t.Fatal(err)
		}
	}
	s.commit(w)
	for query, want := range map[string]string{
		"GoneOne": "[]", "GoneTwo": "[]", "Moved": "[d.go:1]", "StayOne": "[a.go:2]", "Kept": "[k.go:1]",
	} {
		if got := places(s.search(search.Query{Text: query}, next)); got != want {
			t.Errorf("search %q after the refresh found %s, want %s", query, got, want)
		}
	}
}

func testOldRunStays(t *testing.T, s *suite) {
	s.index(first, entity{name: "GoneOne", path: "a.go"})
	next := codesage.Snapshot{Repository: 1, Run: 2}
	w := s.begin(1, next)
	s.put(w, next, 1, entity{name: "NewOne", path: "a.go"})
	s.commit(w)
	if got := s.names("one"); fmt.Sprint(got) != "[GoneOne]" {
		t.Errorf("the old run shows %q, want [GoneOne]", got)
	}
	if got := s.names("one", next); fmt.Sprint(got) != "[NewOne]" {
		t.Errorf("the new run shows %q, want [NewOne]", got)
	}
}

func testUncommittedIsUnseen(t *testing.T, s *suite) {
	s.index(first, entity{name: "loadOne"})
	next := codesage.Snapshot{Repository: 1, Run: 2}
	w := s.begin(1, next)
	s.put(w, next, 1, entity{name: "loadTwo"})
	s.finds("load", "loadOne")
	w.Abort()
	s.finds("load", "loadOne")
	if err := w.Put(t.Context(), "a.go", 0, nil); err == nil {
		t.Error("a put after abort gave no error")
	}
	w = s.begin(1, next)
	s.put(w, next, 1, entity{name: "loadThree"})
	s.commit(w)
	w.Abort()
	if got := s.names("load", next); fmt.Sprint(got) != "[loadThree]" {
		t.Errorf("got %q, want [loadThree]", got)
	}
}

func testPutTwice(t *testing.T, s *suite) {
	w := s.begin(0, first)
	s.put(w, first, 0, entity{name: "loadOne", path: "a.go"}, entity{name: "loadBoth", path: "b.go"})
	s.put(w, first, 0, entity{name: "loadTwo", path: "a.go"})
	if err := w.Delete(t.Context(), "b.go", 0); err != nil {
		t.Fatal(err)
	}
	s.commit(w)
	s.finds("load", "loadTwo")
}

func testParallelPuts(t *testing.T, s *suite) {
	w := s.begin(0, first)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 25 {
				e := entity{name: fmt.Sprintf("load%d", g*25+i), path: fmt.Sprintf("f%d.go", g*25+i)}
				if err := w.Put(t.Context(), e.path, 0, []search.Record{e.record(1, 1, 0)}); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	group.Wait()
	s.commit(w)
	if r := s.search(search.Query{Text: "load"}); r.TotalHits != 100 {
		t.Errorf("got %d hits, want 100", r.TotalHits)
	}
}

// keep names runs.
func keep(runs map[codesage.RepositoryID][]codesage.RunID) search.Keep {
	return func(context.Context) (map[codesage.RepositoryID][]codesage.RunID, error) { return runs, nil }
}

func testRetain(t *testing.T, s *suite) {
	second := codesage.Snapshot{Repository: 2, Run: 2}
	s.index(first, entity{name: "loadOne"})
	s.index(second, entity{name: "loadTwo"})
	next := codesage.Snapshot{Repository: 1, Run: 3}
	w := s.begin(1, next)
	s.put(w, next, 0, entity{name: "loadThree", path: "c.go"})
	s.commit(w)
	if err := s.engine.Retain(t.Context(), keep(map[codesage.RepositoryID][]codesage.RunID{1: {3}})); err != nil {
		t.Fatalf("retain: %v", err)
	}
	if got := sorted(s.names("load", next)); fmt.Sprint(got) != "[loadOne loadThree]" {
		t.Errorf("after retain: got %q, want [loadOne loadThree]", got)
	}
	r, err := s.engine.Search(t.Context(), search.Query{Text: "load", Scope: []codesage.Snapshot{second}, Limit: 10})
	if err == nil && r.TotalHits > 0 {
		t.Errorf("a removed repository still has %d hits", r.TotalHits)
	}
}

func testRetainSparesOpenWriter(t *testing.T, s *suite) {
	s.index(first, entity{name: "loadOne"})
	next := codesage.Snapshot{Repository: 1, Run: 2}
	w := s.begin(1, next)
	s.put(w, next, 0, entity{name: "loadTwo", path: "b.go"})
	if err := s.engine.Retain(t.Context(), keep(map[codesage.RepositoryID][]codesage.RunID{1: {1}})); err != nil {
		t.Fatalf("retain: %v", err)
	}
	s.finds("load", "loadOne")
	s.commit(w)
	if got := sorted(s.names("load", next)); fmt.Sprint(got) != "[loadOne loadTwo]" {
		t.Errorf("got %q, want [loadOne loadTwo]", got)
	}
}

func testSuggest(t *testing.T, s *suite) {
	s.index(first,
		entity{name: "RepositoryService", kind: codesage.EntityClass, path: "a.py"},
		entity{name: "repository_status", path: "a.py", line: 5}, entity{name: "repository_status", path: "b.py"},
		entity{name: "Repository", kind: codesage.EntityClass, path: "c.py"},
		entity{name: "repository", kind: codesage.EntityImport, path: "d.py"}, entity{name: "other", path: "e.py"})
	got, err := s.engine.Suggest(t.Context(), "repository", []codesage.Snapshot{first}, 10)
	if err != nil {
		t.Fatalf("suggest: %v", err)
	}
	var want []string
	for _, name := range s.names("repository") {
		if !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	if !slices.Equal(got, want) || len(got) != 3 || got[0] != "Repository" {
		t.Errorf("got %q, want the distinct names of the search in its order, %q", got, want)
	}
	if got, err = s.engine.Suggest(t.Context(), "repo", []codesage.Snapshot{first}, 2); err != nil || len(got) != 2 {
		t.Errorf("got %q, %v, want two names", got, err)
	}
}

func testLanguages(t *testing.T, s *suite) {
	s.index(first, entity{name: "a", lang: "python", path: "a.py"}, entity{name: "b", lang: "go", path: "b.go"})
	second := codesage.Snapshot{Repository: 2, Run: 2}
	s.index(second, entity{name: "c", lang: "rust", path: "c.rs"})
	next := codesage.Snapshot{Repository: 1, Run: 3}
	w := s.begin(1, next)
	if err := w.Delete(t.Context(), "a.py", 1); err != nil {
		t.Fatal(err)
	}
	s.commit(w)
	for _, test := range []struct {
		scope []codesage.Snapshot
		want  string
	}{
		{[]codesage.Snapshot{second}, "[rust]"},
		{[]codesage.Snapshot{second, next}, "[go rust]"},
		{[]codesage.Snapshot{next}, "[go]"},
		{nil, "[]"},
	} {
		got, err := s.engine.Languages(t.Context(), test.scope)
		if err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("languages of %v: got %q, %v, want %s", test.scope, got, err, test.want)
		}
	}
}
