package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

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

// closedPort is an address that refuses connections. One that had been free a
// moment ago could be another test's by now.
const closedPort = "127.0.0.1:1"

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
	for status, want := range map[int]string{
		500: "CodeSage backend error (500): Internal server error (request r)",
		503: "CodeSage backend error (503): Internal server error (request r)",
	} {
		event := fmt.Sprintf("event: error\ndata: {\"detail\":\"Internal server error\",\"request_id\":\"r\",\"status\":%d}\n\n", status)
		failing := newBackend(t, 200, event, "Content-Type", "text/event-stream")
		answers, _ = exchange(t, Config{ServerURL: failing.URL, Toolset: "sessions"}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"index_repository","_meta":{"progressToken":"p"}}}`)
		if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"` + want + `"}}`; len(answers) != 1 || answers[0] != want {
			t.Errorf("failed stream: %q, want %s", answers, want)
		}
	}
}

// Lists, argument checks and the protocol work while the server is away, byte
// for byte as field case B36 asks.
func TestIdsNotificationsPing(t *testing.T) {
	t.Parallel()
	answers, _ := exchange(t, Config{ServerURL: "http://" + closedPort},
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
		answers, _ := exchange(t, Config{ServerURL: "http://" + closedPort, Toolset: toolset},
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
	c := Config{ServerURL: "http://bob:hunter2@" + closedPort, Key: "sesame", BasicUser: "alice", BasicPassword: "swordfish", LogLevel: slog.LevelDebug}
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

// What is asked of the server is logged with the id that the server has of it.
func TestLinesOfTheBridgeHaveTheRequestID(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	sent := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent[r.Header.Get("X-Request-ID")] = true
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	_, log := exchange(t, Config{ServerURL: server.URL, Key: "k"}, toolCall("list_repositories", "{}"),
		`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"codesage://repositories"}}`)
	lines := regexp.MustCompile(`msg=(call|"call failed"|"read failed") request=(\S+) `).FindAllStringSubmatch(log, -1)
	if len(lines) != 3 {
		t.Errorf("got %d lines with an id, want 3:\n%s", len(lines), log)
	}
	for _, line := range lines {
		if !sent[line[2]] {
			t.Errorf("the server was not sent the id of %s", line[0])
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
