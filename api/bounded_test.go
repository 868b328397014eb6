package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/store"
	"codesage/tools"
)

// frozenStore is a store whose database does not answer.
type frozenStore struct{ store.Store }

func (frozenStore) ListRepositories(ctx context.Context) ([]codesage.Repository, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Every door says the same of a database that hangs, and none of them that it is
// a fault of the server.
func TestADatabaseThatHangsIsUnavailable(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) {
		frozen := frozenStore{d.Store}
		d.Store, d.RequestTime = frozen, 50*time.Millisecond
		asks := func(name string) []tools.Tool {
			return []tools.Tool{{
				Spec: tools.Spec{Name: name, Arguments: tools.Schema{Title: "Args"}},
				Call: func(ctx context.Context, _ tools.Arguments) (any, error) {
					_, err := frozen.ListRepositories(ctx)
					return nil, fmt.Errorf("list repositories: %w", err)
				},
			}}
		}
		d.Toolsets = []tools.Set{{Name: "repositories", Tools: asks("list_repositories")}, {Name: "sessions", Tools: asks("list_sessions")}}
	})
	const (
		words    = "The server did not answer in time; try again"
		body     = `{"detail":"` + words + `","request_id":"r1"}`
		rest     = "/api/v1/repositories"
		calls    = "/api/v1/ai/mcp/tools/call"
		call     = `{"tool_name":"list_repositories"}`
		sessions = "?toolset=sessions"
		refused  = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + words + `"}],"isError":true}}`
		failed   = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"` + words + `"}}`
	)
	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	stream := []string{"Accept", "application/json, text/event-stream"}
	for _, ask := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"REST", "GET", rest, "", nil, 503, body},
		{"a resource", "GET", "/api/v1/ai/mcp/resources/read?uri=codesage://repositories", "", nil, 503, body},
		{"a tool", "POST", calls, call, nil, 503, body},
		{"a session tool", "POST", calls + sessions, `{"tool_name":"list_sessions"}`, nil, 503, body},
		{"a tool as a stream", "POST", calls, call, stream, 200, "event: error\ndata: " + strings.Replace(body, "}", `,"status":503}`, 1) + "\n"},
		{"a tool at /mcp", "POST", "/mcp", rpc("tools/call", `{"name":"list_repositories"}`), nil, 200, refused},
		{"a session tool at /mcp", "POST", "/mcp" + sessions, rpc("tools/call", `{"name":"list_sessions"}`), nil, 200, failed},
		{"a tool at /mcp as a stream", "POST", "/mcp", rpc("tools/call", `{"name":"list_repositories","_meta":{"progressToken":1}}`), stream, 200,
			"event: message\ndata: " + refused + "\n"},
		{"a resource at /mcp", "POST", "/mcp", rpc("resources/read", `{"uri":"codesage://repositories"}`), nil, 200, failed},
	} {
		t.Run(ask.name, func(t *testing.T) {
			t.Parallel()
			headers := append([]string{"Content-Type", "application/json", "X-Request-ID", "r1"}, ask.headers...)
			if got := e.ask(ask.method, ask.path, ask.body, headers...); got.status != ask.status || got.body != ask.want {
				t.Errorf("got %d %s\nwant %d %s", got.status, got.body, ask.status, ask.want)
			}
		})
	}
	t.Cleanup(func() { // after the doors were asked
		log := e.log.String()
		if late := strings.Count(log, `msg="no answer in time" request=r1`); late != 9 || strings.Contains(log, "level=ERROR") {
			t.Errorf("%d of 9 are logged as late:\n%s", late, log)
		}
	})
}
