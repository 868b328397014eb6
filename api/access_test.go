package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// The guard comes before everything else, and says which rule refused.
func TestGuard(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		d.Access = Access{
			AllowedHosts:   []string{"Code.example.com", "[fd00::1]"},
			CORSOrigins:    []string{"https://app.example.com/"},
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.2/32")},
		}
	})
	const local, remote, proxy, localProxy = "127.0.0.1:9", "192.0.2.7:9", "10.0.0.1:9", "127.0.0.2:9"
	hostRefused := func(h string) string { return "Host '" + h + "' is not allowed" }
	const localOnly = "Only local clients are allowed when no API key is configured"
	for _, tc := range []struct {
		name, peer, host, path string
		headers                []string
		detail                 string // empty = let through
	}{
		{"loopback", local, "127.0.0.1:8001", "/", nil, ""},
		{"localhost", local, "localhost:8001", "/", nil, ""},
		{"v6", "[::1]:9", "[::1]:8001", "/", nil, ""},
		{"mapped loopback", "[::ffff:127.0.0.1]:9", "127.0.0.1", "/", nil, ""},
		{"trailing dot", local, "localhost.:8001", "/", nil, ""},
		{"allowed host", local, "code.example.com", "/", nil, ""},
		{"allowed host with a port", local, "CODE.example.com:8443", "/", nil, ""},
		{"allowed v6 host", local, "[fd00::1]:80", "/", nil, ""},
		{"foreign host", local, "evil.test", "/", nil, hostRefused("evil.test")},
		{"rebound host", local, "127.0.0.1.evil.test", "/", nil, hostRefused("127.0.0.1.evil.test")},
		{"suffix of an allowed host", local, "evil-code.example.com", "/", nil, hostRefused("evil-code.example.com")},
		{"number as host", local, "2130706433", "/", nil, hostRefused("2130706433")},
		{"health", local, "evil.test", "/healthz", nil, ""},
		{"readiness", local, "evil.test", "/readyz", nil, ""},
		{"remote", remote, "localhost", "/", nil, localOnly},
		{"remote, host first", remote, "evil.test", "/", nil, hostRefused("evil.test")},
		{"remote health", remote, "localhost", "/healthz", nil, localOnly},
		{"forged forwarding", remote, "localhost", "/", []string{"X-Forwarded-For", "127.0.0.1"}, localOnly},
		{"untrusted forwarding counts for nothing", local, "localhost", "/", []string{"X-Forwarded-For", "192.0.2.1"}, ""},
		{"remote behind the proxy", proxy, "localhost", "/", []string{"X-Forwarded-For", "127.0.0.1, 192.0.2.1"}, localOnly},
		{"local behind the proxy", proxy, "localhost", "/", []string{"X-Forwarded-For", "192.0.2.1, 127.0.0.1, 10.2.3.4"}, ""},
		{"proxy without the header", proxy, "localhost", "/", nil, localOnly},
		{"proxy here without the header", localProxy, "localhost", "/", nil, ""},
		{"remote with its port behind a proxy here", localProxy, "localhost", "/", []string{"X-Forwarded-For", "127.0.0.1, 192.0.2.1:4711"}, localOnly},
		{"remote v6 with its port behind a proxy here", localProxy, "localhost", "/", []string{"X-Forwarded-For", "[2001:db8::1]:4711"}, localOnly},
		{"local with its port behind a proxy here", localProxy, "localhost", "/", []string{"X-Forwarded-For", "127.0.0.1:4711"}, ""},
		{"unknown behind a proxy here", localProxy, "localhost", "/", []string{"X-Forwarded-For", "unknown"}, localOnly},
		{"remote, then unknown behind proxies", localProxy, "localhost", "/", []string{"X-Forwarded-For", "127.0.0.1, unknown, 10.0.0.1"}, localOnly},
		{"own origin", local, "localhost:8001", "/", []string{"Origin", "http://localhost:8001"}, ""},
		{"own origin behind TLS", local, "code.example.com", "/", []string{"Origin", "https://code.example.com"}, ""},
		{"other port", local, "localhost:8001", "/", []string{"Origin", "http://localhost:3000"}, "Origin 'http://localhost:3000' is not allowed"},
		{"foreign origin", local, "localhost", "/", []string{"Origin", "https://evil.test"}, "Origin 'https://evil.test' is not allowed"},
		{"null origin", local, "localhost", "/", []string{"Origin", "null"}, "Origin 'null' is not allowed"},
		{"file origin", local, "localhost", "/", []string{"Origin", "file://localhost"}, "Origin 'file://localhost' is not allowed"},
		{"CORS origin", local, "localhost", "/", []string{"Origin", "https://app.example.com"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), "GET", tc.path, nil)
			r.RemoteAddr, r.Host = tc.peer, tc.host
			for i := 0; i < len(tc.headers); i += 2 {
				r.Header.Set(tc.headers[i], tc.headers[i+1])
			}
			w := httptest.NewRecorder()
			e.routes.ServeHTTP(w, r)
			refused := w.Code == http.StatusForbidden
			if refused != (tc.detail != "") || refused && strings.TrimSpace(w.Body.String()) != `{"detail":"`+tc.detail+`"}` {
				t.Errorf("got %d %s, want %q", w.Code, w.Body, tc.detail)
			}
		})
	}
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Access.CORSOrigins = []string{"https://app.example.com"}; d.Access.Key = "k" })
	got := e.ask("OPTIONS", "/api/v1/repositories", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST")
	if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" ||
		!strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "X-API-Key") {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got := e.ask("GET", "/healthz", "", "Origin", "https://evil.test"); got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("foreign origin: %d %v", got.status, got.header)
	}
}

// Every route asks for the key that it should, whatever way it is sent in.
func TestKeysAtEveryDoor(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Access.Key, d.Access.ReadKey = "write-key", "read-key" })
	open := map[string]bool{
		"/healthz": true, "/readyz": true, "/docs": true, "/openapi.json": true, "/api/v1/webhooks/:host": true,
		"/api/v1/ai/mcp/capabilities": true, "/api/v1/ai/mcp/tools": true, "/api/v1/ai/mcp/resources": true,
	}
	writes := map[string]bool{
		"POST /api/v1/repositories": true, "DELETE /api/v1/repositories/:id": true, "POST /api/v1/folders": true,
		"POST /api/v1/repositories/:id/reprocess": true, "POST /api/v1/repositories/:id/cancel": true,
	}
	for _, route := range e.routes.(*gin.Engine).Routes() {
		if route.Path == "/mcp" && route.Method != "POST" || !isAPI(route.Path) { // pages: dashboard_test.go
			continue
		}
		path := strings.NewReplacer(":id", "1", ":host", "github", "*path", "").Replace(route.Path)
		if strings.HasSuffix(path, "events") { // a stream; its route shares the check
			path = strings.Replace(path, "/1/", "/99/", 1)
		}
		if path == "/api/v1/events" {
			continue
		}
		name := route.Method + " " + route.Path
		try := func(headers ...string) reply { return e.ask(route.Method, path, "{}", headers...) }
		if open[route.Path] {
			if got := try(); got.status == 401 || got.status == 403 {
				t.Errorf("%s without a key: %d", name, got.status)
			}
			continue
		}
		e.expect(name+" without a key", try(), 401, `{"detail":"Invalid or missing API key"}`)
		if got := try("X-API-Key", "write-key"); got.status == 401 || got.status == 403 {
			t.Errorf("%s with the key: %d %s", name, got.status, got.body)
		}
		if got := try("Authorization", "Bearer write-key"); got.status == 401 || got.status == 403 {
			t.Errorf("%s with the key as a token: %d %s", name, got.status, got.body)
		}
		got := try("X-API-Key", "read-key")
		if writes[name] {
			e.expect(name+" with the read key", got, 403, `{"detail":"This key only reads; a change needs CODESAGE_API_KEY"}`)
		} else if got.status == 401 || got.status == 403 {
			t.Errorf("%s with the read key: %d %s", name, got.status, got.body)
		}
	}
}

// The read key runs the tools that read and no other, over HTTP and over MCP.
func TestReadKeyRunsNoToolThatWrites(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Access.Key, d.Access.ReadKey = "write-key", "read-key" })
	read := []string{"X-API-Key", "read-key", "Content-Type", "application/json"}
	add := `"add_repository","arguments":{"url":"https://github.com/octo/demo"}`
	e.expect("write", e.call(`{"tool_name":`+add+`}`, read...), 403, `{"detail":"This key only reads; a change needs CODESAGE_API_KEY"}`)
	if got := e.call(`{"tool_name":"search_code","arguments":{"query":"x"}}`, read...); got.status != 200 {
		t.Errorf("read: %d %s", got.status, got.body)
	}
	rpc := func(name string, headers ...string) reply {
		return e.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+name+`}}`, headers...)
	}
	e.expect("write over MCP", rpc(add, read...), 200,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"This key only reads; a change needs CODESAGE_API_KEY"}],"isError":true}}`)
	if got := rpc(`"search_code","arguments":{"query":"x"}`, read...); strings.Contains(got.body, "isError") {
		t.Errorf("read over MCP: %s", got.body)
	}
	if got := rpc(add, "X-API-Key", "write-key", "Content-Type", "application/json"); strings.Contains(got.body, "isError") {
		t.Errorf("write with the key: %s", got.body)
	}
	for _, want := range []string{
		`route=/mcp status=200 ms=0 client=127.0.0.1 by="api key" tool=add_repository outcome=ok`,
		`route=/mcp status=200 ms=0 client=127.0.0.1 by="read key" tool=add_repository outcome=refused`,
		`route=/api/v1/ai/mcp/tools/call status=403 ms=0 client=127.0.0.1 by="read key" tool=add_repository outcome=refused`,
	} {
		if log := e.log.String(); !strings.Contains(log, want) {
			t.Errorf("the log doesn't say who wrote, %s:\n%s", want, log)
		}
	}
	if strings.Contains(e.log.String(), "write-key") {
		t.Error("the log shows a key")
	}
}

func TestBrowserPagesTakeTheKeyAsPassword(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		d.Access.Key = "k"
		d.Monitoring = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "queue "+r.URL.Path) })
	})
	got := e.ask("GET", "/metrics", "")
	if got.status != 401 || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("without: %d %v", got.status, got.header)
	}
	login := "Basic " + "YW55Oms=" // any:k
	if got := e.ask("GET", "/metrics", "", "Authorization", login); got.status != 200 || !strings.Contains(got.body, "codesage_http_request_seconds") {
		t.Errorf("metrics: %d %.200s", got.status, got.body)
	}
	e.expect("monitoring", e.ask("GET", "/monitoring/queues", "", "Authorization", login), 200, "queue /monitoring/queues")
	if got := e.ask("POST", "/monitoring/queues", "", "Authorization", login); got.status != 405 {
		t.Errorf("monitoring is for reading: %d", got.status)
	}
	if got := e.call(`{}`, "Authorization", login); got.status != 401 || got.header.Get("WWW-Authenticate") != "" {
		t.Errorf("an API endpoint must not ask for a login: %d %v", got.status, got.header)
	}
}

// The eleventh wrong key of a minute is 429, and so is a right one then; a
// missing key is not a wrong one.
func TestFailedKeys(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Access.Key = "k" })
	try := func(key string) reply { return e.ask("GET", "/api/v1/repositories", "", "X-API-Key", key) }
	for range 20 {
		if got := try(""); got.status != 401 {
			t.Fatalf("missing key: %d", got.status)
		}
	}
	for i := range 10 {
		if got := try("wrong"); got.status != 401 {
			t.Fatalf("wrong key %d: %d", i+1, got.status)
		}
	}
	e.clock.forward(20 * time.Second)
	for _, key := range []string{"wrong", "k"} {
		got := try(key)
		e.expect("key "+key, got, 429, `{"detail":"Too many failed API keys from this address; wait and try again with the right one"}`)
		if got.header.Get("Retry-After") != "40" {
			t.Errorf("Retry-After %q, want 40", got.header.Get("Retry-After"))
		}
	}
	e.clock.forward(41 * time.Second)
	if got := try("k"); got.status != 200 {
		t.Errorf("after the window: %d", got.status)
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Limits = Limits{AI: 30, Default: 5} })
	for i := range 30 {
		if got := e.call(`{"tool_name":"list_repositories"}`); got.status != 200 {
			t.Fatalf("call %d: %d", i+1, got.status)
		}
	}
	e.clock.forward(15500 * time.Millisecond)
	limited := `{"detail":"Rate limit reached: 30 requests a minute; RATE_LIMIT_AI raises it"}`
	got := e.call(`{not json`)
	e.expect("call 31, before its envelope", got, 429, limited)
	if got.header.Get("Retry-After") != "45" {
		t.Errorf("Retry-After %q, want 45", got.header.Get("Retry-After"))
	}
	e.expect("resources share the limit", e.ask("GET", "/api/v1/ai/mcp/resources/read?uri=codesage://repositories", ""), 429, limited)
	e.expect("so does MCP", e.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repositories"}}`, "Content-Type", "application/json"), 429, limited)
	if got := e.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Content-Type", "application/json"); got.status != 200 {
		t.Errorf("a ping counts: %d", got.status)
	}
	for i := range 6 {
		got := e.ask("GET", "/api/v1/repositories", "")
		if want := map[bool]int{true: 200, false: 429}[i < 5]; got.status != want {
			t.Errorf("REST request %d: %d, want %d", i+1, got.status, want)
		}
		if i == 5 && !strings.Contains(got.body, "RATE_LIMIT_DEFAULT raises it") {
			t.Errorf("detail: %s", got.body)
		}
	}
	for _, path := range []string{"/api/v1/ai/mcp/tools", "/api/v1/ai/mcp/capabilities", "/api/v1/ai/mcp/resources", "/healthz"} {
		if got := e.ask("GET", path, ""); got.status != 200 {
			t.Errorf("%s is limited: %d", path, got.status)
		}
	}
	e.clock.forward(45 * time.Second)
	if got := e.call(`{"tool_name":"list_repositories"}`); got.status != 200 {
		t.Errorf("next window: %d", got.status)
	}
}

func TestABatchCountsItsCalls(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Limits.AI = 3 })
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repositories"}}`
	if got := e.ask("POST", "/mcp", "["+one+","+one+"]", "Content-Type", "application/json"); got.status != 200 {
		t.Errorf("two of three: %d %s", got.status, got.body)
	}
	if got := e.ask("POST", "/mcp", "["+one+","+one+"]", "Content-Type", "application/json"); got.status != 429 {
		t.Errorf("four of three: %d %s", got.status, got.body)
	}
}

// With Redis, two processes count together.
func TestRateLimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	shared := miniredis.RunT(t)
	set := func(d *Deps) {
		rdb := redis.NewClient(&redis.Options{Addr: shared.Addr(), MaxRetries: -1})
		t.Cleanup(func() { rdb.Close() })
		d.Redis, d.Limits.AI = rdb, 4
	}
	one, two := newEnv(t, set), newEnv(t, set)
	call := func(e *env) reply { return e.call(`{"tool_name":"list_repositories"}`) }
	for i := range 2 {
		if a, b := call(one), call(two); a.status != 200 || b.status != 200 {
			t.Fatalf("round %d: %d, %d", i, a.status, b.status)
		}
	}
	shared.FastForward(10 * time.Second)
	if got := call(two); got.status != 429 || got.header.Get("Retry-After") != "50" {
		t.Errorf("fifth: %d, Retry-After %s", got.status, got.header.Get("Retry-After"))
	}
	shared.FastForward(51 * time.Second)
	if got := call(one); got.status != 200 {
		t.Errorf("next window: %d", got.status)
	}
	shared.Close()
	for i := range 5 {
		if got := call(one); got.status != map[bool]int{true: 200, false: 429}[i < 4] {
			t.Errorf("call %d while Redis is away: %d", i+1, got.status)
		}
	}
}

// However many clients come, the counter holds a bounded number of them.
func TestMemoryCounterIsBounded(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(0, 0)}
	m := newMemoryCounter(c.Now)
	for i := range 3 * maxCounted {
		_, _, _ = m.add(t.Context(), fmt.Sprint(i), 1)
	}
	if len(m.seen) > maxCounted || len(m.order) > maxCounted {
		t.Errorf("holds %d windows and %d keys", len(m.seen), len(m.order))
	}
	if n, _, _ := m.add(t.Context(), fmt.Sprint(3*maxCounted-1), 1); n != 2 {
		t.Errorf("the newest client was forgotten: %d", n)
	}
}
