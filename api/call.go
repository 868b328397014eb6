package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/mcp"
	"codesage/tools"
	"codesage/trace"
)

// envelope is the answer of POST /mcp/tools/call. Code is the JSON-RPC code of
// a session tool's failure.
type envelope struct {
	Tool    string  `json:"tool"`
	Result  any     `json:"result"`
	IsError bool    `json:"is_error"`
	Error   *string `json:"error"`
	Code    int     `json:"code,omitempty"`
}

// refusal makes the envelope of a tool's refusal.
func refusal(name, message string, code int) envelope {
	return envelope{Tool: name, IsError: true, Error: &message, Code: code}
}

// listTools answers with every tool and its schema.
func (s *server) listTools(c *gin.Context) {
	set, ok := s.toolset(c)
	if !ok {
		return
	}
	type described struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	list := make([]described, len(set.tools))
	for i, t := range set.tools {
		list[i] = described{t.Name, t.Description, t.Arguments.JSON()}
	}
	answer(c, http.StatusOK, gin.H{"tools": list, "count": len(list)})
}

// capabilities answers with the server's name, version and tool names.
func (s *server) capabilities(c *gin.Context) {
	set, ok := s.toolset(c)
	if !ok {
		return
	}
	names := make([]string, len(set.tools))
	for i, t := range set.tools {
		names[i] = t.Name
	}
	answer(c, http.StatusOK, gin.H{
		"name": s.Name, "version": s.Version,
		"capabilities": gin.H{"tools": true, "resources": true, "prompts": false},
		"tools":        names,
	})
}

// callTool runs a tool.
func (s *server) callTool(c *gin.Context) {
	set, ok := s.toolset(c)
	if !ok {
		return
	}
	name, arguments, ok := s.readEnvelope(c)
	if !ok {
		return
	}
	tool, ok := set.find(name)
	if !ok {
		s.refuse(c, http.StatusNotFound, "Unknown tool '"+bounded(name)+"'")
		return
	}
	args, faults := tool.Arguments.Parse(arguments)
	switch {
	case tool.Writes && client(c).may < MayWrite:
		s.called(c.Request.Context(), tool.Name, "refused", 0)
		s.refuse(c, http.StatusForbidden, readOnly)
		return
	case faults != nil && tool.session:
		s.called(c.Request.Context(), tool.Name, "invalid", 0)
		answer(c, http.StatusOK, refusal(name, mcp.SessionFault(faults[0]), mcp.CodeInvalidParams))
		return
	case faults != nil:
		s.called(c.Request.Context(), tool.Name, "invalid", 0)
		unprocessable(c, faults...)
		return
	}
	if version := c.GetHeader("MCP-Protocol-Version"); mcp.KnowsProtocol(version) { // of the bridge's client
		c.Request = c.Request.WithContext(tools.WithProtocol(c.Request.Context(), version))
	}
	if strings.Contains(c.GetHeader("Accept"), "text/event-stream") {
		s.streamCall(c, tool, name, args)
		return
	}
	if tool.Slow {
		untimed(c)
	}
	result, err := s.run(c.Request.Context(), tool, name, args)
	endWriting(c, s.AnswerTime)
	if err != nil {
		s.fail(c, err)
		return
	}
	answer(c, http.StatusOK, result)
}

// readEnvelope reads the body of a tool call, and answers when it is bad.
func (s *server) readEnvelope(c *gin.Context) (name string, arguments json.RawMessage, ok bool) {
	body, ok := s.readBody(c)
	if !ok {
		return "", nil, false
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		unprocessable(c, fault("json_invalid", "JSON decode error", struct{}{}, "body", 0))
		return "", nil, false
	}
	var faults []tools.Fault
	tool, given := fields["tool_name"]
	switch {
	case !given:
		faults = append(faults, fault("missing", "Field required", body, "body", "tool_name"))
	case tool[0] != '"' || json.Unmarshal(tool, &name) != nil:
		faults = append(faults, fault("string_type", "Input should be a valid string", tool, "body", "tool_name"))
	}
	arguments, given = fields["arguments"]
	switch {
	case !given:
		arguments = json.RawMessage("{}")
	case arguments[0] != '{':
		faults = append(faults, fault("dict_type", "Input should be a valid dictionary", arguments, "body", "arguments"))
	}
	if faults != nil {
		unprocessable(c, faults...)
		return "", nil, false
	}
	return name, arguments, true
}

// timed calls a tool, counts the call and makes it a span.
func (s *server) timed(ctx context.Context, tool servedTool, args tools.Arguments) (result any, err error) {
	start, outcome := s.Now(), "error" // also when it panics
	inner, span := trace.Start(ctx, "tool "+tool.Name)
	if !tool.Slow {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(inner, s.RequestTime)
		defer cancel()
	}
	defer func() {
		s.called(ctx, tool.Name, outcome, s.Now().Sub(start))
		span.Set(trace.String("codesage.outcome", outcome))
		if outcome == "error" {
			span.End(&codesage.Error{Kind: codesage.KindInternal})
		} else {
			span.End(nil)
		}
	}()
	result, err = tool.Call(inner, args)
	_, refused := tools.Answer(err)
	switch {
	case err == nil:
		outcome = "ok"
	case refused:
		outcome = "refused"
	}
	return result, err
}

// run calls a tool and makes its envelope. The error is a fault of the server.
func (s *server) run(ctx context.Context, tool servedTool, name string, args tools.Arguments) (envelope, error) {
	result, err := s.timed(ctx, tool, args)
	if err == nil {
		return envelope{Tool: name, Result: result}, nil
	}
	message, refused := tools.Answer(err)
	if !refused {
		return envelope{}, err
	}
	if cause := errors.Unwrap(err); cause != nil {
		trace.Log(ctx, s.Log).Info("tool refused", "tool", tool.Name, "err", cause)
	}
	code := 0
	var failure *tools.Failure
	if tool.session {
		code = mcp.CodeInternal
		if errors.As(err, &failure) && failure.Code != 0 {
			code = failure.Code
		}
	}
	return refusal(name, message, code), nil
}

// progressEvent is the data of a progress event.
type progressEvent struct {
	Progress int    `json:"progress"`
	Total    *int   `json:"total"`
	Message  string `json:"message"`
}

// streamCall runs a tool and answers with progress events and last the envelope.
// A failure that is no answer of the tool is an event `error` with the body, and
// the status, that it has without a stream.
func (s *server) streamCall(c *gin.Context, tool servedTool, name string, args tools.Arguments) {
	out := newStream(c)
	var mu sync.Mutex
	ended := false
	report := func(done, total int, message string) {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		p := progressEvent{Progress: done, Message: message}
		if total > 0 {
			p.Total = &total
		}
		out.event("progress", p)
	}
	stop := out.pings(c.Request.Context(), pingInterval)
	result, err := s.runSafely(tools.WithProgress(c.Request.Context(), report), tool, name, args)
	stop()
	mu.Lock()
	ended = true
	mu.Unlock()
	if err == nil {
		out.event("result", result)
		return
	}
	if status, detail := s.translate(c, err); status != statusGone {
		out.event("error", streamProblem{problemOf(c, status, detail), status})
	}
}

// streamProblem is the body of a failed answer with the status that a stream
// can't have.
type streamProblem struct {
	problem
	Status int `json:"status"`
}

// runSafely is run for a stream, whose status is sent already: a panic is an
// error.
func (s *server) runSafely(ctx context.Context, tool servedTool, name string, args tools.Arguments) (result envelope, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	return s.run(ctx, tool, name, args)
}

// pingInterval is how often a silent stream shows that it is alive.
const pingInterval = 15 * time.Second
