package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"codesage/tools"
	"codesage/trace"
)

// peer is the client at the other end, as far as one connection knows it.
type peer struct {
	server *Server
	notify func(json.RawMessage) // sends a notification; safe for concurrent use

	mu      sync.Mutex
	version string // negotiated; empty before initialize
	running map[string]context.CancelCauseFunc
}

// errCancelled ends a call that the client cancelled. It gets no answer.
var errCancelled = errors.New("cancelled by the client")

type callKey struct{}

// newPeer returns the state of one connection.
func newPeer(s *Server, version string, notify func(json.RawMessage)) *peer {
	return &peer{server: s, version: version, notify: notify, running: map[string]context.CancelCauseFunc{}}
}

// answer handles one message, or a batch, and returns what to send back; nil
// when nothing is.
func (p *peer) answer(ctx context.Context, raw []byte) json.RawMessage {
	if !isBatch(raw) {
		m, fault := parseMessage(raw)
		return p.respond(ctx, m, fault)
	}
	if v := p.negotiated(); v != "" && v != protocol.ProtocolVersion20250326 {
		return encodeResponse(nil, nil, Errorf(CodeInvalidRequest, "Invalid request: protocol version %s has no batches", v))
	}
	items, fault := parseBatch(raw)
	if fault != nil {
		return encodeResponse(nil, nil, fault)
	}
	var answers []json.RawMessage
	for _, item := range items {
		m, fault := parseMessage(item)
		if a := p.respond(ctx, m, fault); a != nil {
			answers = append(answers, a)
		}
	}
	if answers == nil {
		return nil
	}
	data, err := encode(answers)
	if err != nil {
		return encodeResponse(nil, nil, Errorf(CodeInternal, "Internal error"))
	}
	return data
}

// respond answers one message that was read, or could not be.
func (p *peer) respond(ctx context.Context, m message, fault *Error) json.RawMessage {
	switch {
	case fault != nil && m.id == nil: // a notification gets no answer, not even this one
		return nil
	case fault != nil:
		return encodeResponse(m.id, nil, fault)
	case m.reply:
		return nil
	case m.id == nil:
		p.notified(m)
		return nil
	}
	ctx, done := p.begin(ctx, m.id)
	defer done()
	return p.finish(ctx, m)
}

// finish answers a registered request; nil when it was cancelled meanwhile.
func (p *peer) finish(ctx context.Context, m message) json.RawMessage {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil
	}
	result, failure := p.request(ctx, m)
	if errors.Is(context.Cause(ctx), errCancelled) {
		return nil
	}
	return encodeResponse(m.id, result, failure)
}

// begin registers a request so that the client can cancel it.
func (p *peer) begin(ctx context.Context, id json.RawMessage) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := idKey(id)
	if _, taken := p.running[key]; taken { // a client that repeats an id can't cancel the second call
		return ctx, func() { cancel(nil) }
	}
	p.running[key] = cancel
	return ctx, func() {
		p.mu.Lock()
		delete(p.running, key)
		p.mu.Unlock()
		cancel(nil)
	}
}

// notified acts on a notification.
func (p *peer) notified(m message) {
	if m.method != "notifications/cancelled" {
		return
	}
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.params, &params) != nil {
		return
	}
	p.mu.Lock()
	cancel := p.running[idKey(params.RequestID)]
	p.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
}

func (p *peer) negotiated() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// request answers a request. A panic below it ends this request only.
func (p *peer) request(ctx context.Context, m message) (result any, failure *Error) {
	defer func() {
		if r := recover(); r != nil {
			trace.Log(ctx, p.server.log).Error("panic in a request", "method", m.method, "panic", r, "stack", string(debug.Stack()))
			result, failure = nil, Errorf(CodeInternal, "Internal error")
		}
	}()
	if heavy(m.method) {
		return p.call(ctx, m)
	}
	if asksForMore(m) {
		return nil, Errorf(CodeInvalidParams, "Invalid params: cursor: Lists are given whole here, so no cursor leads on")
	}
	if m.method == "subscriptions/listen" { // lists never change
		return nil, Errorf(CodeMethodNotFound, "Unknown method: %s", m.method)
	}
	params := m.params
	if string(params) == "null" {
		params = nil
	}
	result, failure = p.server.ask(ctx, p.server.lists, m.method, params)
	switch {
	case failure != nil && failure.Code == CodeMethodNotFound:
		return nil, Errorf(CodeMethodNotFound, "Unknown method: %s", m.method)
	case failure != nil && failure.Code == CodeInvalidRequest: // the request was read; mcp-go means its params
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s can't be read", m.method)
	}
	if r, ok := result.(protocol.InitializeResult); ok {
		p.mu.Lock()
		p.version = r.ProtocolVersion
		p.mu.Unlock()
	}
	return result, failure
}

// asksForMore reports whether a request wants a list from a cursor on.
func asksForMore(m message) bool {
	var params struct{ Cursor string }
	switch m.method {
	case "tools/list", "resources/list", "resources/templates/list":
		return json.Unmarshal(m.params, &params) == nil && params.Cursor != ""
	}
	return false
}

// versionOf is the version that a call names, else the one that was negotiated.
func (p *peer) versionOf(c *call) string {
	var meta *protocol.Meta
	if json.Unmarshal(c.meta, &meta) == nil && KnowsProtocol(meta.ProtocolVersion()) {
		return meta.ProtocolVersion()
	}
	return p.negotiated()
}

// call answers tools/call and resources/read.
func (p *peer) call(ctx context.Context, m message) (any, *Error) {
	c, fault := parseCall(m)
	if fault != nil {
		return nil, fault
	}
	ctx = context.WithValue(ctx, callKey{}, c)
	if version := p.versionOf(c); version != "" {
		ctx = tools.WithProtocol(ctx, version)
	}
	stop := func() {}
	if c.token != nil && p.notify != nil {
		var report tools.Progress
		report, stop = progress(c.token, p.notify)
		ctx = tools.WithProgress(ctx, report)
	}
	params := map[string]any{"name": doorTool}
	if m.method == "resources/read" {
		params = map[string]any{"uri": doorResource}
	}
	if c.meta != nil {
		params["_meta"] = c.meta
	}
	raw, err := encode(params)
	if err != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s", err)
	}
	result, failure := p.server.ask(ctx, p.server.door, m.method, raw)
	stop()
	if c.err != nil {
		return nil, c.err
	}
	return result, failure
}

// progress returns a reporter that sends what grows, and a function after which
// it sends nothing more: the result must be the last word.
func progress(token json.RawMessage, notify func(json.RawMessage)) (tools.Progress, func()) {
	var mu sync.Mutex
	last, ended := -1, false
	report := func(done, total int, text string) {
		params := map[string]any{"progressToken": token, "progress": done}
		if total > 0 {
			params["total"] = total
		}
		if text != "" {
			params["message"] = text
		}
		data, err := encode(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
		mu.Lock()
		defer mu.Unlock()
		if err != nil || ended || done <= last {
			return
		}
		last = done
		notify(data)
	}
	return report, func() {
		mu.Lock()
		ended = true
		mu.Unlock()
	}
}
