package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/dashboard"
	"codesage/search"
	"codesage/store"
	"codesage/tools"
	"codesage/tools/repositories"
)

// visitor is a person's browser.
type visitor struct {
	e      *env
	client http.Client
	header http.Header // sent with every request
}

func (e *env) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		e.t.Fatal(err)
	}
	v := &visitor{e: e, header: http.Header{"Accept": {"text/html,*/*"}}}
	v.client = http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return v
}

// do sends a request.
func (v *visitor) do(method, path string, fields url.Values, headers ...string) reply {
	v.e.t.Helper()
	r, err := http.NewRequestWithContext(v.e.t.Context(), method, v.e.url+path, strings.NewReader(fields.Encode()))
	if err != nil {
		v.e.t.Fatal(err)
	}
	r.Header = v.header.Clone()
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.e.url)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.e.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.e.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

func (v *visitor) get(path string, headers ...string) reply {
	v.e.t.Helper()
	return v.do("GET", path, nil, headers...)
}

// cookie is one that the browser holds.
func (v *visitor) cookie(name string) string {
	at, err := url.Parse(v.e.url)
	if err != nil {
		v.e.t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// setCookie gives the browser a cookie.
func (v *visitor) setCookie(name, value string) {
	at, err := url.Parse(v.e.url)
	if err != nil {
		v.e.t.Fatal(err)
	}
	v.client.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// token is what the form of a page sends back.
func (v *visitor) token() string {
	v.e.t.Helper()
	if v.cookie(formCookie) == "" {
		v.get("/nowhere") // every page brings it
	}
	return v.cookie(formCookie)
}

// post sends a form as a page of the server would; fields are name, value.
func (v *visitor) post(path string, fields ...string) reply {
	v.e.t.Helper()
	form := url.Values{"token": {v.token()}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.do("POST", path, form)
}

// loggedIn is a browser that holds a log-in.
func (e *env) loggedIn(key string) *visitor {
	e.t.Helper()
	v := e.visitor()
	if got := v.post("/login", "key", key); got.status != http.StatusSeeOther || v.cookie(loginCookie) == "" {
		e.t.Fatalf("log in: %d %s", got.status, got.body)
	}
	return v
}

// loopback are the proxies of tests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// withKeys sets both keys.
func withKeys(d *Deps) { d.Access.Key, d.Access.ReadKey = "write-key", "read-key" }

// pagePaths are the pages that show something of the repositories.
var pagePaths = []string{"/", "/repositories/1", "/search", "/search?q=main"}

func TestPagesShowEachRoleItsOwn(t *testing.T) {
	t.Parallel()
	e := newSearchEnv(t, &hitEngine{}, withKeys)
	e.addRepository("octo/demo")
	none, read, write := e.visitor(), e.loggedIn("read-key"), e.loggedIn("write-key")
	for _, path := range append(slices.Clone(pagePaths), "/repositories/1/delete") {
		got := none.get(path)
		if want := "/login?" + (url.Values{"to": {path}}).Encode(); got.status != 303 || got.header.Get("Location") != want {
			t.Errorf("%s without a log-in: %d to %q, want %q", path, got.status, got.header.Get("Location"), want)
		}
		if got := none.get(path, "Accept", "*/*"); got.status != 401 || got.body != `{"detail":"Invalid or missing API key"}`+"\n" {
			t.Errorf("%s for a program without a key: %d %s", path, got.status, got.body)
		}
		got = write.get(path)
		if got.status != 200 || strings.Contains(got.body, "read only") || !strings.Contains(got.body, "Log out") {
			t.Errorf("%s with the key: %d %s", path, got.status, got.body)
		}
		if strings.HasSuffix(path, "delete") {
			continue
		}
		got = read.get(path)
		if got.status != 200 || !strings.Contains(got.body, "read only") {
			t.Errorf("%s with the read key: %d %s", path, got.status, got.body)
		}
		for _, button := range []string{"Refresh", "Cancel", "Delete", "reprocess", `action="/repositories`, `action="/folders"`} {
			if strings.Contains(got.body, button) {
				t.Errorf("%s shows %q with the read key", path, button)
			}
		}
	}
	for _, route := range e.routes.(*gin.Engine).Routes() { // none is forgotten
		open := []string{"/login", "/assets/:name", "/repositories", "/folders"}
		if route.Method != "GET" || isAPI(route.Path) || slices.Contains(open, route.Path) {
			continue
		}
		if got := e.ask("GET", strings.ReplaceAll(route.Path, ":id", "1"), ""); got.status != 401 {
			t.Errorf("%s for a program without a key: %d", route.Path, got.status)
		}
	}
	if got := write.get("/"); !strings.Contains(got.body, `action="/repositories/1/reprocess"`) || !strings.Contains(got.body, `href="/repositories/1/delete"`) {
		t.Errorf("no buttons with the key: %s", got.body)
	}
	if got := read.get("/repositories/1/delete"); got.status != 403 || !strings.Contains(got.body, readOnly) {
		t.Errorf("delete page with the read key: %d", got.status)
	}
	if got := e.visitor().get("/", "X-API-Key", "read-key"); got.status != 200 || strings.Contains(got.body, "Log out") {
		t.Errorf("a key in a header: %d", got.status)
	}
}

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

// The log-in opens what pages ask of the API, and nothing to anybody else.
func TestLogInOpensTheAPIForItsOwnPagesOnly(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		withKeys(d)
		d.Access.CORSOrigins = []string{"https://app.example.com"}
		d.Monitoring = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "queue") })
	})
	e.addRepository("octo/demo")
	v := e.loggedIn("write-key")
	for _, tc := range []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"a page's script", "GET", "/api/v1/repositories", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"suggestions", "GET", "/api/v1/ai/search/suggestions?query=xy", nil, 200},
		{"the queue", "GET", "/monitoring/", nil, 200},
		{"typed by hand", "GET", "/api/v1/repositories", []string{"Sec-Fetch-Site", "none"}, 200},
		{"another site", "GET", "/api/v1/repositories", []string{"Sec-Fetch-Site", "cross-site"}, 401},
		{"a neighbour of the same site", "GET", "/api/v1/repositories", []string{"Sec-Fetch-Site", "same-site"}, 401},
		{"an origin with a key of its own", "GET", "/api/v1/repositories", []string{"Origin", "https://app.example.com"}, 401},
		{"a change", "POST", "/api/v1/repositories", nil, 401},
		{"a removal", "DELETE", "/api/v1/repositories/1", nil, 401},
		{"a run", "POST", "/api/v1/repositories/1/reprocess", nil, 401},
		{"a tool", "POST", "/api/v1/ai/mcp/tools/call", nil, 401},
		{"MCP", "POST", "/mcp", nil, 401},
	} {
		form := url.Values{"token": {v.token()}}
		if got := v.do(tc.method, tc.path, form, tc.headers...); got.status != tc.want {
			t.Errorf("%s: %d %s", tc.name, got.status, got.body)
		}
	}
	if !strings.Contains(e.log.String(), "by=log-in") {
		t.Errorf("the log does not say who asked")
	}
}

func TestLogIn(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { withKeys(d); d.Access.AllowedHosts = []string{"code.example.com"} })
	page := e.visitor().get("/login?to=/search")
	if page.status != 200 || !strings.Contains(page.body, `name="to" value="/search"`) || strings.Contains(page.body, "<nav") {
		t.Errorf("page: %d %s", page.status, page.body)
	}
	v := e.visitor()
	got := v.post("/login", "key", "write-key", "to", "/search?q=x")
	if got.status != 303 || got.header.Get("Location") != "/search?q=x" {
		t.Errorf("log in: %d %v", got.status, got.header)
	}
	set := got.header.Get("Set-Cookie")
	if !regexp.MustCompile(`^codesage_login=[\w-]{76}; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict$`).MatchString(set) {
		t.Errorf("cookie %q", set)
	}
	if strings.Contains(set, "write-key") || strings.Contains(e.log.String(), "write-key") {
		t.Error("the key is shown")
	}
	if got := v.get("/"); got.status != 200 || !strings.Contains(got.body, "Log out") {
		t.Errorf("logged in: %d", got.status)
	}
	copied := v.cookie(loginCookie)
	got = v.post("/logout")
	if got.status != 303 || got.header.Get("Location") != "/login" || v.cookie(loginCookie) != "" {
		t.Errorf("log out: %d %v", got.status, got.header)
	}
	if got := v.get("/"); got.status != 303 {
		t.Errorf("logged out: %d", got.status)
	}
	e.clock.forward(sessionTime)
	v.setCookie(loginCookie, copied)
	if got := v.get("/"); got.status != 303 {
		t.Errorf("an old log-in: %d", got.status)
	}
}

// A log-in goes on to pages of this server only.
func TestLogInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/": "/", "/search?q=a+b": "/search?q=a+b", "/monitoring/queues": "/monitoring/queues", "": "/", "search": "/",
		"//evil.test": "/", "/\\evil.test": "/", "https://evil.test": "/", "javascript:alert(1)": "/", "/\t/evil.test": "/", "/%0a": "/%0a", "http:evil": "/", "/x#y": "/x",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestLogInCookieIsSecureOverTLS(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		trusted bool
		headers []string
		want    bool
	}{
		{"plain", true, nil, false},
		{"a trusted proxy says https", true, []string{"X-Forwarded-Proto", "https"}, true},
		{"anybody says https", false, []string{"X-Forwarded-Proto", "https"}, false},
		{"the browser says https", false, []string{"Origin", "https://code.example.com", "Host", "code.example.com"}, true},
	} {
		e := newEnv(t, func(d *Deps) {
			withKeys(d)
			d.Access.AllowedHosts = []string{"code.example.com"}
			if tc.trusted {
				d.Access.TrustedProxies = loopback
			}
		})
		headers := append([]string{"Accept", "text/html", "Cookie", "codesage_form=0123456789abcdef", "Origin", e.url, "Content-Type", "application/x-www-form-urlencoded"}, tc.headers...)
		got := e.ask("POST", "/login", "token=0123456789abcdef&key=write-key", headers...)
		if got.status != 303 || strings.Contains(got.header.Get("Set-Cookie"), "; Secure") != tc.want {
			t.Errorf("%s: %d %v %s", tc.name, got.status, got.header, got.body)
		}
	}
}

// Wrong keys of the log-in and of the API count together.
func TestFailedLogInsCount(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withKeys)
	v := e.visitor()
	for i := range 5 {
		if got := v.post("/login", "key", "wrong"); got.status != 401 || !strings.Contains(got.body, "This is not the key of this server") || v.cookie(loginCookie) != "" {
			t.Fatalf("wrong key %d: %d %s", i+1, got.status, got.body)
		}
		if got := e.ask("GET", "/api/v1/repositories", "", "X-API-Key", "wrong"); got.status != 401 {
			t.Fatalf("wrong key %d: %d", i+1, got.status)
		}
	}
	for _, key := range []string{"wrong", "write-key"} {
		got := v.post("/login", "key", key)
		if got.status != 429 || got.header.Get("Retry-After") != "60" || !strings.Contains(got.body, "Too many failed API keys from this address") || v.cookie(loginCookie) != "" {
			t.Errorf("key %s: %d %v %s", key, got.status, got.header, got.body)
		}
	}
	e.clock.forward(time.Minute)
	if got := v.post("/login", "key", "write-key"); got.status != 303 {
		t.Errorf("after the minute: %d", got.status)
	}
}

// A token holds for every process with the same keys, until a key changes.
func TestSessionTokens(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	with := func(key, readKey string) *sessions { return newSessions(Access{Key: key, ReadKey: readKey}, c.Now) }
	here := with("key", "read")
	write, read := here.issue(MayWrite), here.issue(MayRead)
	if again := here.issue(MayWrite); again == write {
		t.Error("two log-ins have the same token")
	}
	for _, tc := range []struct {
		name                string
		s                   *sessions
		wantWrite, wantRead Permission
	}{
		{"here", here, MayWrite, MayRead},
		{"another process", with("key", "read"), MayWrite, MayRead},
		{"another key", with("key2", "read"), MayNothing, MayRead},
		{"another read key", with("key", "read2"), MayWrite, MayNothing},
		{"no read key any more", with("key", ""), MayWrite, MayNothing},
		{"no key any more", with("", ""), MayNothing, MayNothing},
		{"keys exchanged", with("read", "key"), MayNothing, MayNothing},
	} {
		if w, r := tc.s.check(write), tc.s.check(read); w != tc.wantWrite || r != tc.wantRead {
			t.Errorf("%s: write token %d, read token %d", tc.name, w, r)
		}
	}
	for i := range len(read) - 1 { // the last letter has bits that count for nothing
		for _, ch := range []byte("Az-") {
			changed := []byte(read)
			if changed[i] == ch {
				continue
			}
			changed[i] = ch
			if got := here.check(string(changed)); got != MayNothing {
				t.Fatalf("letter %d changed to %c: %d", i, ch, got)
			}
		}
	}
	for _, bad := range []string{"", "x", read + read, write[:len(write)-2], strings.Repeat("A", len(read)), "key", "\x00"} {
		if got := here.check(bad); got != MayNothing {
			t.Errorf("%q: %d", bad, got)
		}
	}
	c.forward(sessionTime - time.Second)
	if got := here.check(write); got != MayWrite {
		t.Errorf("before its end: %d", got)
	}
	c.forward(time.Second)
	if got := here.check(write); got != MayNothing {
		t.Errorf("after its end: %d", got)
	}
}

// Without a key there is nobody to log in, and forms are still the page's own.
func TestPagesWithoutAKey(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	v := e.visitor()
	got := v.get("/")
	if got.status != 200 || !strings.Contains(got.body, "Nothing is indexed yet") || !strings.Contains(got.body, "codesage install") ||
		!strings.Contains(got.body, `action="/repositories"`) || strings.Contains(got.body, "Log out") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if strings.Contains(got.body, `action="/folders"`) {
		t.Error("offers folders that the server refuses")
	}
	if got := v.get("/login"); got.status != 303 || got.header.Get("Location") != "/" {
		t.Errorf("log-in page: %d", got.status)
	}
	if got := v.post("/login", "key", "x"); got.status != 303 || v.cookie(loginCookie) != "" {
		t.Errorf("log in: %d", got.status)
	}
	if got := v.do("POST", "/repositories", url.Values{"url": {"https://github.com/octo/demo"}}); got.status != 403 {
		t.Errorf("without a token: %d", got.status)
	}
	if got := v.post("/repositories", "url", "https://github.com/octo/demo"); got.status != 303 || got.header.Get("Location") != "/#repository-1" {
		t.Errorf("add: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/repositories", "/folders"} {
		if got := v.get(path); got.status != 303 || got.header.Get("Location") != "/" {
			t.Errorf("GET %s: %d", path, got.status)
		}
	}
}

// Forms say what the API says, with its status, beside the field, and keep what
// was typed.
func TestFormsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Folders = true })
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
		{"/repositories", "https://github.com/octo/demo", "", 409, "url", "octo/demo is already added as repository 1."},
		{"/repositories", "https://github.com/octo/gone", "", 404, "url", "GitHub repository octo/gone was not found."},
		{"/repositories", "https://github.com/octo/down", "", 503, "url", "Could not reach GitHub; try again."},
		{"/repositories", "https://github.com/octo/slow", "", 504, "url", "GitHub did not respond in time; try again."},
		{"/repositories", "https://github.com/octo/two", strings.Repeat("b", 101), 422, "branch", "String should have at most 100 characters"},
		{"/folders", "", "app", 422, "path", "Field required"},
		{"/folders", "/missing", "x", 422, "path", "Path does not exist: /missing"},
		{"/folders", "relative", "x", 422, "path", "Path must be absolute"},
		{"/folders", "/forbidden", "x", 403, "path", "/forbidden is outside CODESAGE_LOCAL_ROOTS"},
		{"/folders", "/src", "-x", 422, "session", "Session must start with alphanumeric character"},
		{"/folders", "/src/other", "app", 409, "session", "session &#39;app&#39; exists for /src/app"},
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
	if got := v.get("/repositories/1/delete"); !strings.Contains(got.body, "Delete octo/demo?") {
		t.Errorf("question: %s", got.body)
	}
	if got := v.post("/repositories/1/delete"); got.status != 303 || got.header.Get("Location") != "/" {
		t.Errorf("delete: %d", got.status)
	}
	for _, path := range []string{"/repositories/1", "/repositories/99999999999999999999", "/repositories/1/delete"} {
		if got := v.get(path); got.status != 404 || !strings.Contains(got.body, "not found</p>") {
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

func TestRepositoryPage(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/demo")
	v := e.visitor()
	got := v.get("/repositories/1")
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, e.log.String())
	}
	for _, want := range []string{
		"<title>octo/demo – CodeSage</title>", `<code title="` + strings.Repeat("3f", 20) + `">3f3f3f3f3f3f</code>`, `"session": "octo-demo"`,
		"binary: 3", "a.png", "c.png", `data-events="/api/v1/repositories/1/events"`, `href="/search?repository=1"`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	if got := v.get("/repositories/1?after=a.png"); strings.Contains(got.body, "a.png</th>") || !strings.Contains(got.body, "b.png</th>") || !strings.Contains(got.body, `rel="prev" href="/repositories/1#skipped"`) {
		t.Errorf("next page: %s", got.body)
	}
	if got := v.get("/repositories/1?after=zzz"); !strings.Contains(got.body, "There are no more") {
		t.Errorf("beyond the last: %s", got.body)
	}
	for _, path := range []string{"/repositories/x", "/repositories/1x", "/repositories/-1", "/repositories/%00"} {
		if got := v.get(path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

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
		`<a href="/repositories/1">octo/demo</a>`, "Go function: Start", "func Start() {}", `<option value="1" selected>octo/demo</option>`, `<option selected>go</option>`, `<option selected>function</option>`,
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
	engine.err = errors.New("secret of the engine")
	if got := v.get("/search?q=start"); got.status != 200 || !strings.Contains(got.body, "Search is unavailable; try again later.") || strings.Contains(got.body, "secret") {
		t.Errorf("engine away: %d %s", got.status, got.body)
	}
	if got := e.ask("GET", "/metrics", ""); !strings.Contains(got.body, `codesage_tool_call_seconds_count{outcome="ok",tool="search_code"}`) {
		t.Error("the page's searches are not counted")
	}
}

// Whatever names, paths, texts and queries hold is text.
func TestPagesEscape(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`
	engine := &hitEngine{hits: []search.Record{{RepositoryID: 1, EntityName: evil, EntityType: evil, FilePath: evil, Language: evil, Signature: evil, Content: evil, Description: evil}}}
	e := newSearchEnv(t, engine, func(d *Deps) { d.Folders = true })
	repo, run, err := e.store.CreateRepository(t.Context(), codesage.Repository{
		Name: evil, Session: "evil", Source: codesage.SourceGit, URL: "javascript:alert(1)//" + evil, Branch: evil, Description: evil,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.publish(run, evil)
	if _, err = e.store.CreateRun(t.Context(), store.NewRun{Repository: repo.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err = e.store.CancelRun(t.Context(), repo.ID, evil); err != nil {
		t.Fatal(err)
	}
	v := e.visitor()
	escaped := url.QueryEscape(evil)
	pages := map[string]reply{}
	for _, path := range []string{
		"/", "/?filter=" + escaped, "/repositories/1", "/repositories/1?after=" + escaped, "/repositories/1/delete", "/search?q=start",
		"/search?q=" + escaped + "&repository=1", "/search?q=x&repository=" + escaped + "&language=" + escaped + "&type=" + escaped, "/" + url.PathEscape(evil), "/login?to=" + escaped,
	} {
		pages[path] = v.get(path)
	}
	pages["bad URL"] = v.post("/repositories", "url", evil, "branch", evil)
	pages["bad folder"] = v.post("/folders", "path", evil, "session", evil)
	for name, got := range pages {
		if strings.Contains(got.body, "<script>") || strings.Contains(got.body, "<img src=x") || regexp.MustCompile(`(?i)(href|src|action)="?javascript:`).MatchString(got.body) || strings.Contains(got.body, `"'>`) {
			t.Errorf("%s: %s", name, got.body)
		}
		if got.status >= 500 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

// Pages and files load nothing from elsewhere, run nothing that they hold
// inline, and no other page can show them.
func TestPagesKeepToThemselves(t *testing.T) {
	t.Parallel()
	e := newSearchEnv(t, &hitEngine{hits: []search.Record{{RepositoryID: 1, EntityName: "x"}}}, func(d *Deps) { withKeys(d); d.Folders = true })
	e.addRepository("octo/demo")
	v := e.loggedIn("write-key")
	files := map[string]bool{}
	for _, path := range append(slices.Clone(pagePaths), "/login", "/nowhere", "/repositories/1/delete") {
		got := v.get(path)
		if csp := got.header.Get("Content-Security-Policy"); csp != dashboard.Policy {
			t.Errorf("%s: policy %q", path, csp)
		}
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8",
		} {
			if got.header.Get(header) != want {
				t.Errorf("%s: %s is %q", path, header, got.header.Get(header))
			}
		}
		for _, bad := range []string{`<script>`, `<style`, ` style=`, ` on[a-z]+=`, `(?:src|action)="(?:https?:)?//`, `<link[^>]+href="(?:https?:)?//`} {
			if at := regexp.MustCompile(bad).FindString(got.body); at != "" {
				t.Errorf("%s has %q", path, at)
			}
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`).FindAllStringSubmatch(got.body, -1) {
			files[m[1]] = true
		}
	}
	if len(files) != 3 {
		t.Errorf("pages load %v", files)
	}
	for file := range files {
		got := e.ask("GET", file, "") // without a key: the log-in page needs them
		if got.status != 200 || got.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || !regexp.MustCompile(`\.[0-9a-f]{12}\.(css|js|svg)$`).MatchString(file) ||
			!regexp.MustCompile(`^(text/css|text/javascript|image/svg)`).MatchString(got.header.Get("Content-Type")) {
			t.Errorf("%s: %d %v", file, got.status, got.header)
		}
		if regexp.MustCompile(`@import|url\(|//cdn|innerHTML|eval\(`).MatchString(got.body) {
			t.Errorf("%s loads or runs what it should not", file)
		}
	}
	for _, path := range []string{"/assets/app.css", "/assets/..%2fdashboard.go", "/assets/"} {
		if got := e.ask("GET", path, ""); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// Errors are pages for people and JSON for programs, in the same words.
func TestErrorsArePagesForPeople(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { withKeys(d); d.Limits.Default = 3 })
	v := e.loggedIn("write-key") // one of three a minute, and the token another
	if got := v.get("/nowhere"); got.status != 404 || !strings.Contains(got.body, "<h1>Not found</h1>") || !strings.Contains(got.body, "<header>") {
		t.Errorf("404: %d %s", got.status, got.body)
	}
	e.expect("404 for a program", e.ask("GET", "/nowhere", ""), 404, `{"detail":"Not Found"}`)
	e.expect("404 of the API in a browser", e.ask("GET", "/api/v1/nowhere", "", "Accept", "text/html"), 404, `{"detail":"Not Found"}`)
	for range 3 {
		v.get("/")
	}
	got := v.get("/")
	if got.status != 429 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "<h1>Too many requests</h1>") || !strings.Contains(got.body, "RATE_LIMIT_DEFAULT raises it") {
		t.Errorf("429: %d %s", got.status, got.body)
	}
	e.clock.forward(time.Minute)
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
	got = v.get("/", "X-Request-ID", "who-asks")
	if got.status != 500 && got.status != 503 || !strings.Contains(got.body, "<code>who-asks</code>") || strings.Contains(got.body, "sql") {
		t.Errorf("5xx: %d %s", got.status, got.body)
	}
	if got := e.ask("GET", "/", "", "Accept", "text/html", "Host", "evil.test"); got.status != 403 || !strings.Contains(got.body, "Host &#39;evil.test&#39; is not allowed") {
		t.Errorf("403: %d %s", got.status, got.body)
	}
	if got := v.do("PUT", "/", nil); got.status != 405 {
		t.Errorf("PUT: %d", got.status)
	}
	if got := v.do("HEAD", "/login", nil); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d", got.status)
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

func TestRepositoriesAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for i := range 201 {
		if _, _, err := e.store.CreateRepository(t.Context(), codesage.Repository{
			Name: fmt.Sprintf("octo/r%03d", i), Session: fmt.Sprintf("octo-r%03d", i), Source: codesage.SourceGit, URL: fmt.Sprintf("https://github.com/octo/r%03d", i),
		}); err != nil {
			t.Fatal(err)
		}
	}
	v := e.visitor()
	rows := func(body string) int { return strings.Count(body, "data-version=") }
	first, second := v.get("/"), v.get("/?page=1")
	if rows(first.body) != 200 || rows(second.body) != 1 || !strings.Contains(first.body, `rel="next" href="/?page=1"`) || !strings.Contains(second.body, `rel="prev" href="/"`) || strings.Contains(first.body, "data-whole") {
		t.Errorf("pages of %d and %d rows", rows(first.body), rows(second.body))
	}
	for path, want := range map[string]int{"/?filter=R20": 1, "/?filter=octo+r1": 100, "/?filter=pending&page=9": 1, "/?filter=nothing": 0, "/?page=x": 200} {
		if got := v.get(path); rows(got.body) != want {
			t.Errorf("%s: %d rows, want %d", path, rows(got.body), want)
		}
	}
}
