package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"codesage"
	"codesage/api"
	"codesage/metrics"
	"codesage/pipeline/source/git"
	"codesage/queue/monitor"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/local"
	"codesage/search/query"
	"codesage/trace/otlp"
)

// traceTime is how long the last spans may take to be sent.
const traceTime = 5 * time.Second

// openObservers opens what watches the other parts: metrics, traces and the
// queue's web UI. Store, queue and parser must be there.
func (p *parts) openObservers(ctx context.Context) error {
	p.metrics = metrics.New(metrics.Options{
		Version: versionText(), Redis: p.redis, Queue: p.queue, Restarts: p.parser.Restarts, Log: p.log,
	}, p.store)
	tracer, stop, err := otlp.Open(ctx, otlp.Options{
		Getenv: p.traceEnv, Name: "codesage", Version: versionText(), Log: p.log,
	})
	if err != nil {
		return err
	}
	p.tracer = tracer
	p.closers = append(p.closers, func() error { endTraces(stop); return nil })
	p.monitoring, err = monitor.New(p.redis)
	return err
}

// endTraces sends the last spans. A collector that is away gets none: that was
// logged when it was noticed, and the program ends all the same.
func endTraces(stop func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	_ = stop(ctx)
}

// traceEnv is the environment for traces: the address may also come from a .env
// file.
func (p *parts) traceEnv(name string) string {
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		return p.config.OTLPEndpoint
	}
	return os.Getenv(name)
}

// measure puts what measures before the store and the engine of those who read.
// The pipeline has the bare ones: the time of its phases is measured.
func (p *parts) measure() {
	p.store = p.metrics.Store(p.store)
	if p.engine != nil {
		p.engine = p.metrics.Engine(p.engine)
	}
}

// newAPI returns the API over what d has, watched.
func (p *parts) newAPI(d api.Deps) http.Handler {
	d.Registry, d.Tracer, d.Monitoring, d.Glob, d.Redact = p.metrics.Registry, p.tracer, p.monitoring, glob, git.Redact
	return api.New(d)
}

// texts returns the text index with its questions measured.
func (p *parts) texts() measuredTexts { return measuredTexts{p.index, p.metrics} }

type measuredTexts struct {
	*local.Index
	set *metrics.Set
}

func (m measuredTexts) SearchChunks(ctx context.Context, s codesage.Snapshot, q query.Query, k int) (hits []search.ChunkHit, total int, err error) {
	ctx, done := m.set.Searching(ctx, "chunks")
	defer func() { done(err) }()
	return m.Index.SearchChunks(ctx, s, q, k)
}

func (m measuredTexts) SearchLiteral(ctx context.Context, s codesage.Snapshot, text string, k int,
	load func(ctx context.Context, path string) (body string, ok bool, err error)) (hits []search.ChunkHit, total int, err error) {
	ctx, done := m.set.Searching(ctx, "literal")
	defer func() { done(err) }()
	return m.Index.SearchLiteral(ctx, s, text, k, load)
}

func (m measuredTexts) Candidates(ctx context.Context, s codesage.Snapshot, q index.TriQuery) (paths map[string]struct{}, all bool, err error) {
	ctx, done := m.set.Searching(ctx, "candidates")
	defer func() { done(err) }()
	return m.Index.Candidates(ctx, s, q)
}

// maxLogValue is how many bytes of a text go into a line of the log.
const maxLogValue = 8000

// boundedValue cuts long texts of a log line and adds the causes to errors, as
// slog.HandlerOptions.ReplaceAttr.
func boundedValue(_ []string, a slog.Attr) slog.Attr {
	text := ""
	switch v := a.Value.Any().(type) {
	case string:
		text = v
	case error:
		text = codesage.Detail(v)
		a = slog.String(a.Key, text)
	case []byte:
		text = string(v)
	}
	if len(text) > maxLogValue {
		return slog.String(a.Key, strings.ToValidUTF8(text[:maxLogValue], "")+"…")
	}
	return a
}
