package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each way in which a tool call can end has the status and body of the
// contract.
func TestToolCallAnswers(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for _, tc := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"success", `{"tool_name":"list_repositories"}`, 200, `{"tool":"list_repositories","result":{"repositories":[]},"is_error":false,"error":null}`},
		{"empty arguments", `{"tool_name":"list_repositories","arguments":{}}`, 200, `{"tool":"list_repositories","result":{"repositories":[]},"is_error":false,"error":null}`},
		{"defaults and lax numbers", `{"tool_name":"search_code","arguments":{"query":"a<b","limit":"7"}}`, 200,
			`{"tool":"search_code","result":{"limit":7,"query":"a<b"},"is_error":false,"error":null}`},
		{"refused", `{"tool_name":"refuse"}`, 200, `{"tool":"refuse","result":null,"is_error":true,"error":"Repository 'nope' not found. Available repositories: octo/demo"}`},
		{"kind with a message", `{"tool_name":"gone"}`, 200, `{"tool":"gone","result":null,"is_error":true,"error":"File 'x' not found in octo/demo."}`},
		{"part away", `{"tool_name":"away"}`, 200, `{"tool":"away","result":null,"is_error":true,"error":"Search is unavailable; try again later."}`},
		{"unknown tool", `{"tool_name":"x"}`, 404, `{"detail":"Unknown tool 'x'"}`},
		{"unknown tool before its arguments", `{"tool_name":"x","arguments":{"y":1}}`, 404, `{"detail":"Unknown tool 'x'"}`},
		{"session tool in the default set", `{"tool_name":"get_config"}`, 404, `{"detail":"Unknown tool 'get_config'"}`},

		{"limit of 500", `{"tool_name":"search_code","arguments":{"query":"parse","limit":500}}`, 422,
			`{"detail":[{"type":"less_than_equal","loc":["limit"],"msg":"Input should be less than or equal to 50","input":500}]}`},
		{"missing argument", `{"tool_name":"search_code","arguments":{"limit":1}}`, 422,
			`{"detail":[{"type":"missing","loc":["query"],"msg":"Field required","input":{"limit":1}}]}`},
		{"all faults at once", `{"tool_name":"search_code","arguments":{"z":1,"limit":0}}`, 422,
			`{"detail":[{"type":"missing","loc":["query"],"msg":"Field required","input":{"z":1,"limit":0}},` +
				`{"type":"greater_than_equal","loc":["limit"],"msg":"Input should be greater than or equal to 1","input":0},` +
				`{"type":"extra_forbidden","loc":["z"],"msg":"Extra inputs are not permitted","input":1}]}`},

		{"no tool_name", `{"arguments":{}}`, 422, `{"detail":[{"type":"missing","loc":["body","tool_name"],"msg":"Field required","input":{"arguments":{}}}]}`},
		{"tool_name no string", `{"tool_name":7}`, 422, `{"detail":[{"type":"string_type","loc":["body","tool_name"],"msg":"Input should be a valid string","input":7}]}`},
		{"arguments no object", `{"tool_name":"x","arguments":[1]}`, 422, `{"detail":[{"type":"dict_type","loc":["body","arguments"],"msg":"Input should be a valid dictionary","input":[1]}]}`},
		{"both bad", `{"arguments":null}`, 422, `{"detail":[{"type":"missing","loc":["body","tool_name"],"msg":"Field required","input":{"arguments":null}},` +
			`{"type":"dict_type","loc":["body","arguments"],"msg":"Input should be a valid dictionary","input":null}]}`},
		{"no body", ``, 422, `{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":null}]}`},
		{"no JSON", `{not json`, 422, `{"detail":[{"type":"json_invalid","loc":["body",1],"msg":"JSON decode error","input":{}}]}`},
		{"no object", `[1]`, 422, `{"detail":[{"type":"model_attributes_type","loc":["body"],"msg":"Input should be a valid dictionary or object to extract fields from","input":[1]}]}`},
		{"too deep", `{"tool_name":"list_repositories","arguments":{"a":` + deep + `}}`, 422, `{"detail":[{"type":"json_invalid","loc":["body",0],"msg":"JSON decode error","input":{}}]}`},
		{"too large", `{"tool_name":"` + strings.Repeat("x", maxBody) + `"}`, 413, `{"detail":"The body is too large; the limit is 1048576 bytes"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := e.call(tc.body)
			if got.status != tc.status || got.body != tc.want {
				t.Errorf("got %d %s\nwant %d %s", got.status, got.body, tc.status, tc.want)
			}
		})
	}
}

// An unexpected failure shows its request id and nothing of its text; the log
// has both.
func TestUnexpectedFailuresAre500(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, tool := range []string{"boom", "panic"} {
		id := "id-of." + tool
		got := e.call(`{"tool_name":"`+tool+`"}`, "X-Request-ID", id)
		e.expect(tool, got, 500, `{"detail":"Internal server error","request_id":"`+id+`"}`)
		if got.header.Get("X-Request-ID") != id {
			t.Errorf("%s: X-Request-ID %q", tool, got.header.Get("X-Request-ID"))
		}
		if log := e.log.String(); !strings.Contains(log, id) || !strings.Contains(log, "secret of the st") {
			t.Errorf("%s: the log has no request id and cause:\n%s", tool, log)
		}
	}
}

func TestRequestIDsAreBounded(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, bad := range []string{"", "a b", strings.Repeat("x", 65), "x\"y", "ü"} {
		got := e.ask("GET", "/healthz", "", "X-Request-ID", bad).header.Get("X-Request-ID")
		if got == bad || !goodRequestID.MatchString(got) {
			t.Errorf("request id %q is answered with %q", bad, got)
		}
	}
}

func TestToolsets(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	type listing struct {
		Tools []struct {
			Name        string
			InputSchema map[string]any
		}
		Count int
	}
	names := func(query string) (names []string) {
		list := decode[listing](t, e.ask("GET", "/api/v1/ai/mcp/tools"+query, ""))
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.InputSchema["type"] != "object" || tool.InputSchema["properties"] == nil || tool.InputSchema["additionalProperties"] != false {
				t.Errorf("schema of %s: %v", tool.Name, tool.InputSchema)
			}
		}
		if list.Count != len(names) {
			t.Errorf("count %d of %v", list.Count, names)
		}
		return names
	}
	repositories := []string{"list_repositories", "search_code", "add_repository", "refuse", "gone", "away", "boom", "panic", "slow"}
	all := append(append([]string{}, repositories...), "search_chunks", "get_config")
	for query, want := range map[string][]string{
		"": repositories, "?toolset=repositories": repositories, "?toolset=sessions": {"search_code", "get_config"}, "?toolset=all": all,
	} {
		if diff := cmp.Diff(want, names(query)); diff != "" {
			t.Errorf("tools%s (-want +got):\n%s", query, diff)
		}
		got := decode[struct{ Tools []string }](t, e.ask("GET", "/api/v1/ai/mcp/capabilities"+query, ""))
		if diff := cmp.Diff(want, got.Tools); diff != "" {
			t.Errorf("capabilities%s (-want +got):\n%s", query, diff)
		}
	}
	e.expect("bad toolset", e.ask("GET", "/api/v1/ai/mcp/tools?toolset=x", ""), 422,
		`{"detail":[{"type":"literal_error","loc":["query","toolset"],"msg":"Input should be 'repositories', 'sessions' or 'all'","input":"x"}]}`)
}

func TestSessionToolsAnswerInTheEnvelope(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, tc := range []struct{ set, body, want string }{
		{"sessions", `{"tool_name":"search_code","arguments":{"query":"x"}}`, `{"tool":"search_code","result":{"text":"Found 0 results for 'x'"},"is_error":false,"error":null}`},
		{"all", `{"tool_name":"search_chunks","arguments":{"query":"x"}}`, `{"tool":"search_chunks","result":{"text":"Found 0 results for 'x'"},"is_error":false,"error":null}`},
		{"all", `{"tool_name":"search_code","arguments":{"query":"x"}}`, `{"tool":"search_code","result":{"limit":10,"query":"x"},"is_error":false,"error":null}`},
		{"sessions", `{"tool_name":"search_code","arguments":{"query":""}}`, `{"tool":"search_code","result":null,"is_error":true,"error":"Query cannot be empty","code":-32602}`},
		{"sessions", `{"tool_name":"search_code"}`, "{\"tool\":\"search_code\",\"result\":null,\"is_error\":true,\"error\":\"missing field `query`\",\"code\":-32602}"},
		{"sessions", `{"tool_name":"search_code","arguments":{"query":"x","k":"ten"}}`,
			`{"tool":"search_code","result":null,"is_error":true,"error":"Invalid params: k: Input should be a valid integer, unable to parse string as an integer","code":-32602}`},
		{"sessions", `{"tool_name":"show_shebe_config"}`, `{"tool":"show_shebe_config","result":{"text":"# CodeSage"},"is_error":false,"error":null}`},
	} {
		got := e.ask("POST", "/api/v1/ai/mcp/tools/call?toolset="+tc.set, tc.body)
		e.expect(tc.set+" "+tc.body, got, 200, tc.want)
	}
	e.expect("unknown", e.ask("POST", "/api/v1/ai/mcp/tools/call?toolset=sessions", `{"tool_name":"slow"}`), 404, `{"detail":"Unknown tool 'slow'"}`)
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.Name, d.Version, d.Toolsets = "mine", "2.1", d.Toolsets[1:] })
	e.expect("capabilities", e.ask("GET", "/api/v1/ai/mcp/capabilities?toolset=sessions", ""), 200,
		`{"capabilities":{"prompts":false,"resources":true,"tools":true},"name":"mine","tools":["search_code","get_config"],"version":"2.1"}`)
}

func TestStreamedCall(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	for _, tc := range []struct{ name, body, want string }{
		{"progress", `{"tool_name":"slow"}`, "event: progress\ndata: {\"progress\":1,\"total\":2,\"message\":\"half\"}\n\n" +
			"event: progress\ndata: {\"progress\":2,\"total\":null,\"message\":\"all\"}\n\n" +
			"event: result\ndata: {\"tool\":\"slow\",\"result\":{\"done\":true},\"is_error\":false,\"error\":null}\n"},
		{"refused", `{"tool_name":"refuse"}`, "event: result\ndata: {\"tool\":\"refuse\",\"result\":null,\"is_error\":true,\"error\":\"Repository 'nope' not found. Available repositories: octo/demo\"}\n"},
		{"boom", `{"tool_name":"boom"}`, "event: error\ndata: {\"detail\":\"Internal server error\",\"request_id\":\"r1\",\"status\":500}\n"},
		{"panic", `{"tool_name":"panic"}`, "event: error\ndata: {\"detail\":\"Internal server error\",\"request_id\":\"r1\",\"status\":500}\n"},
	} {
		got := e.call(tc.body, "Accept", "text/event-stream", "X-Request-ID", "r1")
		e.expect(tc.name, got, 200, tc.want)
		if got.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: Content-Type %q", tc.name, got.header.Get("Content-Type"))
		}
	}
	e.expect("faults come before the stream", e.call(`{"tool_name":"x"}`, "Accept", "text/event-stream"), 404, `{"detail":"Unknown tool 'x'"}`)
}

func TestUnknownRoutesAreJSON(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.expect("404", e.ask("GET", "/api/v1/nothing", ""), 404, `{"detail":"Not Found"}`)
	e.expect("404 outside the API", e.ask("GET", "/nothing", ""), 404, `{"detail":"Not Found"}`)
	got := e.ask("DELETE", "/api/v1/ai/mcp/tools/call", "")
	e.expect("405", got, 405, `{"detail":"Method Not Allowed"}`)
	if got.header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", got.header.Get("Allow"))
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`{}`: 1, `1`: 0, `[[],[[]]]`: 3, `{"a[[[":"[{\"["}`: 1, `["\\",[]]`: 2} {
		if got := depth([]byte(text)); got != want {
			t.Errorf("depth(%s) = %d, want %d", text, got, want)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	repo := e.addRepository("octo/demo")
	read := func(uri string) reply { return e.ask("GET", "/api/v1/ai/mcp/resources/read?uri="+uri, "") }
	e.expect("list", e.ask("GET", "/api/v1/ai/mcp/resources", ""), 200,
		`{"count":1,"resources":[{"description":"Indexed repositories and their status","mimeType":"application/json","name":"Repositories","uri":"codesage://repositories"}]}`)
	e.expect("files", read(fmt.Sprintf("codesage://repositories/%d/files", repo.ID)), 200,
		`{"uri":"codesage://repositories/1/files","mimeType":"application/json","content":{"repository":"octo/demo","total_files":2,"truncated":false,`+
			`"files":[{"file_path":"README.md","language":"text","line_count":2},{"file_path":"src/main.go","language":"text","line_count":2}]}}`)
	got := decode[struct {
		Content struct{ Repositories []map[string]any }
	}](t, read("codesage://repositories"))
	if len(got.Content.Repositories) != 1 || got.Content.Repositories[0]["name"] != "octo/demo" || len(got.Content.Repositories[0]) != 10 {
		t.Errorf("repositories: %v", got.Content)
	}
	e.expect("missing uri", e.ask("GET", "/api/v1/ai/mcp/resources/read", ""), 422,
		`{"detail":[{"type":"missing","loc":["query","uri"],"msg":"Field required","input":null}]}`)
	for uri, detail := range map[string]string{
		"codesage://repositories/99/files":                   "Repository 99 not found",
		"codesage://repositories/9223372036854775808/files":  "Repository 9223372036854775808 not found",
		"codesage://repositories/12345678901234567890/files": "Unknown resource 'codesage://repositories/12345678901234567890/files'",
		"codesage://repositories/octo/files":                 "Unknown resource 'codesage://repositories/octo/files'",
		"codesage://repositories/1/files/":                   "Unknown resource 'codesage://repositories/1/files/'",
		"x":                                                  "Unknown resource 'x'",
	} {
		e.expect(uri, read(uri), 404, `{"detail":"`+detail+`"}`)
	}
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	repo := e.addRepository("octo/demo")
	e.engine.names = []string{"RepositoryService", "repository_status", "Repository"}
	ask := func(query string) reply { return e.ask("GET", "/api/v1/ai/search/suggestions"+query, "") }
	e.expect("all", ask("?query=repo"), 200, `{"suggestions":["RepositoryService","repository_status","Repository"]}`)
	e.expect("limit", ask("?query=repo&limit=2"), 200, `{"suggestions":["RepositoryService","repository_status"]}`)
	e.expect("one repository", ask(fmt.Sprintf("?query=repo&limit=1&repository_id=%d", repo.ID)), 200, `{"suggestions":["RepositoryService"]}`)
	e.expect("unknown repository", ask("?query=repo&repository_id=99"), 200, `{"suggestions":[]}`)
	e.expect("one character", ask("?query=+r+"), 200, `{"suggestions":[]}`)
	e.expect("no query", ask(""), 422, `{"detail":[{"type":"missing","loc":["query","query"],"msg":"Field required","input":null}]}`)
	e.expect("limit 0", ask("?query=re&limit=0"), 422,
		`{"detail":[{"type":"greater_than_equal","loc":["query","limit"],"msg":"Input should be greater than or equal to 1","input":"0"}]}`)
	e.expect("limit 21", ask("?query=re&limit=21"), 422,
		`{"detail":[{"type":"less_than_equal","loc":["query","limit"],"msg":"Input should be less than or equal to 20","input":"21"}]}`)
	e.engine.err = fmt.Errorf("no credentials")
	e.engine.names = nil
	e.expect("engine away", ask("?query=repo"), 200, `{"suggestions":[]}`)
}
