package bridge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each row of the contract's table "How failures reach Claude", from a server
// that fails so.
func TestFailuresReachTheClient(t *testing.T) {
	t.Parallel()
	html := "<html><body><h1>502 Bad Gateway</h1>nginx</body></html>"
	const call = `{"query":"x"}`
	for _, tc := range []struct {
		name   string
		status int
		body   string
		header []string
		set    func(*Config)
		want   string
	}{
		{name: "no http URL", set: func(c *Config) { c.ServerURL = "ftp://bob:secret@host/x" }, want: "MCP_SERVER_URL must start with http:// or https:// (got 'ftp://host/x')"},
		{name: "no host", set: func(c *Config) { c.ServerURL = "http://" }, want: "MCP_SERVER_URL must start with http:// or https:// (got 'http://')"},
		{name: "no URL", set: func(c *Config) { c.ServerURL = "localhost:8001" }, want: "MCP_SERVER_URL must start with http:// or https:// (got 'localhost:8001')"},
		{name: "refused", set: func(c *Config) { c.ServerURL = "http://" + closedPort + "/" }, want: "CodeSage backend not reachable at http://" + closedPort + "; start it with `make start-backend`"},
		{name: "other host", set: func(c *Config) { c.ServerURL = "http://code.invalid" }, want: "CodeSage backend not reachable at http://code.invalid; check MCP_SERVER_URL and that the host is up"},
		{name: "login of a proxy", status: 401, body: html, header: []string{"WWW-Authenticate", `basic realm="x"`},
			want: "The proxy in front of CodeSage rejected the login (401); check the user and password (CODESAGE_BASIC_AUTH_USER and its Keychain entry)"},
		{name: "no key", status: 401, body: `{"detail":"Invalid or missing API key"}`, set: func(c *Config) { c.KeyFile = "/data/api_key" },
			want: "No API key is configured; set CODESAGE_API_KEY in the MCP server's env in your MCP client's config (for Claude Desktop, run `make install-claude`). For a local backend the launcher reads the key from /data/api_key when the config leaves it empty, so this means that file has no key either"},
		{name: "wrong key", status: 401, body: `{"detail":"Invalid or missing API key"}`, set: func(c *Config) { c.Key = "k" },
			want: "CodeSage backend rejected the API key (401); check CODESAGE_API_KEY in the MCP server config"},
		{name: "guard", status: 403, body: `{"detail":"Host 'x' is not allowed"}`,
			want: "CodeSage refused the request (403): Host 'x' is not allowed. If the backend runs on another host, add that host to ALLOWED_HOSTS on the backend and check MCP_SERVER_URL."},
		{name: "wrong root", status: 404, body: `{"detail":"Not Found"}`, set: func(c *Config) { c.ServerURL += "/api/v1" },
			want: "The backend returned 404 for /api/v1/api/v1/ai/mcp/tools/call; check that MCP_SERVER_URL points at the backend root (no /api/v1)."},
		{name: "arguments", status: 422, body: `{"detail":[{"type":"missing", "loc":["z"], "msg":"Field required", "input":{}}]}`,
			want: `Invalid arguments for 'search_code' (422): [{"type":"missing","loc":["z"],"msg":"Field required","input":{}}]`},
		{name: "rate limit", status: 429, body: `{"detail":"x"}`, want: "CodeSage backend rate limit exceeded (429); wait a moment and retry"},
		{name: "500", status: 500, body: `{"detail":"Internal server error","request_id":"abc"}`, want: "CodeSage backend error (500): Internal server error (request abc)"},
		{name: "503 with the header", status: 503, body: `{"detail":"away"}`, header: []string{"X-Request-ID", "from-header"}, want: "CodeSage backend error (503): away (request from-header)"},
		{name: "body before header", status: 500, body: `{"detail":"d","request_id":"body"}`, header: []string{"X-Request-ID", "header"}, want: "CodeSage backend error (500): d (request body)"},
		{name: "proxy page", status: 502, body: html, want: "CodeSage backend error (502); the backend or the proxy in front of it may be down"},
		{name: "JSON that is no object", status: 500, body: `"x"`, want: "CodeSage backend error (500); the backend or the proxy in front of it may be down"},
		{name: "other status", status: 418, body: `{"detail":"teapot"}`, want: "Unexpected response from CodeSage backend (418): teapot"},
		{name: "redirect is not followed", status: 302, body: "", header: []string{"Location", "http://evil.test/"}, want: "Unexpected response from CodeSage backend (302): Found"},
		{name: "page with 200", status: 200, body: html, want: "CodeSage backend returned an unexpected response; check MCP_SERVER_URL"},
		{name: "list with 200", status: 200, body: `[]`, want: "CodeSage backend returned an unexpected response; check MCP_SERVER_URL"},
		{name: "other object with 200", status: 200, body: `{"ok":true}`, want: "CodeSage backend returned an unexpected response; check MCP_SERVER_URL"},
		{name: "tool refused", status: 200, body: `{"tool":"search_code","result":null,"is_error":true,"error":"still indexing"}`, want: "still indexing"},
		{name: "tool refused without a word", status: 200, body: `{"tool":"search_code","result":null,"is_error":true,"error":null}`, want: "Tool failed"},
		{name: "key over plain http", set: func(c *Config) { c.ServerURL, c.Key = "http://code.example.com", "k" },
			want: "Refusing to send credentials over plain http to code.example.com; use https://, or set CODESAGE_ALLOW_INSECURE_AUTH=1 on a trusted network"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBackend(t, max(tc.status, 200), tc.body, tc.header...)
			c := Config{ServerURL: b.URL}
			if tc.set != nil {
				tc.set(&c)
			}
			got := ask(t, c, toolCall("search_code", call))
			if diff := cmp.Diff(outcome{Text: tc.want, IsError: true}, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if tc.status == 0 && len(b.asked) > 0 {
				t.Error("something was sent")
			}
		})
	}
}

// The other rows: time-outs, broken connections, unknown tools, bad arguments.
func TestFailuresWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(silent.Close)
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
		conn.Close()
	}))
	t.Cleanup(cut.Close)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	t.Cleanup(half.Close)
	t.Cleanup(func() { close(release) }) // first, so that the servers can close
	slow := 30 * time.Millisecond
	for _, tc := range []struct {
		name string
		c    Config
		line string
		want outcome
	}{
		{"no answer", Config{ServerURL: silent.URL, Timeout: slow}, toolCall("list_repositories", "{}"), outcome{"CodeSage backend did not answer within 0.03 s.", true, 0}},
		{"half an answer", Config{ServerURL: half.URL, Timeout: slow}, toolCall("list_repositories", "{}"), outcome{"CodeSage backend did not answer within 0.03 s.", true, 0}},
		{"cut off", Config{ServerURL: cut.URL}, toolCall("list_repositories", "{}"), outcome{"CodeSage backend request failed: TransportError: unexpected EOF", true, 0}},
		{"unknown tool", Config{}, toolCall("nope", "{}"), outcome{"Unknown tool 'nope'. Available tools: list_repositories, search_code", true, 0}},
		{"tool of another set", Config{}, toolCall("get_config", "{}"), outcome{"Unknown tool 'get_config'. Available tools: list_repositories, search_code", true, 0}},
		{"unknown tool of all", Config{Toolset: "all"}, toolCall("nope", "{}"),
			outcome{"Unknown tool 'nope'. Available tools: list_repositories, search_code, search_chunks, get_config, index_repository", true, 0}},
		{"unknown session tool", Config{Toolset: "sessions"}, toolCall("nope", "{}"), outcome{"Tool not found: nope", false, -32600}},
		{"bad arguments", Config{}, toolCall("search_code", `{"limit":500,"x":1}`),
			outcome{"Invalid arguments for 'search_code': query: Field required; limit: Input should be less than or equal to 50; x: Extra inputs are not permitted", true, 0}},
		{"query too long", Config{}, toolCall("search_code", `{"query":"`+strings.Repeat("é", 257)+`"}`),
			outcome{"Invalid arguments for 'search_code': query: query is too long; the limit is 512 bytes", true, 0}},
		{"bad session arguments", Config{Toolset: "sessions"}, toolCall("search_code", `{}`), outcome{"missing field `query`", false, -32602}},
		{"session transport", Config{Toolset: "sessions", ServerURL: silent.URL, Timeout: slow}, toolCall("search_code", `{"query":"x"}`),
			outcome{"CodeSage backend did not answer within 0.03 s.", false, -32603}},
		{"resource time-out", Config{ServerURL: silent.URL, Timeout: slow}, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"codesage://repositories"}}`,
			outcome{"CodeSage backend did not answer within 0.03 s.", false, -32603}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.c.ServerURL == "" {
				tc.c.ServerURL = "http://" + closedPort
			}
			if diff := cmp.Diff(tc.want, ask(t, tc.c, tc.line)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}
