// Package otlp sends spans to a collector, over OTLP/HTTP with protobuf.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"codesage"
	"codesage/trace"
)

// Options are what a connection to a collector needs.
type Options struct {
	Getenv  func(string) string
	Name    string // of the service, unless OTEL_SERVICE_NAME is set
	Version string
	Log     *slog.Logger
}

// Open returns a Tracer that sends to the collector at
// OTEL_EXPORTER_OTLP_ENDPOINT, and a function that sends what is left and stops.
// Without that variable the Tracer is nil and nothing runs. The collector is not
// asked: one that is away costs its spans and a line in the log. An address that
// can't be one is KindInvalid. OpenTelemetry's other variables are read from the
// environment of the process.
//
// It sets OpenTelemetry's handler of errors, of which a process has one.
func Open(ctx context.Context, o Options) (t *trace.Tracer, stop func(context.Context) error, err error) {
	target, err := endpoint(o)
	if err == nil && target != "" {
		err = checkHeaders(o)
	}
	if err != nil || target == "" {
		return nil, func(context.Context) error { return nil }, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target))
	if err != nil {
		return nil, nil, fmt.Errorf("prepare to send traces: %w", withoutURL(err))
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", o.Name), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		o.Log.Warn("read OTEL_RESOURCE_ATTRIBUTES", "err", err)
	}
	otel.SetErrorHandler(&faults{log: o.Log})
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return trace.New(provider), provider.Shutdown, nil
}

// endpoint is where traces go; empty when they go nowhere.
func endpoint(o Options) (string, error) {
	const variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	base, name := strings.TrimSpace(o.Getenv(variable)), variable
	if base == "" || strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") || o.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", nil
	}
	whole := strings.TrimSpace(o.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
	if whole != "" {
		base, name = whole, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", codesage.Errorf(codesage.KindInvalid, "%s: must begin with http:// or https:// and name a host", name)
	}
	if at := strings.Count(base, "@"); at > 1 || at == 1 && u.User == nil {
		return "", codesage.Errorf(codesage.KindInvalid, "%s: percent-encode the signs of its password: # is %%23, / is %%2F, ? is %%3F, @ is %%40", name)
	}
	if p := o.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		o.Log.Warn("traces are sent as http/protobuf, whatever OTEL_EXPORTER_OTLP_PROTOCOL says")
	}
	if whole == "" {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// checkHeaders finds headers that the exporter would show in messages of its own.
func checkHeaders(o Options) error {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		text := strings.TrimSpace(o.Getenv(variable))
		if text == "" {
			continue
		}
		for item := range strings.SplitSeq(text, ",") {
			name, value, found := strings.Cut(item, "=")
			if _, err := url.PathUnescape(value); err != nil || !found || !headerName.MatchString(strings.TrimSpace(name)) {
				return codesage.Errorf(codesage.KindInvalid, "%s: must be name=value, comma-separated, with percent-encoded values", variable)
			}
		}
	}
	return nil
}

// faults logs why spans could not be sent, once in a while: each batch fails
// for the same reason.
type faults struct {
	log  *slog.Logger
	mu   sync.Mutex
	next time.Time
}

// faultPause is how long no other fault is logged.
const faultPause = time.Minute

// Handle implements OpenTelemetry's handler.
func (f *faults) Handle(err error) {
	f.mu.Lock()
	now := time.Now()
	silent := now.Before(f.next)
	if !silent {
		f.next = now.Add(faultPause)
	}
	f.mu.Unlock()
	if !silent {
		f.log.Warn("send traces", "err", withoutURL(err))
	}
}

// withoutURL is an error without the address, which may hold a password.
func withoutURL(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return parsing.Err
	}
	return err
}
