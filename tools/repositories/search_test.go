package repositories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"codesage"
	"codesage/search"
	"codesage/trace"
)

func TestSearchCodeShowsHits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zustand(w)
	w.want("search_code", `{"query":"createStoreImpl","repository":"pmndrs/zustand","limit":"2"}`,
		`{"query":"createStoreImpl","repository":"pmndrs/zustand","total_hits":1,"page":0,"pages":1,"results":[{
		"entity_name":"createStoreImpl","entity_type":"function","file_path":"src/vanilla.ts","line_start":6,"line_end":8,"language":"typescript",
		"signature":"const createStoreImpl = (createState) => {",
		"snippet":"const createStoreImpl = (createState) => {\n  return 1\n}",
		"description":"TypeScript function: createStoreImpl",
		"url":"https://github.com/pmndrs/zustand/blob/`+strings.Repeat("ab", 20)+`/src/vanilla.ts#L6-L8"}]}`)
	w.want("search_code", `{"query":"qqqqqq"}`, `{"query":"qqqqqq","repository":null,"total_hits":0,"page":0,"pages":0,"results":[]}`)
	for args, names := range map[string]string{
		`{"query":"react"}`:                                       "",
		`{"query":"react","entity_type":"import"}`:                "react",
		`{"query":"zustand","language":"markdown"}`:               "Zustand",
		`{"query":"zustand","language":"typescript"}`:             "",
		`{"query":"StoreImpl","repository":"","language":""}`:     "createStoreImpl",
		`{"query":"createStoreImpl","page":1}`:                    "",
		`{"query":"createStoreImpl","page":99999999999999999999}`: "",
	} {
		var got []string
		for _, h := range decode[Found](w, "search_code", args).Results {
			got = append(got, h.EntityName)
		}
		if strings.Join(got, " ") != names {
			t.Errorf("%s: got %v, want %q", args, got, names)
		}
	}
}

func TestSearchCodeRefusesBadArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("search_code", `{"query":"x","language":"go"}`, `{"query":"x","repository":null,"total_hits":0,"page":0,"pages":0,"results":[]}`)
	zustand(w)
	for args, want := range map[string]string{
		`{}`:                          "Invalid arguments for 'search_code': query: Field required",
		`{"query":""}`:                "Invalid arguments for 'search_code': query: String should have at least 1 character",
		`{"query":"x","limit":500}`:   "Invalid arguments for 'search_code': limit: Input should be less than or equal to 50",
		`{"query":"x","page":-1}`:     "Invalid arguments for 'search_code': page: Input should be greater than or equal to 0",
		`{"query":"x","limit":"0.5"}`: "Invalid arguments for 'search_code': limit: Input should be a valid integer, unable to parse string as an integer",
		`{"query":"` + strings.Repeat("é", 257) + `"}`: "Invalid arguments for 'search_code': query: query is too long; the limit is 512 bytes",
		`{"query":"x","language":"klingon"}`:           "Unknown language 'klingon'. Languages in this index: markdown, typescript.",
		`{"query":"x","language":"TypeScript"}`:        "Unknown language 'TypeScript'. Languages in this index: markdown, typescript.",
	} {
		w.want("search_code", args, "error: "+want)
	}
	if got := w.answer("search_code", `{"query":"`+strings.Repeat("é", 256)+`"}`); strings.HasPrefix(got, "error") {
		t.Errorf("512 bytes: got %s", got)
	}
}

// shelf is an engine that finds the records it was given.
type shelf struct {
	search.Engine
	records []search.Record
	err     error
	asked   search.Query
}

func (s *shelf) Search(_ context.Context, q search.Query) (search.Result, error) {
	s.asked = q
	return search.Result{TotalHits: len(s.records), Page: q.Page, Pages: 1, Hits: s.records}, s.err
}

func (s *shelf) Languages(context.Context, []codesage.Snapshot) ([]string, error) {
	return []string{"go", "python"}, s.err
}

func TestSearchCodeCutsTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.published(git("octo/demo"), codesage.Outcome{})
	w.published(codesage.Repository{Name: "app", Session: "app", Source: codesage.SourceFolder, Path: "/w/app"}, codesage.Outcome{})
	branch := git("octo/branch")
	branch.Branch = "dev"
	w.published(branch, codesage.Outcome{})
	s := &shelf{records: []search.Record{
		{RepositoryID: 1, EntityName: "a", Signature: strings.Repeat("é", 301), Content: strings.Repeat("é", 700), Description: strings.Repeat("ü", 301)},
		{RepositoryID: 2, EntityName: "b", Signature: "func b(\n x int)", Content: "  func b(x int) {}"},
		{RepositoryID: 3, EntityName: "c", Signature: "def c():", Content: "return 1", FilePath: "x.py", LineStart: 3, LineEnd: 4},
		{RepositoryID: 9, EntityName: "d", Signature: "sig"},
	}}
	d := w.set.Deps
	d.Engine = s
	w.use(d)
	got := decode[Found](w, "search_code", `{"query":"x","limit":7,"page":3,"entity_type":"class","language":"go"}`)
	if s.asked.Limit != 7 || s.asked.Page != 3 || s.asked.EntityType != "class" || s.asked.Language != "go" || len(s.asked.Scope) != 3 {
		t.Errorf("asked %+v", s.asked)
	}
	r := got.Results
	if *r[0].Signature != strings.Repeat("é", 300) || r[0].Snippet != strings.Repeat("é", 600) || *r[0].Description != strings.Repeat("ü", 300) {
		t.Errorf("not cut by characters: %+v", r[0])
	}
	if r[1].Snippet != "  func b(x int) {}" || r[1].Description != nil || r[1].URL != nil {
		t.Errorf("got %+v", r[1])
	}
	if r[2].Snippet != "def c():\nreturn 1" || *r[2].URL != "https://github.com/octo/branch/blob/dev/x.py#L3-L4" {
		t.Errorf("got %+v, %s", r[2], *r[2].URL)
	}
	if r[3].Snippet != "sig" || r[3].URL != nil {
		t.Errorf("got %+v", r[3])
	}
	if *r[0].URL != "https://github.com/octo/demo/blob/HEAD/#L0-L0" {
		t.Errorf("got %s", *r[0].URL)
	}
	w.want("search_code", `{"query":"x","language":"klingon"}`, "error: Unknown language 'klingon'. Languages in this index: go, python.")
}

func TestSearchFailuresStayOnTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.published(git("octo/demo"), codesage.Outcome{})
	var log bytes.Buffer
	d := w.set.Deps
	d.Log = slog.New(slog.NewTextHandler(&log, nil))
	d.Engine = &shelf{err: fmt.Errorf("search: %w", errors.New("dial tcp secret.algolia.net: refused"))}
	w.use(d)
	for _, args := range []string{`{"query":"x"}`, `{"query":"x","language":"go"}`} {
		log.Reset()
		w.want("search_code", args, "error: Search is unavailable; try again later.")
		if !strings.Contains(log.String(), "secret.algolia.net") {
			t.Errorf("%s: the detail is not logged: %s", args, log.String())
		}
	}
	log.Reset()
	ctx := trace.WithOrigin(t.Context(), trace.Origin{Request: "r1"})
	if err := w.set.searchFailed(ctx, errors.New("refused")); err == nil || !strings.Contains(log.String(), "request=r1") {
		t.Errorf("got %v; the line is not the request's: %s", err, log.String())
	}
	d.Engine = nil
	w.use(d)
	w.want("search_code", `{"query":"x"}`, "error: Search is not configured on the server (ALGOLIA_APP_ID / ALGOLIA_ADMIN_API_KEY are missing).")
}
