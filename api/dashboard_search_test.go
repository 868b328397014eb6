package api

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/tools"
	"codesage/tools/repositories"
)

// hitEngine is an engine that finds what it is told.
type hitEngine struct {
	nameEngine
	hits []search.Record
	err  error
}

func (e *hitEngine) Search(_ context.Context, q search.Query) (search.Result, error) {
	return search.Result{TotalHits: 45, Pages: 3, Hits: e.hits}, e.err
}

func (e *hitEngine) Languages(context.Context, []codesage.Snapshot) ([]string, error) {
	return []string{"go", "python"}, e.err
}

// newSearchEnv is a server with the true search_code.
func newSearchEnv(t *testing.T, engine *hitEngine, set func(*Deps)) *env {
	return newEnv(t, func(d *Deps) {
		d.Engine = engine
		d.Toolsets = []tools.Set{repositories.New(repositories.Deps{Catalog: d.Catalog, Store: d.Store, Engine: engine, Link: func(r codesage.Repository, ref, path string, start, end int) string {
			return fmt.Sprintf("%s/%s/%s#L%d", r.URL, ref, path, start)
		}})}
		if set != nil {
			set(d)
		}
	})
}

func TestSearchPage(t *testing.T) {
	t.Parallel()
	engine := &hitEngine{hits: []search.Record{{RepositoryID: 1, EntityName: "Start", EntityType: "function", FilePath: "src/main.go", LineStart: 3, LineEnd: 9, Language: "go", Signature: "func Start()", Content: "func Start() {}", Description: "Go function: Start"}}}
	e := newSearchEnv(t, engine, nil)
	e.addRepository("octo/demo")
	v := e.visitor()
	got := v.get("/search?q=start&repository=1&language=go&type=function&page=1")
	for _, want := range []string{
		"<title>start – Search – CodeSage</title>", "45 results, page 2 of 3", "src/main.go:3–9", `href="https://github.com/octo/demo/` + strings.Repeat("3f", 20) + `/src/main.go#L3"`,
		`<a href="/repositories/1"><bdi>octo/demo</bdi></a>`, "Go function: Start", "func Start() {}", `<option value="1" selected>octo/demo</option>`, `<option selected>go</option>`, `<option selected>function</option>`,
		`rel="prev" href="/search?language=go&amp;page=0&amp;q=start&amp;repository=1&amp;type=function"`, `rel="next" href="/search?language=go&amp;page=2&amp;`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	for query, want := range map[string]string{
		"q=x&repository=nope":                 "Repository &#39;nope&#39; not found. Available repositories: octo/demo",
		"q=x&language=klingon":                "Unknown language &#39;klingon&#39;. Languages in this index: ",
		"q=x&type=thing":                      "entity_type: Input should be &#39;function&#39;",
		"q=" + strings.Repeat("x", 513):       "query: query is too long; the limit is 512 bytes",
		"q=x&page=99999999999999999999":       "45 results",
		"q=x&page=-1":                         "page 1 of 3",
		"q=%20":                               "Words, a name or part of one",
		"q=%ff%00&repository=%00&language=%f": "Search",
	} {
		if got := v.get("/search?" + query); got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d, no %s in %s", query, got.status, want, got.body)
		}
	}
	for query, want := range map[string]string{
		"q=x&page=3": "2",
		"q=x&page=9223372036854775807&type=function":   "2",
		"q=x&page=9223372036854775807&language=python": "2",
	} {
		got := v.get("/search?" + query)
		to, err := url.Parse(got.header.Get("Location"))
		if err != nil || got.status != 303 || to.Path != "/search" || to.Query().Get("page") != want || to.Query().Get("q") != "x" {
			t.Errorf("beyond the last page, %s: %d to %s", query, got.status, to)
		}
		if got := v.get(to.String()); got.status != 200 || strings.Contains(got.body, "After →") {
			t.Errorf("%s leads to %d %s", query, got.status, got.body)
		}
	}
	engine.err = errors.New("secret of the engine")
	if got := v.get("/search?q=start"); got.status != 200 || !strings.Contains(got.body, "Search is unavailable; try again later.") || strings.Contains(got.body, "secret") {
		t.Errorf("engine away: %d %s", got.status, got.body)
	}
	for _, outcome := range []string{"ok", "refused", "invalid"} {
		if got := e.ask("GET", "/metrics", ""); !strings.Contains(got.body, `codesage_tool_call_seconds_count{outcome="`+outcome+`",tool="search_code"}`) {
			t.Errorf("the page's searches that were %s are not counted", outcome)
		}
	}
}

// A search by the page counts as the tool does.
func TestSearchPageCountsAsATool(t *testing.T) {
	t.Parallel()
	e := newSearchEnv(t, &hitEngine{}, func(d *Deps) { d.Limits.AI = 2 })
	v := e.visitor()
	for i, want := range []int{200, 200, 429} {
		if got := v.get("/search?q=x"); got.status != want {
			t.Errorf("search %d: %d", i+1, got.status)
		}
	}
	if got := v.get("/search"); got.status != 200 {
		t.Errorf("the empty page counts: %d", got.status)
	}
}
