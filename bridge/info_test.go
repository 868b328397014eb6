package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"codesage"
	"codesage/api"
	"codesage/catalog"
	"codesage/mcp"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
	"codesage/tools/sessions"
)

// noQueue takes runs that nobody works on.
type noQueue struct{}

func (noQueue) Enqueue(context.Context, codesage.Run) error  { return nil }
func (noQueue) Cancel(context.Context, codesage.RunID) error { return nil }

// newSessionsAPI is a whole API with the session tools over an empty store.
func newSessionsAPI(t *testing.T) string {
	t.Helper()
	s := sqlitetest.Open(t)
	c := catalog.New(catalog.Options{Store: s, Queue: noQueue{}})
	server := httptest.NewServer(api.New(api.Deps{Store: s, Catalog: c, Name: "house", Version: "7.8.9", Toolsets: []tools.Set{
		{Name: mcp.ToolsetRepositories}, sessions.New(sessions.Deps{Catalog: c, Store: s, Name: "house", Version: "7.8.9", Protocol: mcp.LatestProtocol}),
	}}))
	t.Cleanup(server.Close)
	return server.URL
}

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
}

// The handshake ended with 2025-11-25: newer versions name themselves in each
// request.
func TestServerInfoNamesTheProtocolOfItsClient(t *testing.T) {
	t.Parallel()
	url := newSessionsAPI(t)
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-06-18": "2025-06-18", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25"} {
		for _, set := range []string{mcp.ToolsetSessions, mcp.ToolsetAll} {
			var out, log bytes.Buffer
			c := Config{ServerURL: url, Toolset: set, Sessions: sessions.Specs(), Name: "house", Version: "7.8.9"}
			if err := Run(t.Context(), c, strings.NewReader(hello(asked)+"\n"+toolCall("get_server_info", "{}")+"\n"), &out, &log); err != nil {
				t.Fatal(err)
			}
			search := "search_code"
			if set == mcp.ToolsetAll {
				search = "search_chunks"
			}
			got := out.String()
			for _, part := range []string{`"protocolVersion":"` + want + `"`, `"serverInfo":{"name":"house","version":"7.8.9"}`, `- **Version:** 7.8.9\n`,
				`- **Name:** house\n`, `- **Protocol:** MCP ` + want + `\n`, `\n- ` + search + `: Search`} {
				if !strings.Contains(got, part) {
					t.Errorf("%s in %s: no %s in %s", asked, set, part, got)
				}
			}
		}
	}
}

func TestServerInfoNamesTheProtocolOverHTTP(t *testing.T) {
	t.Parallel()
	url := newSessionsAPI(t)
	modern := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, tc := range []struct {
		path, body, version string
		more                []string
		want                string
	}{
		{"/mcp?toolset=sessions", toolCall("get_server_info", "{}"), "2025-06-18", nil, "2025-06-18"},
		{"/mcp?toolset=sessions", toolCall("get_server_info", "{}"), "", nil, "2025-03-26"}, // what a client without the header speaks
		{"/mcp?toolset=sessions", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_server_info",` + modern + `}}`, "2026-07-28",
			[]string{"Mcp-Method", "tools/call", "Mcp-Name", "get_server_info"}, "2026-07-28"},
		{"/api/v1/ai/mcp/tools/call?toolset=sessions", `{"tool_name":"get_server_info"}`, "", nil, mcp.LatestProtocol},
		{"/api/v1/ai/mcp/tools/call?toolset=sessions", `{"tool_name":"get_server_info"}`, "2024-11-05", nil, "2024-11-05"},
		{"/api/v1/ai/mcp/tools/call?toolset=sessions", `{"tool_name":"get_server_info"}`, "# none", nil, mcp.LatestProtocol},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if tc.version != "" {
			r.Header.Set("MCP-Protocol-Version", tc.version)
		}
		for i := 0; i < len(tc.more); i += 2 {
			r.Header.Set(tc.more[i], tc.more[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !json.Valid(body) || !strings.Contains(string(body), `- **Protocol:** MCP `+tc.want+`\n`) {
			t.Errorf("%s with %q: got %s %v, want %s", tc.path, tc.version, body, err, tc.want)
		}
	}
}

func TestDescriptionsNameTheToolsOfTheirSet(t *testing.T) {
	t.Parallel()
	f, err := newForwarder(Config{ServerURL: DefaultURL, Toolset: mcp.ToolsetAll, Sessions: sessions.Specs()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.client.Close()
	for _, s := range f.Tools() {
		if strings.Contains(s.Name+s.Description, "search_code") {
			t.Errorf("%s: %s", s.Name, s.Description)
		}
	}
}
