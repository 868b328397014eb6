package api

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

// times replaces the store's times, which tests don't choose.
func times(body string) string {
	return regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00"`).ReplaceAllString(body, `"T"`)
}

func TestRepositoryObjects(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.expect("none", e.ask("GET", "/api/v1/repositories", ""), 200, `{"repositories":[],"total":0}`)
	e.addRepository("octo/demo")
	object := `{"id":1,"name":"octo/demo","url":"https://github.com/octo/demo","branch":null,"commit_sha":"` + strings.Repeat("3f", 20) + `",` +
		`"status":"completed","total_files":2,"total_entities":0,"error_message":null,"processed_at":"T",` +
		`"session":"octo-demo","source":"git","processed_files":2,"description":null,"language":"go","framework":null,"created_at":"T","updated_at":"T"}`
	got := e.ask("GET", "/api/v1/repositories/1", "")
	got.body = times(got.body)
	e.expect("one", got, 200, object)
	got = e.ask("GET", "/api/v1/repositories", "")
	got.body = times(got.body)
	e.expect("all", got, 200, `{"repositories":[`+object+`],"total":1}`)
}

func TestRepositoryPaths(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, route := range []struct{ method, tail string }{
		{"GET", ""}, {"DELETE", ""}, {"POST", "/reprocess"}, {"POST", "/cancel"}, {"GET", "/runs"}, {"GET", "/skipped"}, {"GET", "/events"},
	} {
		at := func(id string) reply { return e.ask(route.method, "/api/v1/repositories/"+id+route.tail, "") }
		e.expect(route.method+route.tail, at("99"), 404, `{"detail":"Repository 99 not found"}`)
		e.expect(route.method+route.tail+" beyond int64", at("9223372036854775808"), 404, `{"detail":"Repository 9223372036854775808 not found"}`)
		e.expect(route.method+route.tail+" of a name", at("octo"), 422,
			`{"detail":[{"type":"int_parsing","loc":["path","id"],"msg":"Input should be a valid integer, unable to parse string as an integer","input":"octo"}]}`)
	}
}

func TestAddRepository(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	add := func(body string) reply { return e.ask("POST", "/api/v1/repositories", body) }
	got := add(`{"url":"https://github.com/octo/demo","branch":"dev","description":"mine"}`)
	object := decode[object](t, got)
	if got.status != 201 || got.header.Get("Location") != "/api/v1/repositories/1" || object.Status != codesage.StatusPending ||
		*object.Branch != "dev" || *object.Description != "mine" || object.Session != "octo-demo" {
		t.Errorf("added: %d %s", got.status, got.body)
	}
	for _, tc := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"again", `{"url":"https://github.com/octo/demo"}`, 409, `{"detail":"octo/demo is already added as repository 1."}`},
		{"refused", `{"url":"ftp://x"}`, 400, `{"detail":"url: Invalid repository URL (only https is supported): ftp://x"}`},
		{"not there", `{"url":"https://github.com/octo/gone"}`, 404, `{"detail":"GitHub repository octo/gone was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access."}`},
		{"time-out", `{"url":"https://github.com/octo/slow"}`, 504, `{"detail":"GitHub did not respond in time; try again.","request_id":"r"}`},
		{"away", `{"url":"https://github.com/octo/down"}`, 503, `{"detail":"Could not reach GitHub; try again.","request_id":"r"}`},
		{"no url", `{}`, 422, `{"detail":[{"type":"missing","loc":["body","url"],"msg":"Field required","input":{}}]}`},
		{"long branch", `{"url":"u","branch":"` + strings.Repeat("b", 101) + `"}`, 422,
			`{"detail":[{"type":"string_too_long","loc":["body","branch"],"msg":"String should have at most 100 characters","input":"` + strings.Repeat("b", 101) + `"}]}`},
		{"unknown key", `{"url":"u","x":1}`, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs are not permitted","input":1}]}`},
	} {
		e.expect(tc.name, e.ask("POST", "/api/v1/repositories", tc.body, "X-Request-ID", "r"), tc.status, tc.want)
	}
	if log := e.log.String(); !strings.Contains(log, `msg="repository added" repository=1 name=octo/demo run=1 by=address client=127.0.0.1 request=`) {
		t.Errorf("no line says who added what:\n%s", log)
	}
}

func TestAddFolder(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		d.Glob = func(pattern string) (func(string) bool, error) {
			if strings.Contains(pattern, "[") {
				return nil, errors.New("unclosed [")
			}
			return nil, nil
		}
	})
	add := func(body string) reply { return e.ask("POST", "/api/v1/folders", body) }
	got := add(`{"path":"/src/app","session":"app","include_patterns":["**/*.go"],"exclude_patterns":"[\"vendor/**\"]","chunk_size":100,"overlap":0}`)
	if o := decode[object](t, got); got.status != 201 || o.Name != "app" || o.Source != "folder" || o.URL != nil {
		t.Fatalf("added: %d %s", got.status, got.body)
	}
	repo, err := e.store.RepositoryBySession(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	want := codesage.IndexOptions{Include: []string{"**/*.go"}, Exclude: []string{"vendor/**"}, ChunkSize: 100, Overlap: -1}
	if diff := cmp.Diff(want, repo.Options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	const inProgress = `{"detail":"Indexing already in progress for session 'app'; wait until it has ended, or cancel it"}`
	for _, how := range []string{"", `,"force":true`, `,"refresh":true`} {
		e.expect("while it is indexed", add(`{"path":"/src/app","session":"app"`+how+`}`), 409, inProgress)
	}
	e.pastItsText(repo.Latest.ID)
	for _, how := range []string{"", `,"force":true`, `,"refresh":true`} {
		e.expect("in its symbol pass", add(`{"path":"/src/app","session":"app"`+how+`}`), 409, inProgress)
	}
	if _, err := e.store.CancelRun(t.Context(), repo.ID, "Cancelled"); err != nil {
		t.Fatal(err)
	}
	e.expect("other folder", add(`{"path":"/src/other","session":"app"}`), 409,
		`{"detail":"session 'app' exists for /src/app; choose another session id, or index with force to replace it"}`)
	e.expect("the same folder", add(`{"path":"/src/app","session":"app"}`), 409,
		`{"detail":"session 'app' is there already; reprocess it, or index with force to do so from scratch"}`)
	e.expect("other folder, to refresh", add(`{"path":"/src/other","session":"app","refresh":true}`), 409,
		`{"detail":"session 'app' exists for /src/app; choose another session id, or index with force to replace it"}`)
	if got := add(`{"path":"/src/app","session":"app","refresh":true}`); got.status != 201 {
		t.Errorf("refreshed: %d %s", got.status, got.body)
	}
	if _, err := e.store.CancelRun(t.Context(), repo.ID, "Cancelled"); err != nil {
		t.Fatal(err)
	}
	if got := add(`{"path":"/src/other","session":"app","force":true}`); got.status != 201 {
		t.Errorf("forced: %d %s", got.status, got.body)
	}
	e.expect("outside the roots", add(`{"path":"/forbidden","session":"x"}`), 403, `{"detail":"/forbidden is outside CODESAGE_LOCAL_ROOTS"}`)
	bad := func(field, msg, input string) string {
		return `{"detail":[{"type":"value_error","loc":["body","` + field + `"],"msg":"` + msg + `","input":` + input + `}]}`
	}
	for _, tc := range []struct{ body, want string }{
		{`{"path":"/missing","session":"x"}`, bad("path", "Path does not exist: /missing", `"/missing"`)},
		{`{"path":"relative","session":"x"}`, bad("path", "Path must be absolute", `"relative"`)},
		{`{"path":"/a","session":""}`, bad("session", "Session must be 1-64 characters", `""`)},
		{`{"path":"/a","session":"` + strings.Repeat("x", 65) + `"}`, bad("session", "Session must be 1-64 characters", `"`+strings.Repeat("x", 65)+`"`)},
		{`{"path":"/a","session":"a.b"}`, bad("session", "Session must contain only alphanumeric, hyphen, underscore", `"a.b"`)},
		{`{"path":"/a","session":"-a"}`, bad("session", "Session must start with alphanumeric character", `"-a"`)},
		{`{"path":"/a","session":"a","chunk_size":99}`, bad("chunk_size", "Chunk size must be between 100 and 2000 characters", `99`)},
		{`{"path":"/a","session":"a","exclude_patterns":["ok","x["]}`,
			bad("exclude_patterns", "Configuration error: Invalid exclude pattern 'x[': unclosed [", `["ok","x["]`)},
		{`{"path":"/a","session":"a","overlap":501}`, bad("overlap", "Overlap must not exceed 500 characters", `501`)},
		{`{"path":"/a","session":"a","chunk_size":100,"overlap":100}`, bad("overlap", "overlap (100) must be less than chunk_size (100)", `100`)},
	} {
		e.expect(tc.body, add(tc.body), 422, tc.want)
	}
}

// pastItsText takes a run up and publishes its text.
func (e *env) pastItsText(id codesage.RunID) {
	e.t.Helper()
	run, err := e.store.StartRun(e.t.Context(), id, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	rows, err := e.store.Begin(e.t.Context(), run, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	defer rows.Abort()
	if err := rows.PublishText(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

func TestRunsOfARepository(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/demo")
	got := e.ask("POST", "/api/v1/repositories/1/reprocess", "")
	if o := decode[object](t, got); got.status != 202 || o.Status != codesage.StatusPending {
		t.Errorf("reprocess: %d %s", got.status, got.body)
	}
	if got := e.ask("POST", "/api/v1/repositories/1/reprocess", ""); got.status != 409 {
		t.Errorf("reprocess while a run is going: %d %s", got.status, got.body)
	}
	got = e.ask("POST", "/api/v1/repositories/1/cancel", "")
	if o := decode[object](t, got); got.status != 202 || o.Status != codesage.StatusCompleted || !strings.HasPrefix(*o.ErrorMessage, "Refresh failed: Cancelled") {
		t.Errorf("cancel: %d %s", got.status, got.body)
	}
	if got := e.ask("POST", "/api/v1/repositories/1/cancel", ""); got.status != 409 {
		t.Errorf("cancel when nothing runs: %d %s", got.status, got.body)
	}
	list := decode[struct {
		Runs  []runObject
		Total int
	}](t, e.ask("GET", "/api/v1/repositories/1/runs", ""))
	if list.Total != 2 || list.Runs[0].Status != codesage.StatusFailed || *list.Runs[0].Error != "Cancelled" || list.Runs[0].Seconds != nil {
		t.Errorf("runs: %+v", list)
	}
	first := list.Runs[1]
	if first.Status != codesage.StatusCompleted || first.TotalFiles != 2 || first.TotalEntities != 0 || first.Seconds == nil ||
		first.Skipped[codesage.SkipBinary] != 3 || *first.CommitSHA != strings.Repeat("3f", 20) {
		t.Errorf("first run: %+v", first)
	}
	e.expect("skipped", e.ask("GET", "/api/v1/repositories/1/skipped?limit=2", ""), 200,
		`{"skipped":[{"file_path":"a.png","reason":"binary"},{"file_path":"b.png","reason":"binary"}],"total":3,"next":"b.png"}`)
	e.expect("skipped, next page", e.ask("GET", "/api/v1/repositories/1/skipped?limit=2&after=b.png", ""), 200,
		`{"skipped":[{"file_path":"c.png","reason":"binary"}],"total":3,"next":null}`)
	e.expect("skipped, a full page at the end", e.ask("GET", "/api/v1/repositories/1/skipped?limit=2&after=a.png", ""), 200,
		`{"skipped":[{"file_path":"b.png","reason":"binary"},{"file_path":"c.png","reason":"binary"}],"total":3,"next":null}`)
	e.expect("removed", e.ask("DELETE", "/api/v1/repositories/1", ""), 204, "")
	e.expect("gone", e.ask("GET", "/api/v1/repositories/1", ""), 404, `{"detail":"Repository 1 not found"}`)
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 26, 23, 32, 50, 0, time.FixedZone("", 3600))
	for want, at := range map[string]time.Time{"2026-10-26T22:32:50+00:00": at, "2026-10-26T22:32:50.170470+00:00": at.Add(170470 * time.Microsecond)} {
		if got := timestamp(at); *got != want {
			t.Errorf("got %s, want %s", *got, want)
		}
	}
	if timestamp(time.Time{}) != nil {
		t.Error("the zero time has a text")
	}
}
