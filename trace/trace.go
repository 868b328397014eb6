// Package trace follows a request through the server and to the worker: spans
// for OpenTelemetry (this file) and the names by which log lines belong together
// (origin.go).
//
// A span hangs from the span of its context. Where that has none, which is
// everywhere while tracing is off, Start does nothing. Only the doors of the
// program begin spans of their own, with a Tracer.
//
// Names and attributes of spans come from fixed sets, or are numbers and ids.
// No span holds the text of a query, a file, a URL or an error.
package trace

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"

	"codesage"
)

// scope names this program as the maker of its spans.
const scope = "codesage"

// Tracer begins spans. A nil Tracer begins none.
type Tracer struct{ tracer otel.Tracer }

// New returns a Tracer of a provider.
func New(p otel.TracerProvider) *Tracer { return &Tracer{p.Tracer(scope)} }

// Attr is an attribute of a span.
type Attr = attribute.KeyValue

// String returns an attribute of a text, which must be of a fixed set or an id.
func String[T ~string](name string, value T) Attr { return attribute.String(name, string(value)) }

// Int returns an attribute of a number.
func Int[T ~int | ~int64](name string, value T) Attr { return attribute.Int64(name, int64(value)) }

// Serve begins the span of a request that came over HTTP, below the span that
// its headers name, if they name one.
func (t *Tracer) Serve(ctx context.Context, h http.Header, name string, attrs ...Attr) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
	return t.begin(ctx, name, otel.SpanKindServer, attrs)
}

// Begin begins a span, below that of the context if there is one.
func (t *Tracer) Begin(ctx context.Context, name string, attrs ...Attr) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.begin(ctx, name, otel.SpanKindInternal, attrs)
}

func (t *Tracer) begin(ctx context.Context, name string, kind otel.SpanKind, attrs []Attr) (context.Context, Span) {
	ctx, span := t.tracer.Start(ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attrs...))
	return ctx, Span{span}
}

// Start begins a span below that of the context, and none when there is none.
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, Span) {
	parent := otel.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, otel.WithAttributes(attrs...))
	return ctx, Span{span}
}

// Send writes the context's span into the headers of a request to another
// program. Without a span it does nothing.
func Send(ctx context.Context, h http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
}

// Span is one piece of work that is under way. The zero Span records nothing.
type Span struct{ span otel.Span }

// Set adds attributes.
func (s Span) Set(attrs ...Attr) {
	if s.span != nil {
		s.span.SetAttributes(attrs...)
	}
}

// End ends the span. Of an error it keeps the kind.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		kind := string(codesage.KindOf(err))
		s.span.SetAttributes(attribute.String("error.type", kind))
		s.span.SetStatus(codes.Error, kind)
	}
	s.span.End()
}
