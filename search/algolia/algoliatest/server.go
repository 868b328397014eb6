// Package algoliatest is a fake of Algolia's search service that is strict about
// what it is asked: application and key, routes, the bodies as the service's
// OpenAPI description has them, the filter grammar, and the limits on queries,
// records and batches. Writes take effect when their task is published, which
// takes a number of polls. It answers 429 and 5xx on demand and keeps a list of
// what it was asked.
//
// Its matching is that of the local engine's model and stands in for Algolia's
// own: all words, then one typo, then some words, with the searchable
// attributes, camelCase, plurals and custom ranking that the index's settings
// say. Hits that are equal come in the order in which they were written.
package algoliatest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// AppID and AdminKey are what the fake accepts.
const (
	AppID    = "TESTAPP"
	AdminKey = "canary-0f3b7c2d9e8a4651"
)

// Limits of the fake. Algolia's own bound on a batch is the size of its body.
const (
	MaxRecordBytes = 10_000
	MaxBatch       = 1000
	MaxBatchBytes  = 10_000_000
	MaxQueryBytes  = 512
)

// Options configure a Server.
type Options struct {
	// TaskPolls is how often a task is asked for before it is published. Zero
	// means 2.
	TaskPolls int

	// PageSize is how many records a page of a browse has at most. Zero means
	// what is asked for.
	PageSize int
}

// Request is one thing that the server was asked.
type Request struct {
	Method  string
	Route   string // query, browse, batch, settings, task or index; "" when there is no such route
	Index   string
	Body    map[string]any
	Adds    []string // object ids that a batch writes
	Deletes []string // object ids that a batch deletes
	Status  int      // of the answer
}

// A Server is safe for concurrent use.
type Server struct {
	o       Options
	schemas map[string]*schema
	http    *httptest.Server

	mu       sync.Mutex
	indexes  map[string]*store
	requests []Request
	faults   []fault
	lastTask int64
	hook     func(Request)
}

type fault struct {
	route      string
	status     int
	retryAfter int
	n          int
}

// New starts a server, which is closed when the test ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	if o.TaskPolls <= 0 {
		o.TaskPolls = 2
	}
	m, err := schemas()
	if err != nil {
		t.Fatalf("read schemas: %v", err)
	}
	s := &Server{o: o, schemas: m, indexes: map[string]*store{}}
	s.http = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.http.Close)
	return s
}

// Host is the name and port of the server, which speaks https.
func (s *Server) Host() string { return s.http.Listener.Addr().String() }

// Client is an HTTP client that trusts the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Fail has the next n requests of a route, or of any when it is empty, answered
// with a status. retryAfter seconds go into the header when they are not zero.
func (s *Server) Fail(route string, n, status, retryAfter int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{route, status, retryAfter, n})
}

// ClearFaults forgets what Fail asked for.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// OnRequest has f called with each request before it is answered. Nil calls
// nothing.
func (s *Server) OnRequest(f func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = f
}

// Requests returns what was asked since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

// Records returns how many records an index has that searches see.
func (s *Server) Records(index string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.indexes[index]; x != nil {
		return len(x.records)
	}
	return 0
}

// Settings returns an index's settings.
func (s *Server) Settings(index string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.indexes[index]; x != nil {
		return x.settings.values
	}
	return nil
}

// SetSettings gives an index settings at once.
func (s *Server) SetSettings(index string, values map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at(index).setSettings(values)
}

// An answer is what a route says: a status with a message, or a body.
type answer struct {
	status  int
	message string
	body    any
}

func refuse(status int, message string) answer { return answer{status: status, message: message} }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBatchBytes+1))
	if err != nil {
		return // the client has gone
	}
	q := route(r)
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if hook != nil {
		hook(q)
	}
	s.mu.Lock()
	retryAfter := 0
	a, isFault := s.fault(q.Route, &retryAfter)
	if !isFault {
		a = s.answer(r, &q, data)
	}
	q.Status = a.status
	s.requests = append(s.requests, q)
	s.mu.Unlock()

	if a.status != http.StatusOK {
		a.body = map[string]any{"message": a.message, "status": a.status}
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

func (s *Server) fault(route string, retryAfter *int) (answer, bool) {
	for i := range s.faults {
		f := &s.faults[i]
		if f.n > 0 && (f.route == "" || f.route == route) {
			f.n--
			*retryAfter = f.retryAfter
			return refuse(f.status, "on demand"), true
		}
	}
	return answer{}, false
}

// route names what a path and a method ask for.
func route(r *http.Request) Request {
	q := Request{Method: r.Method}
	parts := strings.Split(r.URL.EscapedPath(), "/")
	if len(parts) < 4 || parts[0] != "" || parts[1] != "1" || parts[2] != "indexes" {
		return q
	}
	q.Index, _ = url.PathUnescape(parts[3])
	rest := strings.Join(parts[4:], "/")
	for _, known := range []struct{ method, rest, name string }{
		{http.MethodPost, "query", "query"},
		{http.MethodPost, "browse", "browse"},
		{http.MethodPost, "batch", "batch"},
		{http.MethodGet, "settings", "settings"},
		{http.MethodPut, "settings", "settings"},
		{http.MethodDelete, "", "index"},
	} {
		if known.method == r.Method && known.rest == rest {
			q.Route = known.name
		}
	}
	if id, ok := strings.CutPrefix(rest, "task/"); ok && r.Method == http.MethodGet && !strings.Contains(id, "/") {
		q.Route = "task"
	}
	return q
}
