package api

import (
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

// lines are the log's lines about requests.
func (e *env) lines() []string {
	var found []string
	for line := range strings.Lines(e.log.String()) {
		if strings.Contains(line, "msg=request ") {
			_, rest, _ := strings.Cut(line, "msg=request ")
			found = append(found, strings.TrimSpace(rest))
		}
	}
	return found
}

// Each request is one line, which names what was called and never what with.
func TestEachRequestIsOneLine(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tT0k"
	e := newEnv(t, nil)
	id := []string{"X-Request-ID", "r1", "Content-Type", "application/json"}
	rpc := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repositories","arguments":{}}}`
	e.call(`{"tool_name":"search_code","arguments":{"query":"`+secret+`"}}`, id...)
	e.call(`{"tool_name":"search_code","arguments":{"`+secret+`":1}}`, id...)
	e.call(`{"tool_name":"refuse","arguments":{}}`, id...)
	e.call(`{"tool_name":"boom","arguments":{}}`, id...)
	e.call(`{"tool_name":"panic","arguments":{}}`, id...)
	e.call(`{"tool_name":"`+secret+`","arguments":{}}`, id...)
	e.ask("POST", "/mcp", "["+rpc+","+rpc+"]", id...)
	e.ask("GET", "/api/v1/repositories/7", "", id...)
	e.ask("GET", "/"+secret+"?token="+secret, "", id...)
	e.ask("GET", "/api/v1/repositories?token="+secret, "", id...)
	e.ask("PROPFIND", "/nothing", "", id...)
	e.ask("GET", "/healthz", "", id...)
	e.ask("GET", "/healthz", "", append(id, "Origin", "null")...)
	const call = "request=r1 method=POST route=/api/v1/ai/mcp/tools/call "
	got, want := e.lines(), []string{
		call + "status=200 ms=0 client=127.0.0.1 tool=search_code outcome=ok",
		call + "status=422 ms=0 client=127.0.0.1 tool=search_code outcome=invalid",
		call + "status=200 ms=0 client=127.0.0.1 tool=refuse outcome=refused",
		call + "status=500 ms=0 client=127.0.0.1 tool=boom outcome=error",
		call + "status=500 ms=0 client=127.0.0.1 tool=panic outcome=error",
		call + "status=404 ms=0 client=127.0.0.1",
		"request=r1 method=POST route=/mcp status=200 ms=0 client=127.0.0.1 tool=list_repositories,list_repositories outcome=ok,ok",
		"request=r1 method=GET route=/api/v1/repositories/:id status=404 ms=0 client=127.0.0.1",
		`request=r1 method=GET route="" status=404 ms=0 client=127.0.0.1`,
		"request=r1 method=GET route=/api/v1/repositories status=200 ms=0 client=127.0.0.1",
		`request=r1 method=other route="" status=404 ms=0 client=127.0.0.1`,
		"request=r1 method=GET route=/healthz status=403 ms=0 client=127.0.0.1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(e.log.String(), secret) {
		t.Errorf("the log shows what a caller sent:\n%s", e.log.String())
	}
}

// The metrics count requests and calls by labels of fixed sets.
func TestMetricsCountRequestsAndCalls(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tT0k"
	e := newEnv(t, nil)
	for _, tool := range []string{"list_repositories", "refuse", "boom", "panic", "search_code", secret} {
		e.call(`{"tool_name":"` + tool + `","arguments":{}}`)
	}
	e.ask("GET", "/"+secret, "")
	e.ask("PROPFIND", "/"+secret, "")
	text := e.ask("GET", "/metrics", "").body
	for _, want := range []string{
		`codesage_tool_call_seconds_count{outcome="ok",tool="list_repositories"} 1`,
		`codesage_tool_call_seconds_count{outcome="refused",tool="refuse"} 1`,
		`codesage_tool_call_seconds_count{outcome="error",tool="boom"} 1`,
		`codesage_tool_call_seconds_count{outcome="error",tool="panic"} 1`,
		`codesage_tool_call_seconds_count{outcome="invalid",tool="search_code"} 1`,
		`codesage_http_request_seconds_count{method="POST",route="/api/v1/ai/mcp/tools/call",status="404"} 1`,
		`codesage_http_request_seconds_count{method="GET",route="",status="404"} 1`,
		`codesage_http_request_seconds_count{method="other",route="",status="404"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, secret) {
		t.Error("a label holds what a caller sent")
	}
}

// An id that a client sends is the id of its log lines; what is no id is not.
func TestRequestIDsComeFromTheClient(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	if got := e.ask("GET", "/healthz", "", "X-Request-ID", "bridge-7"); got.header.Get("X-Request-ID") != "bridge-7" {
		t.Errorf("got %s", got.header)
	}
	made := regexp.MustCompile(`^[0-9a-f]{16}$`)
	for _, bad := range []string{"", "a b", strings.Repeat("x", 65), "é", `"`} {
		if got := e.ask("GET", "/healthz", "", "X-Request-ID", bad); !made.MatchString(got.header.Get("X-Request-ID")) {
			t.Errorf("%q: got %s", bad, got.header)
		}
	}
}

// Without a key whoever watches must be on this machine.
func TestWatchingWithoutAKeyIsLocal(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		d.Access.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Monitoring = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	})
	for _, path := range []string{"/metrics", "/monitoring/", "/monitoring/api/queues", "/healthz", "/readyz"} {
		if got := e.ask("GET", path, ""); got.status != 200 {
			t.Errorf("%s from this machine: %d %s", path, got.status, got.body)
		}
		e.expect(path+" from another", e.ask("GET", path, "", "X-Forwarded-For", "192.0.2.7"), 403,
			`{"detail":"Only local clients are allowed when no API key is configured"}`)
	}
}

// Whatever a request makes the server log carries the request's id, through
// whichever door it came.
func TestEveryLineOfARequestHasItsID(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/demo")
	e.engine.err = errors.New("no index")
	id := []string{"X-Request-ID", "r1", "Content-Type", "application/json"}
	rpc := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
	}
	e.call(`{"tool_name":"boom"}`, id...)
	e.call(`{"tool_name":"boom"}`, append(id, "Accept", "text/event-stream")...)
	e.call(`{"tool_name":"panic"}`, id...)
	e.ask("POST", "/mcp", rpc("boom"), id...)
	e.ask("POST", "/mcp", rpc("panic"), id...)
	e.ask("GET", "/api/v1/ai/search/suggestions?query=name", "", id...)
	e.ask("GET", "/search", "", id...)
	e.ask("GET", "/readyz", "", id...)
	seen := 0
	for line := range strings.Lines(e.log.String()) {
		if !strings.Contains(line, " request=r1 ") {
			t.Errorf("a line without the id: %s", line)
		}
		if !strings.Contains(line, "level=INFO") {
			seen++
		}
	}
	if want := 8; seen != want {
		t.Errorf("got %d lines beside those of requests, want %d:\n%s", seen, want, e.log.String())
	}
}
