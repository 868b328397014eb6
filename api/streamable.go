package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/mcp"
	"codesage/tools"
)

// streamableHTTP serves MCP at /mcp. Each call and each resource that is read
// counts toward RATE_LIMIT_AI, also within a batch.
func (s *server) streamableHTTP(c *gin.Context) {
	set, ok := s.toolset(c)
	if !ok {
		return
	}
	if c.Request.Method == http.MethodPost {
		body, ok := s.readAll(c, maxMCPBody)
		if !ok {
			return
		}
		if depth(body) > maxDepth {
			s.refuse(c, http.StatusBadRequest, "The body is nested too deeply")
			return
		}
		if !s.within(c, "RATE_LIMIT_AI", s.Limits.AI, mcp.Calls(body)) {
			return
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
	}
	untimed(c) // a slow tool may be called
	ctx := context.WithValue(c.Request.Context(), callerKey{}, c)
	s.mcp[set.name].ServeHTTP(c.Writer, c.Request.WithContext(ctx))
}

// newMCP makes the MCP server of each toolset.
func (s *server) newMCP() map[string]*mcp.Server {
	made := map[string]*mcp.Server{}
	for _, name := range toolsetNames {
		set, ok := s.sets[name]
		if !ok {
			set = toolset{name: name}
		}
		made[name] = mcp.New(mcp.Config{Name: s.Name, Version: s.Version, Backend: door{s, set}, AnswerTime: s.AnswerTime, Log: s.Log})
	}
	return made
}

// callerKey finds the request of a call, for its permission.
type callerKey struct{}

// door answers the calls of one toolset at /mcp.
type door struct {
	server *server
	set    toolset
}

// Tools lists the toolset.
func (d door) Tools() []tools.Spec { return d.set.specs() }

// Resources lists the resources.
func (d door) Resources() []mcp.Resource { return mcp.Resources }

// Call runs a tool, with the checks of POST /mcp/tools/call.
func (d door) Call(ctx context.Context, name string, arguments json.RawMessage) (mcp.Result, error) {
	tool, ok := d.set.find(name)
	if !ok {
		return mcp.UnknownTool(d.set.name, name, d.Tools())
	}
	c, _ := ctx.Value(callerKey{}).(*gin.Context)
	if tool.Writes && (c == nil || client(c).may < MayWrite) {
		d.server.called(ctx, tool.Name, "refused", 0)
		return d.refuse(tool, readOnly, mcp.CodeInvalidRequest)
	}
	args, faults := tool.Arguments.Parse(arguments)
	switch {
	case faults != nil && tool.session:
		d.server.called(ctx, tool.Name, "invalid", 0)
		return mcp.Result{}, mcp.Errorf(mcp.CodeInvalidParams, "%s", mcp.SessionFault(faults[0]))
	case faults != nil:
		d.server.called(ctx, tool.Name, "invalid", 0)
		return mcp.Result{Failed: true, Text: tools.FaultText(name, faults)}, nil
	}
	result, err := d.server.run(ctx, tool, name, args)
	err = d.server.inTime(ctx, err)
	message, late := tools.Answer(err)
	switch {
	case late:
		return d.refuse(tool, message, mcp.CodeInternal)
	case err != nil:
		return mcp.Result{}, err
	case result.IsError:
		return d.refuse(tool, *result.Error, result.Code)
	case tool.session:
		return mcp.Result{Text: sessionText(result.Result)}, nil
	}
	return mcp.Result{Text: tools.Render(result.Result)}, nil
}

// refuse is the tool's own failure: a tool error, or the JSON-RPC error of a
// session tool.
func (d door) refuse(tool servedTool, message string, code int) (mcp.Result, error) {
	if tool.session {
		return mcp.Result{}, mcp.Errorf(code, "%s", message)
	}
	return mcp.Result{Failed: true, Text: message}, nil
}

// ReadResource returns a resource as JSON text.
func (d door) ReadResource(ctx context.Context, uri string) (mcp.Contents, error) {
	ctx, cancel := context.WithTimeout(ctx, d.server.RequestTime)
	defer cancel()
	content, err := d.server.resource(ctx, uri)
	err = d.server.inTime(ctx, err)
	var known *codesage.Error
	switch {
	case err == nil:
		return mcp.Contents{URI: uri, MIMEType: mcp.JSONType, Text: tools.Render(content)}, nil
	case errors.As(err, &known) && known.Kind == codesage.KindNotFound:
		return mcp.Contents{}, mcp.Errorf(mcp.CodeInvalidParams, mcp.ResourceNotFound, known.Message)
	case errors.As(err, &known) && known.Kind != codesage.KindInternal:
		return mcp.Contents{}, mcp.Errorf(mcp.CodeInternal, "%s", known.Message)
	}
	return mcp.Contents{}, err
}

// sessionText is the Markdown of a session tool's result, {"text": "…"}.
func sessionText(result any) string {
	var r struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(mustJSON(result), &r) != nil {
		return ""
	}
	return r.Text
}
