package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"

	"codesage"
)

// Origin is where a piece of work came from, for log lines. Its parts may be
// empty.
type Origin struct {
	Request string         // the id of the request
	By      string         // "api key", "read key", "log-in"; empty = whoever has the address
	Client  string         // the client's address
	Run     codesage.RunID // the run that a worker works on; 0 = none
}

// originKey finds the origin in a context.
type originKey struct{}

// WithOrigin returns a context of work that came from there.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns where the work of a context came from. Work of the server's
// own has none.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// Log returns the log for the work of a context: its lines carry the id of the
// request, or of the run, that the work belongs to, if it belongs to one.
func Log(ctx context.Context, log *slog.Logger) *slog.Logger {
	o := OriginOf(ctx)
	if o.Request != "" {
		log = log.With("request", o.Request)
	}
	if o.Run != 0 {
		log = log.With("run", o.Run)
	}
	return log
}

// LogAttrs are the origin's attributes of a log line.
func (o Origin) LogAttrs() []any {
	by := o.By
	switch {
	case by == "" && o.Client == "":
		by = "server"
	case by == "":
		by = "address"
	}
	attrs := []any{"by", by}
	if o.Client != "" {
		attrs = append(attrs, "client", o.Client)
	}
	if o.Request != "" {
		attrs = append(attrs, "request", o.Request)
	}
	return attrs
}

// NewRequestID returns a new id of a request.
func NewRequestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
