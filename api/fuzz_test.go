package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/catalog"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
	"codesage/tools/repositories"
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

// Whatever a browser sends in addresses, forms and cookies, pages are no 5xx and
// hold none of it as markup.
func FuzzPages(f *testing.F) {
	for _, seed := range []string{"main", `<script>"'`, "\xff\x00", "1", "-1", "99999999999999999999", "//evil.test", "%", "javascript:x", "octo/demo", "a&b=c;d"} {
		f.Add(seed)
	}
	store := sqlitetest.Open(f)
	repo := codesage.Repository{Name: "octo/demo", Session: "octo-demo", Source: codesage.SourceGit, URL: "https://github.com/octo/demo"}
	if _, _, err := store.CreateRepository(f.Context(), repo); err != nil {
		f.Fatal(err)
	}
	c := catalog.New(catalog.Options{Store: store, Queue: quietQueue{}, CheckRoot: checkRoot, Hosts: fewHosts{}})
	engine := &hitEngine{}
	open := New(Deps{Store: store, Catalog: c, Engine: engine, Folders: true, Toolsets: []tools.Set{repositories.New(repositories.Deps{Catalog: c, Store: store, Engine: engine})}})
	locked := New(Deps{Store: store, Catalog: c, Access: Access{Key: "k"}})
	login := newSessions(Access{Key: "k"}, time.Now).cookie()
	f.Fuzz(func(t *testing.T, text string) {
		q := url.QueryEscape(text)
		for _, path := range []string{"/?filter=" + q + "&page=" + q, "/search?q=" + q + "&repository=" + q + "&language=" + q + "&type=" + q + "&page=" + q, "/repositories/1?after=" + q, "/repositories/" + url.PathEscape(text), "/login?to=" + q} {
			for _, routes := range []http.Handler{open, locked} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
				r.AddCookie(&http.Cookie{Name: login, Value: text})
				askPage(t, routes, r)
			}
		}
		for _, path := range []string{"/login", "/repositories", "/folders"} {
			form := url.Values{"token": {"0123456789abcdef"}, "url": {"x" + text}, "branch": {text}, "path": {"relative"}, "session": {text}, "key": {text}, "to": {text}}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", "http://localhost")
			r.AddCookie(&http.Cookie{Name: formCookie, Value: "0123456789abcdef"})
			askPage(t, open, r)
		}
	})
}

// askPage fails the test when a browser's request ends badly.
func askPage(t *testing.T, routes http.Handler, r *http.Request) {
	t.Helper()
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, r)
	if w.Code >= 500 || strings.Contains(w.Body.String(), "<script>") || strings.Contains(w.Body.String(), "ZgotmplZ") {
		t.Fatalf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
	}
	if to := w.Header().Get("Location"); to != "" && (to[0] != '/' || strings.HasPrefix(to, "//")) {
		t.Fatalf("%s %s leads to %s", r.Method, r.URL, to)
	}
}
