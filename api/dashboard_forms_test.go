package api

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"codesage/pipeline/source/git"
)

// What the read key may not do over the API it may not do with a form either.
func TestReadKeyChangesNothingByForms(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { withKeys(d); d.Folders = true })
	before := e.addRepository("octo/demo")
	read := e.loggedIn("read-key")
	for _, path := range []string{"/repositories", "/folders", "/repositories/1/reprocess", "/repositories/1/cancel", "/repositories/1/delete"} {
		got := read.post(path, "url", "https://github.com/octo/two", "path", "/two", "session", "two")
		if got.status != 403 || !strings.Contains(got.body, readOnly) || !strings.Contains(got.body, "<h1>Not allowed</h1>") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if got := e.visitor().post(path); got.status != 303 || got.header.Get("Location") != "/login?to=%2F" {
			t.Errorf("%s without a log-in: %d %s", path, got.status, got.header)
		}
	}
	all, err := e.store.ListRepositories(t.Context())
	if err != nil || len(all) != 1 || all[0].Latest.ID != before.Latest.ID {
		t.Errorf("changed: %+v %v", all, err)
	}
}

// The forms that each state-changing route is for, and nothing else, open it.
func TestFormsOfOtherPagesAreRefused(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { withKeys(d); d.Access.CORSOrigins = []string{"https://app.example.com"} })
	e.addRepository("octo/demo")
	v := e.loggedIn("write-key")
	token := v.token()
	const refused = "This form was not sent by a page of this server"
	for _, tc := range []struct {
		name, token string
		headers     []string
		want        int
	}{
		{"no token", "", nil, 403},
		{"wrong token", token[:len(token)-1] + "_", nil, 403},
		{"no origin", token, []string{"Origin", ""}, 403},
		{"null origin", token, []string{"Origin", "null"}, 403},
		{"foreign origin", token, []string{"Origin", "https://evil.test"}, 403},
		{"origin that may ask the API", token, []string{"Origin", "https://app.example.com"}, 403},
		{"from a neighbour of the same site", token, []string{"Sec-Fetch-Site", "same-site"}, 303},
		{"JSON", token, []string{"Content-Type", "application/json"}, 403},
		{"own", token, nil, 303},
	} {
		got := v.do("POST", "/repositories/1/reprocess", url.Values{"token": {tc.token}}, tc.headers...)
		if got.status != tc.want {
			t.Errorf("%s: %d %s", tc.name, got.status, got.body)
		}
		if tc.name == "from a neighbour of the same site" && !strings.HasPrefix(got.header.Get("Location"), "/login") {
			t.Errorf("%s: not asked to log in", tc.name)
		}
		if tc.name == "no token" && !strings.Contains(got.body, refused) {
			t.Errorf("%s: %s", tc.name, got.body)
		}
	}
	if got := v.do("POST", "/repositories", url.Values{"token": {token}, "url": {strings.Repeat("x", maxForm)}}); got.status != 413 {
		t.Errorf("large form: %d", got.status)
	}
	if got := v.do("POST", "/logout", url.Values{"token": {token + "x"}}); got.status != 403 {
		t.Errorf("log-out by another page: %d", got.status)
	}
	if got := e.ask("POST", "/logout", "token=", "Cookie", formCookie+"=", "Origin", e.url, "Content-Type", "application/x-www-form-urlencoded"); got.status != 403 {
		t.Errorf("empty token and cookie: %d", got.status)
	}
	for _, route := range e.routes.(*gin.Engine).Routes() { // none is forgotten
		if route.Method != "POST" || isAPI(route.Path) {
			continue
		}
		path := strings.ReplaceAll(route.Path, ":id", "1")
		if got := v.do("POST", path, nil); got.status != 403 || !strings.Contains(got.body, refused) {
			t.Errorf("%s without a token: %d", path, got.status)
		}
	}
}

// Forms say what the API says, with its status, beside the field, and keep what
// was typed.
func TestFormsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Folders, d.Redact = true, git.Redact })
	e.addRepository("octo/demo")
	v := e.visitor()
	if got := v.post("/folders", "path", "/src/app", "session", "app"); got.status != 303 {
		t.Fatalf("add a folder: %d %s", got.status, got.body)
	}
	for _, tc := range []struct {
		path, a, b string
		status     int
		at, want   string
	}{
		{"/repositories", "", "", 422, "url", "Field required"},
		{"/repositories", "http://x/<b>", "", 400, "url", "Invalid repository URL (only https is supported): http://x/&lt;b&gt;"},
		{"/repositories", "https://github.com/octo/demo", "", 409, "url", "octo/demo is already added as repository 1.</span> <a href=\"/repositories/1\"><bdi>octo/demo</bdi></a>"},
		{"/repositories", "https://github.com/octo/gone", "", 404, "url", "GitHub repository octo/gone was not found."},
		{"/repositories", "https://github.com/octo/down", "", 503, "url", "Could not reach GitHub; try again."},
		{"/repositories", "https://github.com/octo/slow", "", 504, "url", "GitHub did not respond in time; try again."},
		{"/repositories", "https://github.com/octo/two", strings.Repeat("b", 101), 422, "branch", "String should have at most 100 characters"},
		{"/folders", "", "app", 422, "path", "Field required"},
		{"/folders", "/missing", "x", 422, "path", "Path does not exist: /missing"},
		{"/folders", "relative", "x", 422, "path", "Path must be absolute"},
		{"/folders", "/forbidden", "x", 403, "path", "/forbidden is outside CODESAGE_LOCAL_ROOTS"},
		{"/folders", "/src", "-x", 422, "session", "Session must start with alphanumeric character"},
		{"/folders", "/src/other", "app", 409, "session", "session &#39;app&#39; is /src/app already; choose another session id, or reprocess it on its page:</span> <a href=\"/repositories/2\"><bdi>app</bdi></a>"},
		{"/folders", "/src/app", "app", 409, "path", "Indexing already in progress for session &#39;app&#39;"},
	} {
		names := map[string][]string{"/repositories": {"url", "branch"}, "/folders": {"path", "session"}}[tc.path]
		got := v.post(tc.path, names[0], tc.a, names[1], tc.b)
		_, after, _ := strings.Cut(got.body, `<span id="`+tc.at+`-error">`)
		said, _, _ := strings.Cut(after, "\n")
		if got.status != tc.status || !strings.Contains(said, tc.want) {
			t.Errorf("%s %q %.20q: %d %q, want %d %q", tc.path, tc.a, tc.b, got.status, said, tc.status, tc.want)
		}
		if kept := fmt.Sprintf(`name="%s" type="text"`, names[0]); !strings.Contains(got.body, kept) || tc.a != "" && !strings.Contains(got.body, `value="`+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(tc.a)+`"`) {
			t.Errorf("%s %q: what was typed is gone", tc.path, tc.a)
		}
	}
}

// A refused URL comes back without the password that was in it.
func TestFormsDoNotShowPasswords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url    string
		redact func(string) string
		want   string
	}{
		{"https://u:secretpw@code.example.com/octo/demo", git.Redact, "https://code.example.com/octo/demo"},
		{"https://u:secretpw@code.example.com/octo/demo", nil, ""},
		{"git@code.example.com:octo/demo", git.Redact, "git@code.example.com:octo/demo"},
		{"git@u:secretpw@code.example.com/octo/demo", git.Redact, "git@code.example.com/octo/demo"},
	} {
		e := newEnv(t, func(d *Deps) { d.Redact = tc.redact })
		for _, branch := range []string{"", strings.Repeat("b", 101)} {
			got := e.visitor().post("/repositories", "url", tc.url, "branch", branch)
			_, field, _ := strings.Cut(got.body, `<input id="url"`)
			field, _, _ = strings.Cut(field, "<span")
			if got.status < 400 || strings.Contains(field, "secretpw") || !strings.Contains(field, `value="`+tc.want+`"`) {
				t.Errorf("%s: %d %s", tc.url, got.status, field)
			}
		}
	}
}

// A session that is there already leads to its page: the form has no force.
func TestFolderFormOfASessionThatIsThere(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Folders = true })
	v := e.visitor()
	if got := v.post("/folders", "path", "/src/app", "session", "app"); got.status != 303 || got.header.Get("Location") != "/repositories/1" {
		t.Fatalf("add: %d %s", got.status, got.body)
	}
	if _, err := e.store.CancelRun(t.Context(), 1, "Cancelled"); err != nil {
		t.Fatal(err)
	}
	got := v.post("/folders", "path", "/src/app", "session", "app")
	if got.status != 409 || strings.Contains(got.body, "force") || !strings.Contains(got.body, `reprocess it on its page:</span> <a href="/repositories/1"><bdi>app</bdi></a>`) {
		t.Errorf("again: %d %s", got.status, got.body)
	}
}

func TestFormsChangeRepositories(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withKeys)
	e.addRepository("octo/demo")
	v := e.loggedIn("write-key")
	runs := func() (n int, going bool) {
		list, err := e.store.ListRuns(t.Context(), 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(list), list[0].Going()
	}
	if got := v.post("/repositories/1/reprocess", "to", "/repositories/1"); got.status != 303 || got.header.Get("Location") != "/repositories/1" {
		t.Errorf("refresh: %d %s", got.status, got.body)
	}
	if n, going := runs(); n != 2 || !going {
		t.Errorf("refresh: %d runs", n)
	}
	if got := v.post("/repositories/1/reprocess"); got.status != 409 || !strings.Contains(got.body, "<h1>That did not work</h1>") {
		t.Errorf("refresh during a run: %d %s", got.status, got.body)
	}
	if got := v.get("/"); !strings.Contains(got.body, `action="/repositories/1/cancel"`) {
		t.Error("no way to cancel")
	}
	if got := v.post("/repositories/1/cancel", "to", "https://evil.test"); got.status != 303 || got.header.Get("Location") != "/" {
		t.Errorf("cancel: %d %s", got.status, got.header)
	}
	if _, going := runs(); going {
		t.Error("the run goes on")
	}
	if got := v.get("/repositories/1"); !strings.Contains(got.body, "Refresh failed: Cancelled; serving the index of 3f3f3f3f3f3f") {
		t.Errorf("the page of a refresh that failed: %s", got.body)
	}
	if got := v.get("/repositories/1/delete"); !strings.Contains(got.body, "Delete <bdi>octo/demo</bdi>?") {
		t.Errorf("question: %s", got.body)
	}
	if got := v.post("/repositories/1/delete"); got.status != 303 || got.header.Get("Location") != "/" {
		t.Errorf("delete: %d", got.status)
	}
	for _, path := range []string{"/repositories/1", "/repositories/99999999999999999999", "/repositories/1/delete"} {
		if got := v.get(path); got.status != 404 || !strings.Contains(got.body, "not found</bdi></p>") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	log := e.log.String()
	for _, want := range []string{"run created", "run cancelled", "repository removed"} {
		if !regexp.MustCompile(want + `.*by=log-in`).MatchString(log) {
			t.Errorf("the log does not say by whom: %s", want)
		}
	}
}
