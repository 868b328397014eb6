package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/trace"
)

const (
	requestIDHeader = "X-Request-ID"
	requestIDKey    = "codesage.request-id"
)

// goodRequestID is what a caller's request id may be; anything else is replaced.
var goodRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify gives a request an id: the caller's, or a new one.
func (s *server) identify(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if !goodRequestID.MatchString(id) {
		id = trace.NewRequestID()
	}
	c.Set(requestIDKey, id)
	c.Header(requestIDHeader, id)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Next()
}

func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// recover answers 500 when a handler panics.
func (s *server) recover(c *gin.Context) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if err, ok := r.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(r)
		}
		s.Log.Error("panic in a request", "request", requestID(c), "path", c.FullPath(), "panic", r, "stack", string(debug.Stack()))
		if c.Writer.Written() {
			c.Abort()
			return
		}
		s.refuse(c, http.StatusInternalServerError, "")
	}()
	c.Next()
}

// observe logs, counts and traces a request. Its path is not logged where it has
// no route: it may hold anything.
func (s *server) observe(c *gin.Context) {
	start := s.Now()
	route, method := c.FullPath(), knownMethod(c.Request.Method)
	made := &calls{}
	ctx := context.WithValue(c.Request.Context(), callsKey{}, made)
	span := trace.Span{}
	if !isProbe(route) {
		ctx, span = s.Tracer.Serve(ctx, c.Request.Header, strings.TrimSpace(method+" "+route),
			trace.String("http.request.method", method), trace.String("http.route", route), trace.String("codesage.request", requestID(c)))
	}
	c.Request = c.Request.WithContext(ctx)
	defer func() {
		took, status := s.Now().Sub(start), c.Writer.Status()
		s.metrics.request(route, method, status, took)
		span.Set(trace.Int("http.response.status_code", status))
		span.End(statusError(status))
		who := client(c)
		attrs := []any{"request", requestID(c), "method", method, "route", route, "status", status, "ms", took.Milliseconds(), "client", who.addr}
		if who.by != "" {
			attrs = append(attrs, "by", who.by)
		}
		s.Log.Log(ctx, requestLevel(route, status), "request", append(attrs, made.logAttrs()...)...)
	}()
	c.Next()
}

// isProbe reports whether a route is asked every few seconds by machines.
func isProbe(route string) bool {
	return route == "/healthz" || route == "/readyz" || route == "/metrics"
}

// requestLevel is the level at which a request is logged: probes that went well
// are of no interest.
func requestLevel(route string, status int) slog.Level {
	if isProbe(route) && status < http.StatusBadRequest {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// knownMethod keeps what callers make up out of labels and logs.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPatch:
		return method
	}
	return "other"
}

// statusError is the error that a span of a request ended with: only the
// server's own faults are errors of it.
func statusError(status int) error {
	switch {
	case status == http.StatusServiceUnavailable:
		return codesage.ErrUnavailable
	case status == http.StatusGatewayTimeout:
		return codesage.ErrTimeout
	case status >= http.StatusInternalServerError:
		return &codesage.Error{Kind: codesage.KindInternal}
	}
	return nil
}

const answerTime = time.Minute

// timeAnswer bounds how long a client takes to read what it asked for. One that
// reads nothing would keep its connection, its handler and the answer for ever.
func (s *server) timeAnswer(c *gin.Context) { endWriting(c, s.RequestTime+s.AnswerTime) }

// endWriting ends the writing of an answer after a while, and the connection with
// it.
func endWriting(c *gin.Context, after time.Duration) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(after))
}

// untimed lets the making of an answer take as long as it will. What writes it
// sets a deadline again.
func untimed(c *gin.Context) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})
}

// isAPI reports whether a path belongs to the API and not to the dashboard.
func isAPI(path string) bool {
	return isProbe(path) || path == "/mcp" || path == "/docs" || path == "/openapi.json" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/monitoring")
}

const requestTime = 25 * time.Second

// bounded ends the context of a request in time, so that a database that hangs
// is told as such.
func (s *server) bounded(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.RequestTime)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}
