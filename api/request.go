package api

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
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
		var b [8]byte
		_, _ = rand.Read(b[:])
		id = hex.EncodeToString(b[:])
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

// observe logs and counts a request.
func (s *server) observe(c *gin.Context) {
	start := s.Now()
	c.Next()
	took := s.Now().Sub(start)
	status := c.Writer.Status()
	s.metrics.request(c.FullPath(), c.Request.Method, status, took)
	s.Log.Debug("request", "request", requestID(c), "method", c.Request.Method, "path", c.Request.URL.Path,
		"status", status, "ms", took.Milliseconds(), "client", client(c).addr)
}

// changed logs who changed what, in one line.
func (s *server) changed(c *gin.Context, what string, attrs ...any) {
	who := client(c)
	s.Log.Info(what, append([]any{"by", who.name(), "client", who.addr, "request", requestID(c)}, attrs...)...)
}

// untimed takes the server's write deadline off a stream.
func untimed(c *gin.Context) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})
}

// isAPI reports whether a path belongs to the API and not to the dashboard.
func isAPI(path string) bool {
	return path == "/mcp" || path == "/metrics" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/monitoring")
}
