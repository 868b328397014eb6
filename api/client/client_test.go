package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

func newClient(t *testing.T, c Config) *Client {
	t.Helper()
	k, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// serve answers everything with one handler.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://host/a":               "http://host/a",
		"https://bob@host:8/a":        "https://host:8/a",
		"https://bob:p%40s@host/a?q":  "https://host/a?q",
		"https://bob:p@ss@host/a":     "https://host/a",
		"https://bob:p/s@host/a":      "https://host/a",
		"bob:secret@host":             "host",
		"ftp://bob:secret@host/x@y":   "ftp://host/x@y",
		"http://[::1]:8001":           "http://[::1]:8001",
		"http://bob:se#cret@host":     "http://host",
		"":                            "",
		"://bob:secret@host":          "://host",
		"http://host/path?mail=a@b.c": "http://b.c",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestURLsAndSecretsAreChecked(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		c    Config
		want error
	}{
		{"loopback with a key", Config{BaseURL: "http://127.0.0.1:8001", Key: "k"}, nil},
		{"localhost with a login", Config{BaseURL: "http://u:p@LOCALHOST"}, nil},
		{"v6 loopback", Config{BaseURL: "http://[::1]:8001", Key: "k"}, nil},
		{"https", Config{BaseURL: "https://code.example.com", Key: "k"}, nil},
		{"http without a secret", Config{BaseURL: "http://code.example.com"}, nil},
		{"http allowed", Config{BaseURL: "http://code.example.com", Key: "k", AllowInsecure: true}, nil},
		{"key", Config{BaseURL: "http://code.example.com", Key: "k"}, &InsecureError{Host: "code.example.com"}},
		{"login", Config{BaseURL: "http://code.example.com", BasicUser: "u"}, &InsecureError{Host: "code.example.com"}},
		{"login in the URL", Config{BaseURL: "http://u:p@code.example.com:80"}, &InsecureError{Host: "code.example.com:80"}},
		{"looks like loopback", Config{BaseURL: "http://127.0.0.1.evil.test", Key: "k"}, &InsecureError{Host: "127.0.0.1.evil.test"}},
		{"no scheme", Config{BaseURL: "127.0.0.1:8001"}, &URLError{URL: "127.0.0.1:8001"}},
		{"other scheme", Config{BaseURL: "file:///etc"}, &URLError{URL: "file:///etc"}},
		{"no host", Config{BaseURL: "https://:8001"}, &URLError{URL: "https://:8001"}},
		{"unreadable", Config{BaseURL: "http://u:s%zz@host"}, &URLError{URL: "http://host"}},
	} {
		_, err := New(tc.c)
		if diff := cmp.Diff(tc.want, err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// counted counts the requests of a client, whether they come through or not.
type counted struct {
	*http.Transport
	n int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	return c.Transport.RoundTrip(r)
}

// A refused connection is tried twice; an answer, whatever it is, and a time-out
// are not.
func TestRetries(t *testing.T) {
	t.Parallel()
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	release := make(chan struct{})
	silent := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) }) // first, so that the server can close
	for _, tc := range []struct {
		name  string
		c     Config
		want  any // the error's type
		tries int
	}{
		{"503", Config{BaseURL: busy}, new(*StatusError), 1},
		{"time-out", Config{BaseURL: silent, Timeout: 30 * time.Millisecond}, new(*TimeoutError), 1},
		{"refused", Config{BaseURL: "http://127.0.0.1:1"}, new(*UnreachableError), 2},
	} {
		c := newClient(t, tc.c)
		requests := &counted{Transport: c.http.Transport.(*http.Transport)}
		c.http.Transport = requests
		if _, err := c.Repository(t.Context(), 1); !errors.As(err, tc.want) || requests.n != tc.tries {
			t.Errorf("%s: %v after %d requests, want %d", tc.name, err, requests.n, tc.tries)
		}
	}
}

func TestStatusErrorsKeepWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		body   string
		want   StatusError
		is     error
	}{
		{404, `{"detail":"Repository 9 not found"}`, StatusError{Detail: "Repository 9 not found", JSON: true, RequestID: "h"}, codesage.ErrNotFound},
		{422, `{"detail":[{"msg": "x"}]}`, StatusError{Detail: `[{"msg":"x"}]`, JSON: true, RequestID: "h"}, codesage.ErrInvalid},
		{500, `{"detail":"Internal server error","request_id":"b"}`, StatusError{Detail: "Internal server error", JSON: true, RequestID: "b"}, nil},
		{502, `<html>`, StatusError{Detail: "Bad Gateway", RequestID: "h"}, nil},
		{409, `{}`, StatusError{Detail: "Conflict", JSON: true, RequestID: "h"}, codesage.ErrConflict},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-ID", "h")
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		})
		_, err := newClient(t, Config{BaseURL: url}).Repository(t.Context(), 9)
		tc.want.Status, tc.want.Path = tc.status, "/api/v1/repositories/9"
		var got *StatusError
		if !errors.As(err, &got) {
			t.Fatalf("%d: %v", tc.status, err)
		}
		if diff := cmp.Diff(tc.want, *got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", tc.status, diff)
		}
		if tc.is != nil && !errors.Is(err, tc.is) || errors.Is(err, codesage.ErrTooLarge) {
			t.Errorf("%d has the wrong kind", tc.status)
		}
	}
}

// A redirect is an answer: it must not carry the key elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/repositories" {
			t.Error("the redirect was followed")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	var status *StatusError
	if _, err := newClient(t, Config{BaseURL: url, Key: "k"}).Repositories(t.Context()); !errors.As(err, &status) || status.Status != 307 {
		t.Errorf("got %v", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	var asked []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body)))
		_, _ = io.WriteString(w, `{"id":7,"name":"n","branch":null,"processed_at":"2026-10-26T23:32:50.170474+00:00","next":"z","skipped":[{"file_path":"a","reason":"binary"}],"runs":[{"id":3,"status":"processing","seconds":null}]}`)
	})
	c := newClient(t, Config{BaseURL: url + "/"})
	ctx, zero := t.Context(), 0
	repo, err := c.AddURL(ctx, URL{URL: "https://github.com/o/r"})
	if err != nil || repo.ID != 7 || repo.ProcessedAt.UnixMicro() != 1793057570170474 {
		t.Errorf("AddURL: %+v %v", repo, err)
	}
	_, _ = c.AddFolder(ctx, Folder{Path: "/a<b", Session: "s", Overlap: &zero, Force: true})
	_, _ = c.Reprocess(ctx, 7)
	_, _ = c.Cancel(ctx, 7)
	_ = c.Remove(ctx, 7)
	if runs, err := c.Runs(ctx, 7); err != nil || len(runs) != 1 || !runs[0].Going() {
		t.Errorf("Runs: %+v %v", runs, err)
	}
	if skips, next, err := c.Skipped(ctx, 7, "x y"); err != nil || next != "z" || skips[0].Reason != codesage.SkipBinary {
		t.Errorf("Skipped: %+v %q %v", skips, next, err)
	}
	_, _ = c.Tools(ctx, "all")
	want := []string{
		`POST /api/v1/repositories {"url":"https://github.com/o/r"}`,
		`POST /api/v1/folders {"path":"/a<b","session":"s","overlap":0,"force":true}`,
		`POST /api/v1/repositories/7/reprocess`, `POST /api/v1/repositories/7/cancel`, `DELETE /api/v1/repositories/7`,
		`GET /api/v1/repositories/7/runs`, `GET /api/v1/repositories/7/skipped?after=x+y&limit=1000`, `GET /api/v1/ai/mcp/tools?toolset=all`,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/repositories/9/events" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"detail":"Repository 9 not found"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": ping\n\nevent: run\ndata: {\"id\":3,\"phase\":\"text\"}\n\nevent: repository\ndata: {\"id\":1,\r\ndata: \"name\":\"n\"}\n\n"+
			"event: other\ndata: {}\n\nevent: repository\ndata: {\"id\":2}\n\nevent: removed\ndata: {\"id\":2}\n\nevent: repository\ndata: {\"cut off")
	})
	c := newClient(t, Config{BaseURL: url, Timeout: time.Nanosecond}) // a stream has no time-out
	var got []string
	for event, err := range c.Events(t.Context(), 0) {
		phase := codesage.Phase("-")
		if event.Run != nil {
			phase = event.Run.Phase
		}
		got = append(got, fmt.Sprint(event.Repository.ID, event.Repository.Name, " ", phase, " ", event.Removed, " ", err))
	}
	if diff := cmp.Diff([]string{"1n text false <nil>", "2 - false <nil>", "2 - true <nil>"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, err := range c.Events(t.Context(), 9) {
		if !errors.Is(err, codesage.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	}
}

// A stream that falls silent is given up, since the server pings.
func TestASilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: repository\ndata: {\"id\":1}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) })
	c := newClient(t, Config{BaseURL: url})
	c.idle = 2 * time.Second // the first answer may take a while on a busy machine
	var last error
	events := 0
	for _, err := range c.Events(t.Context(), 1) {
		if last = err; err == nil {
			events++
		}
	}
	var late *TimeoutError
	if events != 1 || !errors.As(last, &late) {
		t.Errorf("%d events, then %v", events, last)
	}
}
