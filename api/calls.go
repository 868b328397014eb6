package api

import (
	"context"
	"strings"
	"sync"
	"time"
)

// maxLogged is how many tool calls of one request its log line names.
const maxLogged = 10

// calls are the tool calls that a request made: one, or several in a batch of
// /mcp, which may run at the same time.
type calls struct {
	mu       sync.Mutex
	tools    []string
	outcomes []string
}

// callsKey finds the calls of a request in its context.
type callsKey struct{}

// called counts a call of a tool, and notes it for the request's log line.
func (s *server) called(ctx context.Context, tool, outcome string, took time.Duration) {
	s.metrics.call(tool, outcome, took)
	c, ok := ctx.Value(callsKey{}).(*calls)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tools) < maxLogged {
		c.tools, c.outcomes = append(c.tools, tool), append(c.outcomes, outcome)
	}
}

// logAttrs are the attributes of the request's log line; none without a call.
func (c *calls) logAttrs() []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tools) == 0 {
		return nil
	}
	return []any{"tool", strings.Join(c.tools, ","), "outcome", strings.Join(c.outcomes, ",")}
}
