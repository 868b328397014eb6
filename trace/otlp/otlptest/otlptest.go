// Package otlptest is a collector of traces for tests.
package otlptest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	status "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span that was sent.
type Span struct {
	Name, Trace, ID, Parent string // ids in hex; no Parent = ""
	Service                 string
	Attributes              map[string]string
	Failed                  bool
}

// Collector takes spans over OTLP/HTTP. It is safe for concurrent use.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu    sync.Mutex
	spans []Span
	raw   []byte
}

// Start starts a collector that ends with the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.take)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Spans returns what came so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Find returns the first span of a name that came.
func (c *Collector) Find(name string) (Span, bool) {
	all := c.Spans()
	at := slices.IndexFunc(all, func(s Span) bool { return s.Name == name })
	if at < 0 {
		return Span{}, false
	}
	return all[at], true
}

// Text is all bytes that came, for tests that look for what must not be there.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

func (c *Collector) take(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = unpacked
	}
	body, err := io.ReadAll(in)
	var q collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	for _, resource := range q.GetResourceSpans() {
		service := ""
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, newSpan(s, service))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func newSpan(s *status.Span, service string) Span {
	made := Span{
		Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()),
		Parent: hex.EncodeToString(s.GetParentSpanId()), Service: service, Attributes: map[string]string{},
		Failed: s.GetStatus().GetCode() == status.Status_STATUS_CODE_ERROR,
	}
	for _, a := range s.GetAttributes() {
		text := a.GetValue().GetStringValue()
		if text == "" {
			text = a.GetValue().String()
		}
		made.Attributes[a.GetKey()] = text
	}
	return made
}
