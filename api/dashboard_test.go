package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
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
	return v.cookieOf(func(c *http.Cookie) bool { return c.Name == name }).Value
}

// login is the cookie of the log-in, whatever server it is of.
func (v *visitor) login() string {
	return v.cookieOf(func(c *http.Cookie) bool { return strings.HasPrefix(c.Name, loginCookie) }).Value
}

// cookieOf is the first cookie of that sort; the zero one when there is none.
func (v *visitor) cookieOf(sort func(*http.Cookie) bool) *http.Cookie {
	at, err := url.Parse(v.e.url)
	if err != nil {
		v.e.t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(at) {
		if sort(c) {
			return c
		}
	}
	return &http.Cookie{}
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
	if got := v.post("/login", "key", key); got.status != http.StatusSeeOther || v.login() == "" {
		e.t.Fatalf("log in: %d %s", got.status, got.body)
	}
	return v
}

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
		for _, button := range []string{"Reprocess", "Cancel", "Delete", "reprocess", `action="/repositories`, `action="/folders"`} {
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
	if got := v.post("/login", "key", "x"); got.status != 303 || v.login() != "" {
		t.Errorf("log in: %d", got.status)
	}
	if got := v.do("POST", "/repositories", url.Values{"url": {"https://github.com/octo/demo"}}); got.status != 403 {
		t.Errorf("without a token: %d", got.status)
	}
	if got := v.post("/repositories", "url", "https://github.com/octo/demo"); got.status != 303 || got.header.Get("Location") != "/repositories/1" {
		t.Errorf("add: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/repositories", "/folders"} {
		if got := v.get(path); got.status != 303 || got.header.Get("Location") != "/" {
			t.Errorf("GET %s: %d", path, got.status)
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
	if got := v.get("/repositories/1?after=a.png"); strings.Contains(got.body, "a.png</bdi></th>") || !strings.Contains(got.body, "b.png</bdi></th>") || !strings.Contains(got.body, `<a href="/repositories/1#skipped">First page</a>`) {
		t.Errorf("next page: %s", got.body)
	}
	if got := v.get("/repositories/1?after=%ff%00"); got.status != 200 || !strings.Contains(got.body, "There are no more") {
		t.Errorf("after what is no path: %d %s", got.status, got.body)
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
