package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// loopback are the proxies of tests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

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
	if !regexp.MustCompile(`^codesage_login_[0-9a-f]{16}=[\w-]{76}; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict$`).MatchString(set) {
		t.Errorf("cookie %q", set)
	}
	if log := e.log.String(); strings.Contains(set, "write-key") || strings.Contains(log, "write-key") || strings.Contains(log, v.login()) {
		t.Error("the key or the log-in is shown")
	}
	if got := v.get("/"); got.status != 200 || !strings.Contains(got.body, "Log out") {
		t.Errorf("logged in: %d", got.status)
	}
	copied := v.cookieOf(func(c *http.Cookie) bool { return strings.HasPrefix(c.Name, loginCookie) })
	got = v.post("/logout")
	if got.status != 303 || got.header.Get("Location") != "/login" || v.login() != "" {
		t.Errorf("log out: %d %v", got.status, got.header)
	}
	if got := v.get("/"); got.status != 303 {
		t.Errorf("logged out: %d", got.status)
	}
	e.clock.forward(sessionTime)
	v.setCookie(copied.Name, copied.Value)
	if got := v.get("/"); got.status != 303 {
		t.Errorf("an old log-in: %d", got.status)
	}
}

// Browsers send a cookie to every port of a host.
func TestServersOnOneHostKeepTheirLogIns(t *testing.T) {
	t.Parallel()
	here, there := newEnv(t, withKeys), newEnv(t, func(d *Deps) { d.Access.Key = "another-key" })
	v := here.loggedIn("write-key")
	at := func(e *env) *visitor { return &visitor{e: e, client: v.client, header: v.header} }
	if got := at(there).get("/"); got.status != 303 {
		t.Errorf("the log-in of one opens the other: %d", got.status)
	}
	if got := at(there).post("/logout"); got.status != 303 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("log out of where nobody is logged in: %d %v", got.status, got.header)
	}
	if got := at(there).post("/login", "key", "another-key"); got.status != 303 {
		t.Errorf("log in: %d %s", got.status, got.body)
	}
	for name, e := range map[string]*env{"here": here, "there": there} {
		if got := at(e).get("/"); got.status != 200 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	at(there).post("/logout")
	if got := at(here).get("/"); got.status != 200 {
		t.Errorf("after the log-out there: %d", got.status)
	}
	if got := at(there).get("/"); got.status != 303 {
		t.Errorf("logged out: %d", got.status)
	}
}

// A log-in goes on to pages of this server only.
func TestLogInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/": "/", "/search?q=a+b": "/search?q=a+b", "/monitoring/queues": "/monitoring/queues", "": "/", "search": "/",
		"//evil.test": "/", "///evil.test": "/", "/\\evil.test": "/", "https://evil.test": "/", "javascript:alert(1)": "/", "/\t/evil.test": "/", "/%0a": "/%0a", "http:evil": "/", "/x#y": "/x",
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
		if got := v.post("/login", "key", "wrong"); got.status != 401 || !strings.Contains(got.body, "This is not the key of this server") || v.login() != "" {
			t.Fatalf("wrong key %d: %d %s", i+1, got.status, got.body)
		}
		if got := e.ask("GET", "/api/v1/repositories", "", "X-API-Key", "wrong"); got.status != 401 {
			t.Fatalf("wrong key %d: %d", i+1, got.status)
		}
	}
	for _, key := range []string{"wrong", "write-key"} {
		got := v.post("/login", "key", key)
		if got.status != 429 || got.header.Get("Retry-After") != "60" || !strings.Contains(got.body, "Too many failed API keys from this address") || v.login() != "" {
			t.Errorf("key %s: %d %v %s", key, got.status, got.header, got.body)
		}
	}
	e.clock.forward(time.Minute)
	if got := v.post("/login", "key", "write-key"); got.status != 303 {
		t.Errorf("after the minute: %d", got.status)
	}
}
