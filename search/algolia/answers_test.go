package algolia

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"codesage"
	"codesage/search/algolia/algoliatest"
)

// A proxy answers some requests in the place of the service.
type proxy struct {
	service http.RoundTripper
	answer  atomic.Pointer[func(r *http.Request) *http.Response]
}

func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if answer := p.answer.Load(); answer != nil {
		if res := (*answer)(r); res != nil {
			return res, nil
		}
	}
	return p.service.RoundTrip(r)
}

// answers has what ends in a route answered with a body.
func (p *proxy) answers(method, route string, status int, body func() io.Reader) {
	answer := func(r *http.Request) *http.Response {
		if r.Method != method || !strings.Contains(r.URL.Path, "/"+route) {
			return nil
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body())}
	}
	p.answer.Store(&answer)
}

func text(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }

// openBehind returns an engine that has repository 1 and asks through a proxy.
func openBehind(t *testing.T) (*Engine, *proxy) {
	t.Helper()
	s := algoliatest.New(t, algoliatest.Options{})
	p := &proxy{service: s.Client().Transport}
	e := openAt(t, s, Config{HTTP: &http.Client{Transport: p}})
	index(t, e, 1, 1, tree{"a.go": {"load"}})
	return e, p
}

func wantUnavailable(t *testing.T, err error, detail string) {
	t.Helper()
	if !errors.Is(err, codesage.ErrUnavailable) || err.Error() != "Search is unavailable; try again later." {
		t.Errorf("got %v, want that search is unavailable", err)
		return
	}
	if cause := errors.Unwrap(err); cause == nil || !strings.Contains(cause.Error(), detail) {
		t.Errorf("the cause is %v, want %q in it", cause, detail)
	}
}

func TestAnAnswerWithoutItsFieldsIsAnError(t *testing.T) {
	t.Parallel()
	search := func(t *testing.T, e *Engine) error { return second(e.Search(t.Context(), load)) }
	suggest := func(t *testing.T, e *Engine) error { return second(e.Suggest(t.Context(), "load", load.Scope, 5)) }
	languages := func(t *testing.T, e *Engine) error { return second(e.Languages(t.Context(), load.Scope)) }
	ping := func(t *testing.T, e *Engine) error { return e.Ping(t.Context()) }
	retain := func(t *testing.T, e *Engine) error { return e.Retain(t.Context(), keeping(nil)) }
	begin := func(t *testing.T, e *Engine) error {
		return second(e.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2}))
	}
	full := func(t *testing.T, e *Engine) error {
		w, err := e.Begin(t.Context(), codesage.Repository{ID: 1}, 0, codesage.Run{ID: 2})
		if err != nil {
			return err
		}
		defer w.Abort()
		if err := w.Put(t.Context(), "a.go", 0, recordsOf(1, 2, "a.go", []string{"load"})); err != nil {
			return err
		}
		return w.Commit(t.Context())
	}
	settle := func(t *testing.T, e *Engine) error {
		e.isSet = false
		return begin(t, e)
	}
	for _, tc := range []struct {
		name, method, route string
		ask                 func(t *testing.T, e *Engine) error
		bodies              []string
		detail              string // in the log, for an empty object
	}{
		{"search", "POST", "query", search, []string{`{"hits":[],"nbHits":null}`, `{"nbHits":1}`, `{"hits":null,"nbHits":1}`, `{"hits":[]}`, `{"hits":[{}],"nbHits":1}`, `{"hits":[null],"nbHits":1}`}, "no hits"},
		{"suggest", "POST", "query", suggest, []string{`{"hits":[{}],"nbHits":1}`}, "no hits"},
		{"languages", "POST", "query", languages, nil, "no hits"},
		{"ping", "POST", "query", ping, nil, "no hits"},
		{"retain", "POST", "browse", retain, []string{`{"hits":[{"repository_id":7}]}`, `{"cursor":"x"}`}, "no hits"},
		{"begin", "POST", "query", begin, nil, "no hits"},
		{"begin's first batch", "POST", "batch", begin, []string{`{"objectIDs":["a"]}`}, "no taskID"},
		{"a task", "GET", "task", begin, []string{`{"pendingTask":false}`}, "no status"},
		{"settings", "PUT", "settings", settle, nil, "no taskID"},
		{"a batch", "POST", "batch", full, []string{`{"taskID":0}`}, "no taskID"},
		{"what is left", "POST", "browse", full, []string{`{"hits":[{}]}`}, "no hits"},
	} {
		for _, body := range append(tc.bodies, `{}`, `null`, `[]`, `"hits"`, ``) {
			t.Run(tc.name+" "+body, func(t *testing.T) {
				t.Parallel()
				e, p := openBehind(t)
				if tc.route == "settings" {
					e.c.IndexName += "2" // has none yet
					e.index = e.client.InitIndex(e.c.IndexName)
				}
				p.answers(tc.method, tc.route, http.StatusOK, text(body))
				detail := ""
				switch {
				case body == "{}":
					detail = tc.detail
				case strings.Contains(body, `"hits":[{`):
					detail = "has no objectID"
				}
				wantUnavailable(t, tc.ask(t, e), detail)
			})
		}
	}
}

// The service says in the body too that there is no such index.
func TestNotFoundBySomebodyElseIsNoEmptyIndex(t *testing.T) {
	t.Parallel()
	e, p := openBehind(t)
	for _, body := range []string{"<html>", "{}", `{"error":"no route"}`} {
		p.answers("POST", "query", http.StatusNotFound, text(body))
		wantUnavailable(t, second(e.Search(t.Context(), load)), "answered 404")
	}
	p.answers("POST", "query", http.StatusNotFound, text(`{"message":"Index entities does not exist","status":404}`))
	if r, err := e.Search(t.Context(), load); err != nil || r.TotalHits != 0 {
		t.Errorf("got %d hits, %v, want none", r.TotalHits, err)
	}
}

// endless is an answer without an end that counts what is read of it.
type endless struct{ read *atomic.Int64 }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestAnEndlessAnswerIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		route string
		most  int64
		tries int64
		ask   func(e *Engine) error
	}{
		{"query", maxAnswerBytes, triesOfSearch, func(e *Engine) error { return second(e.Search(t.Context(), load)) }},
		{"browse", maxBrowseBytes, triesOfWrite, func(e *Engine) error { return e.Retain(t.Context(), keeping(nil)) }},
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			e, p := openBehind(t)
			var read atomic.Int64
			p.answers("POST", tc.route, status, func() io.Reader { return endless{&read} })
			wantUnavailable(t, tc.ask(e), "is longer than")
			if n := read.Load(); n < tc.most || n > tc.tries*(tc.most+1) {
				t.Errorf("%s: %d bytes were read, want %d at most in each of %d tries", tc.route, n, tc.most, tc.tries)
			}
		}
	}
}

func TestACompressedAnswerIsBoundedAsItIsRead(t *testing.T) {
	t.Parallel()
	var answer bytes.Buffer // a few kilobytes
	z := gzip.NewWriter(&answer)
	_, _ = io.Copy(z, io.LimitReader(endless{new(atomic.Int64)}, 8*maxAnswerBytes))
	_, _ = io.WriteString(z, `{"hits":[],"nbHits":0}`)
	_ = z.Close()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s accepts %q", r.URL.Path, r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(answer.Bytes())
	}))
	t.Cleanup(s.Close)
	c := Config{AppID: "APP", AdminKey: "key", IndexName: "entities", Sleep: noSleep, HTTP: s.Client(), Hosts: []string{s.Listener.Addr().String()}}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	wantUnavailable(t, second(e.Search(t.Context(), load)), "is longer than")
}

func TestTheLargestPagesFit(t *testing.T) {
	t.Parallel()
	page := func(n int) func() io.Reader {
		hit := `{"objectID":"1-x-0","repository_id":1,"content":"` + strings.Repeat("x", maxRecordBytes-60) + `"},`
		return text(`{"nbHits":1,"hits":[` + strings.TrimSuffix(strings.Repeat(hit, n), ",") + `]}`)
	}
	e, p := openBehind(t)
	p.answers("POST", "browse", http.StatusOK, page(maxBatch))
	n := 0
	if err := e.browse(t.Context(), "", func(stored) { n++ }); err != nil || n != maxBatch {
		t.Errorf("browsed %d, %v, want %d", n, err, maxBatch)
	}
	p.answers("POST", "query", http.StatusOK, page(50))
	q := load
	q.Limit = 50
	if r, err := e.Search(t.Context(), q); err != nil || len(r.Hits) != 50 {
		t.Errorf("found %d, %v, want 50", len(r.Hits), err)
	}
}

// A key that is refused stays so: who writes is told, and not to try again.
func TestARefusedKeyEndsTheWriter(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for _, route := range []string{"settings", "query", "batch", "task", "browse"} {
			e, s := openFake(t, Config{HoldBytes: 1})
			index(t, e, 1, 1, tree{"a.go": {"load"}})
			e.isSet = route != "settings"
			base := codesage.RunID(1)
			if route == "browse" {
				base = 0
			}
			s.Fail(route, 1000, status, 0)
			w, err := e.Begin(t.Context(), codesage.Repository{ID: 1}, base, codesage.Run{ID: 2})
			if err == nil {
				err = w.Commit(t.Context())
				w.Abort()
			}
			if !errors.Is(err, codesage.ErrDenied) || !strings.Contains(err.Error(), "ALGOLIA_ADMIN_API_KEY") {
				t.Errorf("%d to %s: got %v, want KindDenied with the name of the setting", status, route, err)
			}
		}
	}
}

func TestARefusedKeyEndsPutAndCommit(t *testing.T) {
	t.Parallel()
	e, s := openFake(t, Config{HoldBytes: 1})
	w := begin(t, e, 1, 0, 1)
	s.Fail("batch", 1000, http.StatusForbidden, 0)
	var err error
	for i := 0; err == nil && i < 2*maxBatch; i++ {
		path := fmt.Sprintf("a%d.go", i)
		err = w.Put(t.Context(), path, 0, recordsOf(1, 1, path, []string{"load"}))
	}
	for name, err := range map[string]error{"put": err, "commit": w.Commit(t.Context())} {
		if !errors.Is(err, codesage.ErrDenied) {
			t.Errorf("%s: got %v, want KindDenied", name, err)
		}
	}
}

func TestAPageThatForbidsIsNoWordOfTheService(t *testing.T) {
	t.Parallel()
	e, p := openBehind(t)
	p.answers("POST", "batch", http.StatusForbidden, text("<html>"))
	wantUnavailable(t, second(e.Begin(t.Context(), codesage.Repository{ID: 1}, 1, codesage.Run{ID: 2})), "answered 403")
}

func TestProbeAsksAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := algoliatest.New(t, algoliatest.Options{})
	p := &proxy{service: s.Client().Transport}
	c := Config{AppID: algoliatest.AppID, AdminKey: algoliatest.AdminKey, IndexName: "entities", Hosts: []string{s.Host()}, HTTP: &http.Client{Transport: p}, Sleep: noSleep}
	if err := Probe(t.Context(), c); err != nil {
		t.Errorf("an index that does not exist yet: %v", err)
	}
	index(t, openAt(t, s, Config{}), 1, 1, tree{"a.go": {"load"}})
	s.SetSettings("entities", map[string]any{})
	s.Requests()
	if err := Probe(t.Context(), c); err != nil {
		t.Errorf("an index with other settings: %v", err)
	}
	if got := routes(s); got != "GET settings query" {
		t.Errorf("asked %q, want what changes nothing", got)
	}
	wrong := c
	wrong.AdminKey = "wrong"
	if err := Probe(t.Context(), wrong); !errors.Is(err, codesage.ErrDenied) {
		t.Errorf("a wrong key: got %v, want KindDenied", err)
	}
	p.answers("POST", "query", http.StatusOK, text("{}"))
	wantUnavailable(t, Probe(t.Context(), c), "has no hits")
	s.Fail("", 100, http.StatusServiceUnavailable, 0)
	wantUnavailable(t, Probe(t.Context(), c), "answered 503")
	wrong.IndexName = "a/b"
	if err := Probe(t.Context(), wrong); !errors.Is(err, codesage.ErrInvalid) {
		t.Errorf("an odd name: got %v, want KindInvalid", err)
	}
}
