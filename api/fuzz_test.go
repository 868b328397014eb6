package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"codesage/tools"
)

// Whatever body a tool call has, the answer is JSON and no 5xx, and what is
// accepted was an object with a tool's name.
func FuzzToolCall(f *testing.F) {
	for _, seed := range []string{
		`{"tool_name":"search_code","arguments":{"query":"x","limit":"10"}}`, `{"tool_name":"list_repositories"}`, `{}`, `[]`, `{not json`, ``,
		`{"tool_name":"search_code","arguments":{"query":"\ud800","limit":1e999}}`, `{"tool_name":"x","tool_name":"list_repositories"}`,
		`{"tool_name":"search_code","arguments":[[[[]]]]}`, "\xff\xfe{}", `{"tool_name":null}`,
	} {
		f.Add([]byte(seed))
	}
	set := testTools()
	set.Tools = set.Tools[:2]
	gin.SetMode(gin.ReleaseMode)
	routes := New(Deps{Toolsets: []tools.Set{set}, Now: time.Now})
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/ai/mcp/tools/call", bytes.NewReader(body))
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, r)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered with %d %s", body, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && !json.Valid(body) {
			t.Errorf("%q was accepted", body)
		}
	})
}
