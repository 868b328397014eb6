package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// post sends a body to the Streamable HTTP door.
func post(t *testing.T, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	newTestServer(echo{}).ServeHTTP(w, r)
	return w
}

func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	const ping, pong = `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}` + "\n"
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	modern := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"zeta",` + meta + `}}`
	for _, tc := range []struct {
		name, body string
		headers    []string
		status     int
		want       string // the whole body, or a part of it
	}{
		{"request", ping, nil, 200, pong},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"not JSON", `{`, nil, 400, `"code":-32700`},
		{"no request", `{}`, nil, 400, `"code":-32600`},
		{"batch without a version", "[" + ping + "]", nil, 200, "[" + strings.TrimSpace(pong) + "]\n"},
		{"batch of a version that has none", "[" + ping + "]", []string{"Mcp-Protocol-Version", "2025-06-18"}, 200, `"code":-32600`},
		{"unknown version", ping, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, `Unsupported protocol version: 1999-01-01`},
		{"known version", ping, []string{"Mcp-Protocol-Version", "2025-06-18"}, 200, pong},
		{"form", ping, []string{"Content-Type", "text/plain"}, 415, `Content-Type must be application/json`},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, nil, 200, `"code":-32601`},
		{"modern", modern, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "zeta"}, 200, `"resultType":"complete"`},
		{"modern without the header", modern, nil, 400, `"code":-32020`},
		{"modern with another name", modern, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "alpha"}, 400, `"error"`},
		{"modern unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{` + meta + `}}`,
			[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "no/such"}, 404, `"code":-32601`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := post(t, tc.body, tc.headers...)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, tc.status, tc.want)
			}
		})
	}
}

func TestHTTPKeepsNoSessions(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		w := httptest.NewRecorder()
		newTestServer(echo{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/mcp", nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestHTTPStreamsProgress(t *testing.T) {
	t.Parallel()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"t"}}}`
	w := post(t, body, "Accept", "application/json, text/event-stream")
	if got := w.Header().Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("Content-Type %q: %s", got, w.Body)
	}
	var got []string
	for event := range strings.SplitSeq(strings.TrimSpace(w.Body.String()), "\n\n") {
		_, data, _ := strings.Cut(event, "event: message\ndata: ")
		got = append(got, data)
	}
	step := func(n string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"step","progress":` + n + `,"progressToken":"t","total":3}}`
	}
	want := []string{step("0"), step("1"), step("2"), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"progress {}"}]}}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	slow := post(t, callLine("1", "tortoise", "{}"), "Accept", "application/json, text/event-stream")
	if got := slow.Header().Get("Content-Type"); got != "text/event-stream" || !strings.Contains(slow.Body.String(), "tortoise {}") {
		t.Errorf("a slow tool: %q %s", got, slow.Body)
	}
	if plain := post(t, body); plain.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a client that takes no events got %q", plain.Header().Get("Content-Type"))
	}
}
