package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

var toolNames = []string{"list_repositories", "search_code", "get_file", "list_definitions", "analyze_repository", "find_patterns"}

// demoFolder is a small tree for the bridge to tell about.
func demoFolder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{
		"main.go":   "package main\n\n// Greet greets.\nfunc Greet() string { return \"hello\" }\n",
		"lib/a.py":  "import os\n\nclass Alpha:\n    def one(self):\n        return os.sep\n",
		"README.md": "# Demo\n\n## Install\n\ntext\n",
	})
	return folder
}

// connect starts a bridge and greets it.
func connect(t testing.TB, url string) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.NewStdioMCPClient(program(t), environ(t.TempDir(), "MCP_SERVER_URL="+url), "bridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	got, err := c.Initialize(context.Background(), hello)
	if err != nil {
		t.Fatal(err)
	}
	if got.ServerInfo.Name != "codesage" || got.Capabilities.Tools == nil || got.Capabilities.Resources == nil {
		t.Errorf("the bridge says it is %+v with %+v", got.ServerInfo, got.Capabilities)
	}
	return c
}

// through calls a tool through a bridge and returns its text.
func through(t testing.TB, c *mcpclient.Client, tool string, a args) (text string, isError bool) {
	t.Helper()
	var q mcp.CallToolRequest
	q.Params.Name, q.Params.Arguments = tool, map[string]any(a)
	answer, err := c.CallTool(context.Background(), q)
	if err != nil {
		t.Fatalf("%s %v: %v", tool, a, err)
	}
	if len(answer.Content) != 1 {
		t.Fatalf("%s answers %d blocks", tool, len(answer.Content))
	}
	block, ok := answer.Content[0].(mcp.TextContent)
	if !ok {
		t.Fatalf("%s answers no text", tool)
	}
	return block.Text, answer.IsError
}

func TestTheBridgeForwardsEveryTool(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.index(demoFolder(t), "demo")
	c := connect(t, s.url)
	for _, tc := range []struct {
		tool string
		args args
		want string
	}{
		{"list_repositories", nil, `"name": "demo"`},
		{"search_code", args{"query": "greet", "repository": "demo"}, `"entity_name": "Greet"`},
		{"get_file", args{"repository": "demo", "path": "main.go", "start_line": 4}, `   4| func Greet() string`},
		{"list_definitions", args{"repository": "demo", "entity_type": "class"}, `"entity_name": "Alpha"`},
		{"analyze_repository", args{"repository": "1"}, `"total_files": 3`},
		{"find_patterns", args{"repository": "demo", "pattern": `os\.\w+`, "regex": true}, `"text": "return os.sep"`},
	} {
		text, isError := through(t, c, tc.tool, tc.args)
		if isError || !strings.Contains(text, tc.want) {
			t.Errorf("%s %v: %s", tc.tool, tc.args, text)
		}
		direct, err := call(s.api, tc.tool, tc.args)
		if err != nil {
			t.Fatal(err)
		}
		var pretty, same bytes.Buffer
		if json.Indent(&pretty, direct.Result, "", "  ") != nil || json.Indent(&same, []byte(text), "", "  ") != nil || pretty.String() != same.String() {
			t.Errorf("%s: the bridge says\n%s\nand the server\n%s", tc.tool, text, pretty.String())
		}
	}
	if text, isError := through(t, c, "get_file", args{"repository": "nope", "path": "x"}); !isError || text != "Repository 'nope' not found. Available repositories: demo" {
		t.Errorf("unknown repository: %v %q", isError, text)
	}
	checkResources(t, c)
}

func checkResources(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	list, err := c.ListResources(context.Background(), mcp.ListResourcesRequest{})
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "codesage://repositories" {
		t.Errorf("resources %+v, %v", list, err)
	}
	for uri, want := range map[string]string{"codesage://repositories": `"name": "demo"`, "codesage://repositories/1/files": `"file_path": "lib/a.py"`} {
		var q mcp.ReadResourceRequest
		q.Params.URI = uri
		got, err := c.ReadResource(context.Background(), q)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if text, ok := got.Contents[0].(mcp.TextResourceContents); !ok || !strings.Contains(text.Text, want) || text.MIMEType != "application/json" {
			t.Errorf("%s: %+v", uri, got.Contents)
		}
	}
	for uri, want := range map[string]string{
		"codesage://repositories/99/files": "Resource or repository not found: Repository 99 not found",
		"codesage://nope":                  "Resource or repository not found: Unknown resource 'codesage://nope'",
	} {
		var q mcp.ReadResourceRequest
		q.Params.URI = uri
		if _, err := c.ReadResource(context.Background(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
}

func TestTheBridgeListsToolsWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	c := connect(t, "http://127.0.0.1:1")
	list, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	for _, name := range toolNames {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not listed: %q", name, names)
		}
	}
	text, isError := through(t, c, "list_repositories", nil)
	if want := "CodeSage backend not reachable at http://127.0.0.1:1; start it with `make start-backend`"; !isError || text != want {
		t.Errorf("got %v %q, want %q", isError, text, want)
	}
	text, isError = through(t, c, "get_file", args{"repository": "demo"})
	if want := "Invalid arguments for 'get_file': path: Field required"; !isError || text != want {
		t.Errorf("got %v %q, want %q", isError, text, want)
	}
}

// reply is one line of the bridge's stdout.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// exchange sends lines to a bridge and returns its replies by id.
func exchange(t *testing.T, url string, lines ...string) map[string]reply {
	t.Helper()
	got := command{args: []string{"bridge"}, stdin: strings.Join(lines, "\n") + "\n", env: settings{"MCP_SERVER_URL=" + url}}.run(t)
	if got.code != exitOK {
		t.Errorf("the bridge ended with code %d: %s", got.code, got.stderr)
	}
	replies := map[string]reply{}
	for line := range strings.Lines(got.stdout) {
		var r reply
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || r.Version != "2.0" || (r.Result == nil) == (r.Error == nil) {
			t.Errorf("stdout has something else than JSON-RPC: %q", line)
		}
		if _, twice := replies[string(r.ID)]; twice {
			t.Errorf("two answers for id %s", r.ID)
		}
		replies[string(r.ID)] = r
	}
	return replies
}

func TestFieldCaseB36IdsNotificationsPing(t *testing.T) {
	t.Parallel()
	got := exchange(t, "http://127.0.0.1:1",
		`{"jsonrpc":"2.0","id":"req-α","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/made_up"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_repositories","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":5,"method":"no/such"}`,
		``,
		`{not json`)
	for _, id := range []string{`"req-α"`, `9007199254740993`} {
		if string(got[id].Result) != "{}" {
			t.Errorf("ping %s: %+v", id, got[id])
		}
	}
	if e := got["5"].Error; e == nil || e.Code != -32601 {
		t.Errorf("unknown method: %+v", got["5"])
	}
	if broken, answered := got["null"]; answered && (broken.Error == nil || broken.Error.Code != -32700) {
		t.Errorf("broken line: %+v", broken)
	}
	if delete(got, "null"); len(got) != 3 {
		t.Errorf("%d answers: %v", len(got), got)
	}
}

func TestFieldCaseB38ToolErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.index(demoFolder(t), "demo")
	got := exchange(t, s.url,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_file","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_file","arguments":{"path":7}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"show_session","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"search_code","arguments":{"query":"greet"}}}`)
	var hello struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(got["0"].Result, &hello); err != nil || hello.ProtocolVersion != "2025-06-18" {
		t.Errorf("initialize: %s", got["0"].Result)
	}
	checkSchemas(t, got["1"].Result)
	for id, want := range map[string]string{
		"2": "Invalid arguments for 'get_file': repository: Field required; path: Field required",
		"3": "Invalid arguments for 'get_file': repository: Field required; path: Input should be a valid string",
		"4": "Unknown tool 'nope'. Available tools: list_repositories, search_code, get_file",
		"5": "Unknown tool 'show_session'. Available tools: list_repositories, search_code, get_file",
	} {
		var r struct {
			IsError bool `json:"isError"`
			Content []struct{ Type, Text string }
		}
		if err := json.Unmarshal(got[id].Result, &r); err != nil || !r.IsError || len(r.Content) != 1 || !strings.HasPrefix(r.Content[0].Text, want) {
			t.Errorf("id %s: %s %+v, want %s", id, got[id].Result, got[id].Error, want)
		}
	}
	if text := string(got["6"].Result); !strings.Contains(text, "Greet") || strings.Contains(text, `"isError":true`) {
		t.Errorf("search_code: %s", text)
	}
}

func checkSchemas(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var list struct {
		Tools []struct {
			Name         string
			InputSchema  map[string]any `json:"inputSchema"`
			OutputSchema map[string]any `json:"outputSchema"`
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil || len(list.Tools) < len(toolNames) {
		t.Fatalf("tools/list: %v %s", err, raw)
	}
	for _, tool := range list.Tools {
		if _, ok := tool.InputSchema["properties"].(map[string]any); !ok || tool.InputSchema["type"] != "object" {
			t.Errorf("%s has the schema %v", tool.Name, tool.InputSchema)
		}
		if tool.OutputSchema != nil && len(tool.OutputSchema) == 0 {
			t.Errorf("%s has an empty outputSchema", tool.Name)
		}
	}
}
