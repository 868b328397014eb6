package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage/tools"
)

// repositorySpecs and sessionSpecs are small toolsets.
func repositorySpecs() []tools.Spec {
	return []tools.Spec{
		{Name: "list_repositories", Description: "List.", Arguments: tools.Schema{Title: "ListRepositoriesArgs"}},
		{Name: "search_code", Description: "Search.", Arguments: tools.Schema{Title: "SearchCodeArgs", Fields: []tools.Field{
			{Name: "query", Type: tools.String, Required: true, MinLength: 1, MaxBytes: 512},
			{Name: "repository", Type: tools.String, Nullable: true},
			{Name: "limit", Type: tools.Integer, Default: 10, Min: tools.Limit(1), Max: tools.Limit(50)},
		}}},
	}
}

func sessionSpecs() []tools.Spec {
	return []tools.Spec{
		{Name: "search_code", Description: "Chunks.", Arguments: tools.Schema{Title: "ChunksArgs", Fields: []tools.Field{{Name: "query", Type: tools.String, Required: true}}}},
		{Name: "get_config", Description: "Configuration.", Arguments: tools.Schema{Title: "ConfigArgs"}},
		{Name: "index_repository", Description: "Index.", Slow: true, Arguments: tools.Schema{Title: "IndexArgs"}},
	}
}

// exchange runs the real bridge over its pipes: lines in, lines and log out.
func exchange(t *testing.T, c Config, lines ...string) (answers []string, log string) {
	t.Helper()
	c.Repositories, c.Sessions = repositorySpecs(), sessionSpecs()
	var stdout, stderr bytes.Buffer
	if err := Run(t.Context(), c, strings.NewReader(strings.Join(lines, "\n")+"\n"), &stdout, &stderr); err != nil {
		t.Fatalf("Run: %v", err)
	}
	for line := range strings.Lines(stdout.String()) {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("stdout has a line that is no JSON-RPC: %q", line)
		}
		answers = append(answers, strings.TrimSuffix(line, "\n"))
	}
	return answers, stderr.String()
}

func toolCall(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

// outcome is the answer of one call: a text block, or an error with its code.
type outcome struct {
	Text    string
	IsError bool
	Code    int
}

// ask runs one message through the bridge.
func ask(t *testing.T, c Config, line string) outcome {
	t.Helper()
	answers, _ := exchange(t, c, line)
	if len(answers) != 1 {
		t.Fatalf("%s: answers %q", line, answers)
	}
	var a struct {
		Result struct {
			Content  []struct{ Text string }
			Contents []struct{ Text string }
			IsError  bool
		}
		Error *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(answers[0]), &a); err != nil {
		t.Fatal(err)
	}
	if a.Error != nil {
		return outcome{Text: a.Error.Message, Code: a.Error.Code}
	}
	blocks := append(a.Result.Content, a.Result.Contents...)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks: %s", len(blocks), answers[0])
	}
	return outcome{Text: blocks[0].Text, IsError: a.Result.IsError}
}

// backend is an API that gives one answer to everything, and keeps what it was
// asked.
type backend struct {
	*httptest.Server
	asked []*http.Request
	body  []string
}

func newBackend(t *testing.T, status int, body string, headers ...string) *backend {
	b := &backend{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		b.asked, b.body = append(b.asked, r), append(b.body, string(text))
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(b.Close)
	return b
}

// closedPort is an address that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Each row of the contract's table "How failures reach Claude", from a server
// that fails so.
func TestFailuresReachTheClient(t *testing.T) {
	t.Parallel()
	html := "<html><body><h1>502 Bad Gateway</h1>nginx</body></html>"
	closed := closedPort(t)
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
		{name: "refused", set: func(c *Config) { c.ServerURL = "http://" + closed + "/" }, want: "CodeSage backend not reachable at http://" + closed + "; start it with `make start-backend`"},
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
				tc.c.ServerURL = "http://" + closedPort(t)
			}
			if diff := cmp.Diff(tc.want, ask(t, tc.c, tc.line)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"codesage://repositories/99/files"}}`
	for _, tc := range []struct {
		status int
		body   string
		want   outcome
	}{
		{200, `{"uri":"u","mimeType":"application/json","content":{"b":1,"a":[]}}`, outcome{Text: "{\n  \"b\": 1,\n  \"a\": []\n}"}},
		{404, `{"detail":"Repository 99 not found"}`, outcome{"Resource or repository not found: Repository 99 not found", false, -32602}},
		{404, `<html>`, outcome{"The backend returned 404 for /api/v1/ai/mcp/resources/read; check that MCP_SERVER_URL points at the backend root (no /api/v1).", false, -32603}},
		{500, `{"detail":"Internal server error","request_id":"r"}`, outcome{"CodeSage backend error (500): Internal server error (request r)", false, -32603}},
		{200, `{}`, outcome{"CodeSage backend returned an unexpected response; check MCP_SERVER_URL", false, -32603}},
	} {
		b := newBackend(t, tc.status, tc.body)
		if diff := cmp.Diff(tc.want, ask(t, Config{ServerURL: b.URL}, read)); diff != "" {
			t.Errorf("%d %s (-want +got):\n%s", tc.status, tc.body, diff)
		}
		if got := b.asked[0].URL.Query().Get("uri"); got != "codesage://repositories/99/files" {
			t.Errorf("asked for %q", got)
		}
	}
}

// What is sent: path, key, login, and arguments as they came, without nulls.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	const ok = `{"tool":"t","result":{"z":1,"a":"<ü>","n":9007199254740993},"is_error":false,"error":null}`
	b := newBackend(t, 200, ok)
	c := Config{ServerURL: strings.Replace(b.URL, "http://", "http://bob:p%40ss@", 1) + "/root/", Key: "the-key"}
	got := ask(t, c, toolCall("search_code", `{"query":"a<b","repository":null,"limit":"7"}`))
	if want := "{\n  \"z\": 1,\n  \"a\": \"<ü>\",\n  \"n\": 9007199254740993\n}"; got.Text != want || got.IsError {
		t.Errorf("result %q, want %q", got.Text, want)
	}
	r := b.asked[0]
	user, password, _ := r.BasicAuth()
	if r.URL.Path != "/root/api/v1/ai/mcp/tools/call" || r.URL.RawQuery != "" || r.Header.Get("X-API-Key") != "the-key" || user != "bob" || password != "p@ss" {
		t.Errorf("%s %v as %q %q", r.URL, r.Header, user, password)
	}
	if want := `{"tool_name":"search_code","arguments":{"limit":"7","query":"a<b"}}`; strings.TrimSpace(b.body[0]) != want {
		t.Errorf("body %s, want %s", b.body[0], want)
	}
	c = Config{ServerURL: b.URL, BasicUser: "eve", BasicPassword: "x", Toolset: "all"}
	ask(t, c, toolCall("search_code", `{"query":"x"}`))
	if r := b.asked[1]; r.URL.RawQuery != "toolset=all" || r.Header.Get("X-API-Key") != "" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
}

func TestSessionResults(t *testing.T) {
	t.Parallel()
	c := Config{Toolset: "sessions", ServerURL: newBackend(t, 200, `{"tool":"t","result":{"text":"# Title\n"},"is_error":false,"error":null}`).URL}
	if got := ask(t, c, toolCall("get_config", `{}`)); got != (outcome{Text: "# Title\n"}) {
		t.Errorf("got %+v", got)
	}
	if got := ask(t, c, toolCall("show_shebe_config", `{}`)); got != (outcome{Text: "# Title\n"}) {
		t.Errorf("by its hidden name: %+v", got)
	}
	c.ServerURL = newBackend(t, 200, `{"tool":"t","result":null,"is_error":true,"error":"Session not found: x","code":-32001}`).URL
	if got := ask(t, c, toolCall("search_code", `{"query":"x"}`)); got != (outcome{Text: "Session not found: x", Code: -32001}) {
		t.Errorf("got %+v", got)
	}
}

// A slow tool is waited for, and its progress passed on, when the client asked.
func TestSlowToolsForwardProgress(t *testing.T) {
	t.Parallel()
	stream := "event: progress\ndata: {\"progress\":1,\"total\":2,\"message\":\"half\"}\n\n: ping\n\n" +
		"event: progress\ndata: {\"progress\":2,\"total\":null,\"message\":\"\"}\n\n" +
		"event: result\ndata: {\"tool\":\"index_repository\",\"result\":{\"text\":\"done\"},\"is_error\":false,\"error\":null}\n\n"
	b := newBackend(t, 200, stream, "Content-Type", "text/event-stream")
	c := Config{ServerURL: b.URL, Toolset: "sessions"}
	answers, _ := exchange(t, c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"index_repository","_meta":{"progressToken":"p"}}}`)
	want := []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"half","progress":1,"progressToken":"p","total":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"progressToken":"p"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`,
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := b.asked[0].Header.Get("Accept"); got != "text/event-stream" {
		t.Errorf("Accept %q", got)
	}
	plain := newBackend(t, 200, `{"tool":"t","result":{"text":"done"},"is_error":false,"error":null}`)
	if got := ask(t, Config{ServerURL: plain.URL, Toolset: "sessions"}, toolCall("index_repository", "{}")); got.Text != "done" || plain.asked[0].Header.Get("Accept") != "application/json" {
		t.Errorf("without a token: %+v, Accept %q", got, plain.asked[0].Header.Get("Accept"))
	}
	failing := newBackend(t, 200, "event: error\ndata: {\"detail\":\"Internal server error\",\"request_id\":\"r\"}\n\n", "Content-Type", "text/event-stream")
	answers, _ = exchange(t, Config{ServerURL: failing.URL, Toolset: "sessions"}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"index_repository","_meta":{"progressToken":"p"}}}`)
	if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"CodeSage backend error (500): Internal server error (request r)"}}`; len(answers) != 1 || answers[0] != want {
		t.Errorf("failed stream: %q", answers)
	}
}

// Lists, argument checks and the protocol work while the server is away, byte
// for byte as field case B36 asks.
func TestIdsNotificationsPing(t *testing.T) {
	t.Parallel()
	answers, _ := exchange(t, Config{ServerURL: "http://" + closedPort(t)},
		`{"jsonrpc":"2.0","id":"req-α","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/made_up"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_repositories","arguments":{}}}`,
		``,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":5,"method":"no/such"}`,
		`{not json`)
	want := []string{
		`{"jsonrpc":"2.0","id":"req-α","result":{}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Unknown method: no/such"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: invalid character 'n' looking for beginning of object key string"}}`,
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestListsWorkWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	for toolset, want := range map[string][]string{
		"": {"list_repositories", "search_code"}, "sessions": {"search_code", "get_config", "index_repository"},
		"all": {"list_repositories", "search_code", "search_chunks", "get_config", "index_repository"},
	} {
		answers, _ := exchange(t, Config{ServerURL: "http://" + closedPort(t), Toolset: toolset},
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
		var list struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if len(answers) != 2 || json.Unmarshal([]byte(answers[0]), &list) != nil || !strings.Contains(answers[1], "codesage://repositories") {
			t.Fatalf("%q", answers)
		}
		var names []string
		for _, tool := range list.Result.Tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("toolset %q (-want +got):\n%s", toolset, diff)
		}
	}
}

// The log says whether a key is set and shows neither key nor login.
func TestTheLogKeepsSecrets(t *testing.T) {
	t.Parallel()
	c := Config{ServerURL: "http://bob:hunter2@" + closedPort(t), Key: "sesame", BasicUser: "alice", BasicPassword: "swordfish", LogLevel: slog.LevelDebug}
	_, log := exchange(t, c, toolCall("list_repositories", "{}"))
	if !strings.Contains(log, "key=true") || !strings.Contains(log, "server=http://127.0.0.1:") {
		t.Errorf("log: %s", log)
	}
	for _, secret := range []string{"hunter2", "bob", "sesame", "swordfish"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log shows %s:\n%s", secret, log)
		}
	}
}

func TestUnknownToolsetIsRefused(t *testing.T) {
	t.Parallel()
	err := Run(t.Context(), Config{Toolset: "x"}, strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || err.Error() != `CODESAGE_TOOLSET must be repositories, sessions or all (got "x")` {
		t.Errorf("got %v", err)
	}
}

// A call that the client cancels is given up at the server too.
func TestCancellingACallEndsTheRequest(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a closed connection only then
		close(started)
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(server.Close)
	in, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), Config{ServerURL: server.URL, Repositories: repositorySpecs()}, in, io.Discard, io.Discard)
	}()
	_, _ = io.WriteString(to, toolCall("list_repositories", "{}")+"\n")
	<-started
	_, _ = io.WriteString(to, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	<-ended
	to.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestInterruptEndsTheBridge(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, to := io.Pipe()
	defer to.Close()
	done := make(chan error, 1)
	go func() { done <- Run(ctx, Config{}, in, io.Discard, io.Discard) }()
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
