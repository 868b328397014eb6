package otlp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"codesage"
	"codesage/trace"
	"codesage/trace/otlp"
	"codesage/trace/otlp/otlptest"
)

func options(env map[string]string) otlp.Options {
	return otlp.Options{Getenv: func(name string) string { return env[name] }, Name: "codesage", Version: "7", Log: slog.New(slog.DiscardHandler)}
}

func TestSpansReachTheCollectorBelowTheSpanOfTheClient(t *testing.T) {
	c := otlptest.Start(t)
	tracer, stop, err := otlp.Open(t.Context(), options(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}))
	if err != nil {
		t.Fatal(err)
	}
	const trace1, span1 = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	h := http.Header{"Traceparent": {"00-" + trace1 + "-" + span1 + "-01"}}
	ctx, door := tracer.Serve(t.Context(), h, "GET /x", trace.Int("n", 3))
	inner, tool := trace.Start(ctx, "tool x", trace.String("kind", codesage.StatusFailed))
	sent := http.Header{}
	trace.Send(inner, sent)
	tool.End(&codesage.Error{Kind: codesage.KindUnavailable, Message: "secret", Err: errors.New("secret")})
	door.End(nil)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, want := c.Spans(), 2
	if len(got) != want {
		t.Fatalf("got %d spans, want %d: %v", len(got), want, got)
	}
	first, second := got[1], got[0]
	if first.Trace != trace1 || first.Parent != span1 || first.Failed || first.Service != "codesage" {
		t.Errorf("the door's span: %+v", first)
	}
	if second.Trace != trace1 || second.Parent != first.ID || !second.Failed || second.Attributes["kind"] != "failed" || second.Attributes["error.type"] != "unavailable" {
		t.Errorf("the tool's span: %+v", second)
	}
	if to := sent.Get("Traceparent"); to != "00-"+trace1+"-"+second.ID+"-01" {
		t.Errorf("sent on: %q", to)
	}
	if strings.Contains(c.Text(), "secret") {
		t.Error("a span holds the text of an error")
	}
}

func TestWithoutAnEndpointNothingRunsAndNothingIsMade(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, env := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		tracer, stop, err := otlp.Open(t.Context(), options(env))
		if err != nil || tracer != nil {
			t.Fatalf("%v: got %v, %v", env, tracer, err)
		}
		ctx := t.Context()
		cost := testing.AllocsPerRun(100, func() {
			ctx, door := tracer.Begin(ctx, "run")
			_, inner := trace.Start(ctx, "text")
			inner.End(nil)
			door.End(context.Canceled)
		})
		if cost != 0 {
			t.Errorf("%v: a span costs %v allocations", env, cost)
		}
		h := http.Header{}
		trace.Send(ctx, h)
		if len(h) != 0 {
			t.Errorf("%v: sent %v", env, h)
		}
		if err := stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAddressesThatCantBeAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"collector:4318", "grpc://bob:hunter2@h:1", "http://", "http://bob:hunter2@h:port", "http://bob:1/hunter2@h", "http://bob:1@hunter2@h"} {
		for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
			_, _, err := otlp.Open(t.Context(), options(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", name: bad}))
			if codesage.KindOf(err) != codesage.KindInvalid || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: got %v", name, bad, err)
			}
		}
	}
}

// output is a log that may be written while it is read.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestACollectorThatIsAwayIsOneLineWithoutItsAddress(t *testing.T) {
	var log output // stop may return before the last try to send has
	o := options(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://bob:hunter2@127.0.0.1:1"})
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	tracer, stop, err := otlp.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Begin(t.Context(), "run")
	span.End(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*1e6)
	defer cancel()
	_ = stop(ctx)
	if text := log.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "bob") || strings.Count(text, "\n") > 1 {
		t.Errorf("the log:\n%s", text)
	}
}

// The exporter shows headers that it can't read in messages of its own.
func TestHeadersThatCantBeAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for _, bad := range []string{"hunter2", "api key=hunter2", "a=hunter2%zz", "a=b,hunter2", "=hunter2", "ключ=hunter2"} {
			_, _, err := otlp.Open(t.Context(), options(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", variable: bad}))
			if codesage.KindOf(err) != codesage.KindInvalid || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), variable) {
				t.Errorf("%s=%s: got %v", variable, bad, err)
			}
		}
	}
}
