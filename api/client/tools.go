package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"codesage/tools"
)

// The paths of the API.
const (
	callPath         = "/api/v1/ai/mcp/tools/call"
	toolsPath        = "/api/v1/ai/mcp/tools"
	readPath         = "/api/v1/ai/mcp/resources/read"
	repositoriesPath = "/api/v1/repositories"
	foldersPath      = "/api/v1/folders"
	eventsPath       = "/api/v1/events"
)

// Call asks to run a tool.
type Call struct {
	Toolset   string // empty = repositories
	Tool      string
	Arguments json.RawMessage // a JSON object; nil = {}
	Slow      bool            // wait as long as for a slow tool
	Protocol  string          // version of MCP that the caller's client speaks; empty = not known

	// Progress, when set, is told how far the call is, in order, and not after
	// CallTool has returned.
	Progress tools.Progress
}

// Envelope is the answer of a tool call. A tool that refused has IsError set;
// Code is the JSON-RPC code of a session tool.
type Envelope struct {
	Tool    string          `json:"tool"`
	Result  json.RawMessage `json:"result"`
	IsError bool            `json:"is_error"`
	Error   string          `json:"error"`
	Code    int             `json:"code"`
}

// CallTool runs a tool. A refusal of the tool is an Envelope; an error is a
// failure to ask.
func (c *Client) CallTool(ctx context.Context, call Call) (Envelope, error) {
	if call.Arguments == nil {
		call.Arguments = json.RawMessage("{}")
	}
	q := request{
		method: http.MethodPost, path: callPath, query: url.Values{}, protocol: call.Protocol, timeout: c.timeout,
		body: struct {
			Tool      string          `json:"tool_name"`
			Arguments json.RawMessage `json:"arguments"`
		}{call.Tool, call.Arguments},
	}
	if call.Toolset != "" && call.Toolset != "repositories" {
		q.query.Set("toolset", call.Toolset)
	}
	if call.Slow {
		q.timeout = c.slow
	}
	if call.Progress != nil {
		return c.callStreaming(ctx, q, call.Progress)
	}
	var raw json.RawMessage
	if err := c.do(ctx, q, &raw); err != nil {
		return Envelope{}, err
	}
	return decodeEnvelope(raw)
}

// decodeEnvelope reads an envelope and refuses any other object.
func decodeEnvelope(raw []byte) (Envelope, error) {
	var fields map[string]json.RawMessage
	var e Envelope
	if err := decodeObject(raw, &fields); err != nil {
		return e, err
	}
	if _, ok := fields["result"]; !ok {
		return e, &UnexpectedError{}
	}
	return e, decodeObject(raw, &e)
}

// callStreaming runs a tool and reports its progress events. A server that
// answers with JSON is understood too.
func (c *Client) callStreaming(ctx context.Context, q request, progress tools.Progress) (Envelope, error) {
	q.stream = true
	res, err := c.send(ctx, q)
	if err != nil {
		return Envelope{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body, err := c.read(ctx, res, q.timeout)
		if err != nil {
			return Envelope{}, err
		}
		if res.StatusCode != http.StatusOK {
			return Envelope{}, newStatusError(res, body)
		}
		return decodeEnvelope(body)
	}
	for event, err := range readEvents(res.Body) {
		switch {
		case ctx.Err() != nil:
			return Envelope{}, ctx.Err()
		case err != nil:
			return Envelope{}, c.transportError(err, q.timeout)
		case event.name == "progress":
			var p struct {
				Progress, Total int
				Message         string
			}
			if json.Unmarshal(event.data, &p) == nil {
				progress(p.Progress, p.Total, p.Message)
			}
		case event.name == "result":
			return decodeEnvelope(event.data)
		case event.name == "error":
			return Envelope{}, streamError(res, event.data)
		}
	}
	if ctx.Err() != nil {
		return Envelope{}, ctx.Err()
	}
	return Envelope{}, c.transportError(errors.New("the stream ended before the result"), q.timeout)
}

// streamError is the error that the event `error` of a stream tells of.
func streamError(res *http.Response, body []byte) error {
	failure := *res
	failure.StatusCode = http.StatusInternalServerError
	var told struct{ Status int }
	if json.Unmarshal(body, &told) == nil && told.Status >= http.StatusBadRequest {
		failure.StatusCode = told.Status
	}
	return newStatusError(&failure, body)
}

// Tool is a tool as the server lists it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Tools lists the tools of a toolset; an empty one means repositories.
func (c *Client) Tools(ctx context.Context, toolset string) ([]Tool, error) {
	q := request{method: http.MethodGet, path: toolsPath, query: url.Values{}}
	if toolset != "" {
		q.query.Set("toolset", toolset)
	}
	var list struct {
		Tools []Tool `json:"tools"`
	}
	err := c.do(ctx, q, &list)
	return list.Tools, err
}

// Resource is a resource that was read.
type Resource struct {
	URI      string          `json:"uri"`
	MIMEType string          `json:"mimeType"`
	Content  json.RawMessage `json:"content"`
}

// ReadResource reads a resource.
func (c *Client) ReadResource(ctx context.Context, uri string) (Resource, error) {
	var r Resource
	err := c.do(ctx, request{method: http.MethodGet, path: readPath, query: url.Values{"uri": {uri}}}, &r)
	if err == nil && r.Content == nil {
		err = &UnexpectedError{}
	}
	return r, err
}
