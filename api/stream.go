package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// stream is an answer of server-sent events. It is safe for concurrent use.
type stream struct {
	mu         sync.Mutex
	w          http.ResponseWriter
	connection *http.ResponseController
	patience   time.Duration // how long a client may take to read what is sent
}

// streamPatience is the patience of streams. A client that reads no more while its
// connection stays loses its place among the listeners.
const streamPatience = time.Minute

// newStream begins the answer.
func newStream(c *gin.Context) *stream {
	untimed(c)
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	c.Writer.WriteHeader(http.StatusOK)
	c.Writer.WriteHeaderNow()
	s := &stream{w: c.Writer, connection: http.NewResponseController(c.Writer), patience: streamPatience}
	_ = s.connection.Flush()
	return s
}

// event sends one event. A client that has gone, or reads no more, is noticed by
// the request's context.
func (s *stream) event(name string, data any) {
	raw, isRaw := data.(json.RawMessage)
	if !isRaw {
		var err error
		if raw, err = json.Marshal(data); err != nil {
			return
		}
	}
	s.write("event: %s\ndata: %s\n\n", name, raw)
}

func (s *stream) write(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.connection.SetWriteDeadline(time.Now().Add(s.patience))
	_, _ = fmt.Fprintf(s.w, format, args...)
	_ = s.connection.Flush()
	_ = s.connection.SetWriteDeadline(time.Time{})
}

// pings sends a comment at an interval, until the returned function, which
// waits for it, is called.
func (s *stream) pings(ctx context.Context, interval time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				s.write(": ping\n\n")
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// panicked makes an error of a panic, for the log.
func panicked(r any) error { return fmt.Errorf("panic: %v\n%s", r, debug.Stack()) }
