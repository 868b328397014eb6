package mcp

import (
	"context"
	"encoding/json"
	"errors"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"codesage/trace"
)

// ask puts a request to mcp-go under an id of our own and returns its result or
// its error.
func (s *Server) ask(ctx context.Context, to *server.MCPServer, method string, params json.RawMessage) (any, *Error) {
	raw, err := encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{"2.0", 1, method, params})
	if err != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s", err)
	}
	switch r := to.HandleMessage(ctx, raw).(type) {
	case protocol.JSONRPCResponse:
		return r.Result, nil
	case protocol.JSONRPCError:
		return nil, &Error{Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}
	}
	trace.Log(ctx, s.log).Error("mcp-go gave no answer", "method", method)
	return nil, Errorf(CodeInternal, "Internal error")
}

// callTool is the handler of the door's only tool.
func (s *Server) callTool(ctx context.Context, _ protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	c := ctx.Value(callKey{}).(*call)
	result, err := s.backend.Call(ctx, c.name, c.arguments)
	if err != nil {
		c.err = s.fault(ctx, err, "tool", c.name)
		return nil, c.err
	}
	if result.Failed {
		return protocol.NewToolResultError(result.Text), nil
	}
	return protocol.NewToolResultText(result.Text), nil
}

// readResource is the handler of the door's only resource.
func (s *Server) readResource(ctx context.Context, _ protocol.ReadResourceRequest) ([]protocol.ResourceContents, error) {
	c := ctx.Value(callKey{}).(*call)
	contents, err := s.backend.ReadResource(ctx, c.uri)
	if err != nil {
		c.err = s.fault(ctx, err, "resource", c.uri)
		return nil, c.err
	}
	return []protocol.ResourceContents{protocol.TextResourceContents{
		URI: contents.URI, MIMEType: contents.MIMEType, Text: contents.Text,
	}}, nil
}

// fault makes a JSON-RPC error of what a backend returned. The text of an error
// that isn't one is for the log.
func (s *Server) fault(ctx context.Context, err error, what, name string) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	if ctx.Err() == nil {
		trace.Log(ctx, s.log).Error("call failed", what, name, "err", err)
	}
	return Errorf(CodeInternal, "Internal error")
}

// WantsProgress reports whether the client asked to be told how far the call of
// ctx is.
func WantsProgress(ctx context.Context) bool {
	c, ok := ctx.Value(callKey{}).(*call)
	return ok && c.token != nil
}
