package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	var broken error
	e := newEnv(t, func(d *Deps) {
		d.Checks = map[string]func(context.Context) error{"queue": func(context.Context) error { return broken }}
	})
	e.expect("alive", e.ask("GET", "/healthz", ""), 200, `{"status":"ok"}`)
	e.expect("ready", e.ask("GET", "/readyz", ""), 200, `{"parts":{"queue":"ok","search":"ok","store":"ok"},"status":"ok"}`)
	if got := e.ask("HEAD", "/healthz", ""); got.status != 200 {
		t.Errorf("HEAD: %d", got.status)
	}
	broken = errors.New("dial tcp 10.0.0.9:6379: secret")
	e.expect("queue away", e.ask("GET", "/readyz", ""), 503, `{"parts":{"queue":"unavailable","search":"ok","store":"ok"},"status":"unavailable"}`)
	e.engine.err = errors.New("no index")
	e.expect("two away", e.ask("GET", "/readyz", ""), 503, `{"parts":{"queue":"unavailable","search":"unavailable","store":"ok"},"status":"unavailable"}`)
}

func TestMetricsCountCalls(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, body := range []string{`{"tool_name":"list_repositories"}`, `{"tool_name":"refuse"}`, `{"tool_name":"boom"}`, `{"tool_name":"search_code"}`, `{"tool_name":"secret-name"}`} {
		e.call(body)
	}
	got := e.ask("GET", "/metrics", "").body
	for _, want := range []string{
		`codesage_tool_call_seconds_count{outcome="ok",tool="list_repositories"} 1`, `codesage_tool_call_seconds_count{outcome="refused",tool="refuse"} 1`,
		`codesage_tool_call_seconds_count{outcome="error",tool="boom"} 1`, `codesage_tool_call_seconds_count{outcome="invalid",tool="search_code"} 1`,
		`codesage_http_request_seconds_count{method="POST",route="/api/v1/ai/mcp/tools/call",status="404"} 1`, `go_goroutines`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(got, "secret-name") {
		t.Error("a name that a caller chose is a label")
	}
}

// The description names every route but the pages, and no other.
func TestOpenAPIMatchesTheRouter(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	doc := decode[struct {
		Paths map[string]map[string]struct {
			Summary   string
			Security  []any
			Responses map[string]any
		}
	}](t, e.ask("GET", "/openapi.json", ""))
	var described, served []string
	for path, methods := range doc.Paths {
		for method, op := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
			if op.Summary == "" || len(op.Responses) == 0 {
				t.Errorf("%s %s says nothing", method, path)
			}
		}
	}
	for _, r := range e.routes.(*gin.Engine).Routes() {
		path := regexp.MustCompile(`[:*](\w+)`).ReplaceAllString(r.Path, "{$1}")
		if r.Method != "HEAD" && isAPI(r.Path) && (path != "/mcp" || r.Method == "POST") { // /mcp answers the others with 405
			served = append(served, r.Method+" "+path)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("described (-served +described):\n%s", diff)
	}
}

func TestDocsLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	got := e.ask("GET", "/docs", "")
	if got.status != 200 || regexp.MustCompile(`(?i)(src|href)="?https?:|@import|//cdn`).MatchString(got.body) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if csp := got.header.Get("Content-Security-Policy"); !strings.Contains(csp, scriptHash(docsPage)) || !strings.Contains(csp, "frame-ancestors 'none'") || got.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("policy %q, frames %q", csp, got.header.Get("X-Frame-Options"))
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	say := func(what string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, what, " ", r.Method, " ", r.URL.Path) })
	}
	e := newEnv(t, func(d *Deps) { d.Webhooks, d.Access.Key = say("hook"), "k" })
	e.expect("no page for the API", e.ask("GET", "/api/v2", "", "Accept", "text/html"), 404, `{"detail":"Not Found"}`)
	e.expect("webhook of any host name", e.ask("POST", "/api/v1/webhooks/gitlab", "{}", "Host", "code.example.com"), 200, "hook POST /api/v1/webhooks/gitlab")
	e.expect("unknown host", e.ask("POST", "/api/v1/webhooks/other", "{}"), 404, `{"detail":"Not Found"}`)
	off := newEnv(t, nil)
	e.expect("off", off.ask("POST", "/api/v1/webhooks/github", "{}", "Host", "code.example.com"), 404, `{"detail":"Not Found"}`)
}

// What /mcp answers is what the bridge answers.
func TestMCPDoor(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/demo")
	rpc := func(query, method, params string) string {
		t.Helper()
		got := e.ask("POST", "/mcp"+query, `{"jsonrpc":"2.0","id":9007199254740993,"method":"`+method+`","params":`+params+`}`, "Content-Type", "application/json")
		body, ok := strings.CutPrefix(got.body, `{"jsonrpc":"2.0","id":9007199254740993,`)
		if got.status != 200 || !ok {
			t.Errorf("%s %s: %d %s", method, params, got.status, got.body)
		}
		return strings.TrimSuffix(body, "}")
	}
	text := func(s string, failed bool) string {
		end := "}"
		if failed {
			end = `,"isError":true}`
		}
		return `"result":{"content":[{"type":"text","text":` + string(mustJSON(s)) + `}]` + end
	}
	fails := func(code int, message string) string {
		return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message)
	}
	for _, tc := range []struct{ query, method, params, want string }{
		{"", "tools/call", `{"name":"list_repositories"}`, text("{\n  \"repositories\": []\n}", false)},
		{"", "tools/call", `{"name":"refuse"}`, text("Repository 'nope' not found. Available repositories: octo/demo", true)},
		{"", "tools/call", `{"name":"boom"}`, fails(-32603, "Internal error")},
		{"", "tools/call", `{"name":"search_code","arguments":{"limit":500}}`,
			text("Invalid arguments for 'search_code': query: Field required; limit: Input should be less than or equal to 50", true)},
		{"", "tools/call", `{"name":"get_config"}`,
			text("Unknown tool 'get_config'. Available tools: list_repositories, search_code, add_repository, refuse, gone, away, boom, panic, slow", true)},
		{"?toolset=sessions", "tools/call", `{"name":"slow"}`, fails(-32600, "Tool not found: slow")},
		{"?toolset=sessions", "tools/call", `{"name":"search_code","arguments":{"query":""}}`, fails(-32602, "Query cannot be empty")},
		{"?toolset=sessions", "tools/call", `{"name":"search_code","arguments":{}}`, fails(-32602, "missing field `query`")},
		{"?toolset=all", "tools/call", `{"name":"search_chunks","arguments":{"query":"x"}}`, text("Found 0 results for 'x'", false)},
		{"", "resources/read", `{"uri":"codesage://repositories/99/files"}`, fails(-32602, "Resource or repository not found: Repository 99 not found")},
	} {
		if diff := cmp.Diff(tc.want, rpc(tc.query, tc.method, tc.params)); diff != "" {
			t.Errorf("%s %s%s (-want +got):\n%s", tc.method, tc.params, tc.query, diff)
		}
	}
	if got := rpc("", "resources/read", `{"uri":"codesage://repositories"}`); !strings.Contains(got, `octo/demo`) {
		t.Errorf("resource: %s", got)
	}
	e.expect("wrong key before JSON-RPC", newEnv(t, func(d *Deps) { d.Access.Key = "k" }).ask("POST", "/mcp", "{"), 401, `{"detail":"Invalid or missing API key"}`)
	if got := e.ask("GET", "/mcp", ""); got.status != 405 {
		t.Errorf("GET /mcp: %d", got.status)
	}
}
