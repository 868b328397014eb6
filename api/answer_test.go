package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"codesage/tools"
)

// A client that reads no answers loses its connection, at every door.
func TestAClientThatReadsNoAnswersLosesItsConnection(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	e := newEnv(t, func(d *Deps) {
		d.RequestTime, d.AnswerTime = 50*time.Millisecond, 50*time.Millisecond
		var list []tools.Tool
		for _, slow := range []bool{true, false} {
			list = append(list, tools.Tool{
				Spec: tools.Spec{Name: fmt.Sprintf("slow_%v", slow), Slow: slow, Arguments: tools.Schema{Title: "Args"}},
				Call: func(context.Context, tools.Arguments) (any, error) { return large, nil },
			})
		}
		d.Toolsets = []tools.Set{{Name: "repositories", Tools: list}}
	})
	post := func(path, accept, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: %s\r\nContent-Length: %d\r\n\r\n%s", path, accept, len(body), body)
	}
	call := func(tool string) string { return `{"tool_name":"` + tool + `"}` }
	rpc := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
	}
	const calls, events = "/api/v1/ai/mcp/tools/call", "application/json, text/event-stream"
	for name, request := range map[string]string{
		"a page":             "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"a tool":             post(calls, "application/json", call("slow_false")),
		"a slow tool":        post(calls, "application/json", call("slow_true")),
		"MCP":                post("/mcp", "application/json", rpc("slow_false")),
		"MCP as a stream":    post("/mcp", events, rpc("slow_true")),
		"MCP of a slow tool": post("/mcp", "application/json", rpc("slow_true")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := e.dial()
			if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var err error
			for err == nil {
				_, err = connection.Write([]byte(request))
			}
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				t.Error("the connection is still there")
			}
		})
	}
}
