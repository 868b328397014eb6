// Package searchtest is the contract suite of search engines: what every
// implementation of search.Engine promises, apart from the differences that a
// caller names.
//
// A search is tried in three steps, and the first that has hits within the
// filters answers:
//
//  1. all words of the query match, in any letter case, in another number, as a
//     part of an identifier, or, the last word, as the beginning of one;
//  2. all words match, those of five letters and more with one typo;
//  3. some words match.
//
// Stop words count only when the query has no others or in a qualified name, such
// as errors.Is. The place of an entity is its owner, which the description has
// before the name, and the last folder and the file of its path. What the query
// names comes first: the hit whose name is the query, in the same case, in
// another; then the hit whose name and place are a qualified name in the query;
// then the one whose name is the query but for separators. Then come those with
// more of the words, with fewer typos, those whose name is some words and whose
// place has the others, and those with words in better fields: name, signature
// and description, path, body. Hits that are equal so far come source before
// tests, then by rank weight, and in the end by path and line, so that the order
// is total and stays.
package searchtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"codesage"
	"codesage/search"
)

// Options name where an engine differs. A skip is the name of a test of the
// suite and the reason why the engine can't keep its promise.
type Options struct {
	Skip map[string]string
}

// Run runs the suite. open returns a new engine that is empty; the suite leaves
// closing to t.Cleanup of open.
func Run(t *testing.T, open func(t *testing.T) search.Engine, o Options) {
	for name := range o.Skip {
		if !slices.ContainsFunc(tests, func(test test) bool { return test.name == name }) {
			t.Errorf("skip of %s: the suite has no such test", name)
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if reason, ok := o.Skip[test.name]; ok {
				t.Skip(reason)
			}
			test.run(t, &suite{t: t, engine: open(t)})
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, s *suite)
}

var tests = []test{
	{"AllWords", testAllWords},
	{"IdentifierParts", testIdentifierParts},
	{"LetterCase", testLetterCase},
	{"Plurals", testPlurals},
	{"Prefix", testPrefix},
	{"OneTypo", testOneTypo},
	{"SomeWords", testSomeWords},
	{"StopWords", testStopWords},
	{"ExactNameFirst", testExactNameFirst},
	{"ExactCase", testExactCase},
	{"QualifiedNames", testQualifiedNames},
	{"NameAndPlace", testNameAndPlace},
	{"FieldOrder", testFieldOrder},
	{"SourceBeforeTests", testSourceBeforeTests},
	{"RankWeight", testRankWeight},
	{"PathAndLine", testPathAndLine},
	{"SameOrderEveryTime", testSameOrderEveryTime},
	{"ImportsOnRequest", testImportsOnRequest},
	{"Filters", testFilters},
	{"FiltersAreValues", testFiltersAreValues},
	{"AnyQueryText", testAnyQueryText},
	{"NoWords", testNoWords},
	{"Pages", testPages},
	{"BeyondMaxHits", testBeyondMaxHits},
	{"WholeRecords", testWholeRecords},
	{"Scope", testScope},
	{"Refresh", testRefresh},
	{"OldRunStays", testOldRunStays},
	{"UncommittedIsUnseen", testUncommittedIsUnseen},
	{"PutTwice", testPutTwice},
	{"ParallelPuts", testParallelPuts},
	{"Retain", testRetain},
	{"RetainSparesOpenWriter", testRetainSparesOpenWriter},
	{"Suggest", testSuggest},
	{"Languages", testLanguages},
	{"Cancelled", testCancelled},
	{"Ping", testPing},
}

// A suite is an engine under test, with the words that tests are written in.
type suite struct {
	t      *testing.T
	engine search.Engine
}

// An entity is a record of a test. What is left out has a default.
type entity struct {
	path    string // a.go
	name    string
	kind    codesage.EntityType // function
	lang    string              // go
	line    int                 // 1
	sig     string
	desc    string
	content string
	isTest  bool
}

func (e entity) record(repo codesage.RepositoryID, run codesage.RunID, n int) search.Record {
	if e.path == "" {
		e.path = "a.go"
	}
	if e.kind == "" {
		e.kind = codesage.EntityFunction
	}
	if e.lang == "" {
		e.lang = "go"
	}
	r := search.Record{
		ObjectID: search.ObjectID(repo, e.path, n), RepositoryID: repo, RepositoryName: repositoryName(repo), Run: run,
		EntityType: e.kind, EntityName: e.name, FilePath: e.path, Language: e.lang,
		LineStart: max(e.line, 1), LineEnd: max(e.line, 1) + 2, Signature: e.sig, Description: e.desc, Content: e.content,
		RankWeight: e.kind.RankWeight(),
	}
	if e.isTest {
		r.IsTest = 1
	}
	return r
}

func repositoryName(repo codesage.RepositoryID) string { return fmt.Sprintf("octo/r%d", repo) }

// The snapshot that most tests use.
var first = codesage.Snapshot{Repository: 1, Run: 1}

func (s *suite) begin(base codesage.RunID, at codesage.Snapshot) search.Writer {
	s.t.Helper()
	w, err := s.engine.Begin(s.t.Context(), codesage.Repository{ID: at.Repository, Name: repositoryName(at.Repository)}, base, codesage.Run{ID: at.Run})
	if err != nil {
		s.t.Fatalf("begin run %d from %d: %v", at.Run, base, err)
	}
	s.t.Cleanup(w.Abort)
	return w
}

func (s *suite) put(w search.Writer, at codesage.Snapshot, old int, entities ...entity) {
	s.t.Helper()
	var paths []string
	files := map[string][]search.Record{}
	for _, e := range entities {
		r := e.record(at.Repository, at.Run, len(files[e.path]))
		if files[e.path] == nil {
			paths = append(paths, e.path)
		}
		files[e.path] = append(files[e.path], r)
	}
	for _, p := range paths {
		if err := w.Put(s.t.Context(), files[p][0].FilePath, old, files[p]); err != nil {
			s.t.Fatalf("put %s: %v", p, err)
		}
	}
}

func (s *suite) commit(w search.Writer) {
	s.t.Helper()
	if err := w.Commit(s.t.Context()); err != nil {
		s.t.Fatalf("commit: %v", err)
	}
}

// index makes a run of the entities alone.
func (s *suite) index(at codesage.Snapshot, entities ...entity) {
	s.t.Helper()
	w := s.begin(0, at)
	s.put(w, at, 0, entities...)
	s.commit(w)
}

// search asks the scope, by default the first snapshot, and wants no error.
func (s *suite) search(q search.Query, scope ...codesage.Snapshot) search.Result {
	s.t.Helper()
	if q.Scope = scope; len(scope) == 0 {
		q.Scope = []codesage.Snapshot{first}
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	r, err := s.engine.Search(s.t.Context(), q)
	if err != nil {
		s.t.Fatalf("search %q: %v", q.Text, err)
	}
	return r
}

// names are the names of the hits of a query.
func (s *suite) names(text string, scope ...codesage.Snapshot) []string {
	s.t.Helper()
	return names(s.search(search.Query{Text: text}, scope...))
}

func names(r search.Result) []string {
	list := []string{}
	for _, h := range r.Hits {
		list = append(list, h.EntityName)
	}
	return list
}

// finds wants the hits of a query, in their order.
func (s *suite) finds(text string, want ...string) {
	s.t.Helper()
	if got := s.names(text); fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("search %q found %q, want %q", text, got, want)
	}
}

// findsAny wants the hits of a query, in any order.
func (s *suite) findsAny(text string, want ...string) {
	s.t.Helper()
	got := s.names(text)
	if fmt.Sprint(sorted(got)) != fmt.Sprint(sorted(want)) {
		s.t.Errorf("search %q found %q, want %q in any order", text, got, want)
	}
}

func testCancelled(t *testing.T, s *suite) {
	s.index(first, entity{name: "Open"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.engine.Search(ctx, search.Query{Text: "open", Scope: []codesage.Snapshot{first}, Limit: 10}); err == nil {
		t.Error("a search with a cancelled context gave no error")
	}
}

func testPing(t *testing.T, s *suite) {
	if err := s.engine.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
}
