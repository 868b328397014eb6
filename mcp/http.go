package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// pingInterval is how often a stream that waits for its result says that it is
// alive.
const pingInterval = 15 * time.Second

// ServeHTTP answers MCP over Streamable HTTP, without sessions: each POST
// carries a message or a batch and gets its answer as JSON, or as a stream of
// events when the client takes those and asked for progress or a slow tool. Access, limits and
// the size of the body are the caller's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeFault(w, http.StatusMethodNotAllowed, nil, Errorf(CodeInvalidRequest, "Only POST is answered here: this server keeps no sessions"))
		return
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		writeFault(w, http.StatusUnsupportedMediaType, nil, Errorf(CodeInvalidRequest, "Content-Type must be application/json"))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		writeFault(w, status, nil, Errorf(CodeInvalidRequest, "The body can't be read: %s", err))
		return
	}
	s.servePost(w, r, body)
}

// servePost answers a body that was read.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, body []byte) {
	version := r.Header.Get(protocol.HeaderProtocolVersion)
	var m message
	if !isBatch(body) {
		var fault *Error
		if m, fault = parseMessage(body); fault != nil {
			writeFault(w, http.StatusBadRequest, m.id, fault)
			return
		}
		modern, status, fault := checkVersion(r, m, version)
		if fault != nil {
			writeFault(w, status, m.id, fault)
			return
		}
		if modern {
			version = protocol.ProtocolVersion20260728
		}
	}
	if version == "" {
		version = protocol.ProtocolVersion20250326 // what a client without the header speaks
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") && heavy(m.method) && m.id != nil && s.worthStreaming(m) {
		s.stream(w, r, version, body)
		return
	}
	answer := newPeer(s, version, nil).answer(r.Context(), body)
	switch {
	case r.Context().Err() != nil: // nobody listens
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.answer))
		w.WriteHeader(statusOf(answer, version))
		_, _ = w.Write(append(answer, '\n'))
	}
}

// checkVersion holds the version that the headers name against the message. A
// request of 2026-07-28 or later names it twice and repeats its method in the
// headers.
func checkVersion(r *http.Request, m message, header string) (modern bool, status int, fault *Error) {
	var params struct {
		Meta *protocol.Meta `json:"_meta"`
	}
	_ = json.Unmarshal(m.params, &params)
	meta := params.Meta.ProtocolVersion()
	modern = protocol.IsModernProtocol(meta) || protocol.IsModernProtocol(header)
	if !modern {
		if header != "" && m.method != "initialize" && !protocol.IsValidProtocolVersion(header) {
			return false, http.StatusBadRequest, Errorf(CodeInvalidRequest, "Unsupported protocol version: %s", header)
		}
		return false, 0, nil
	}
	if header != meta {
		return true, http.StatusBadRequest, Errorf(protocol.HEADER_MISMATCH,
			"the %s header is %q and the request's _meta says %q", protocol.HeaderProtocolVersion, header, meta)
	}
	if err := protocol.ValidateStandardHeaders(r.Header.Get, meta, protocol.MCPMethod(m.method), m.params); err != nil && m.id != nil {
		return true, http.StatusBadRequest, Errorf(protocol.HEADER_MISMATCH, "%s", err)
	}
	return true, 0, nil
}

// statusOf is the status of an answer: protocol versions before 2026-07-28
// answer every message that was read with 200.
func statusOf(answer json.RawMessage, version string) int {
	if !protocol.IsModernProtocol(version) {
		return http.StatusOK
	}
	var r struct {
		Error *Error `json:"error"`
	}
	if json.Unmarshal(answer, &r) != nil || r.Error == nil {
		return http.StatusOK
	}
	switch r.Error.Code {
	case CodeMethodNotFound:
		return http.StatusNotFound
	case CodeInvalidParams, CodeInvalidRequest, CodeParse, protocol.UNSUPPORTED_PROTOCOL_VERSION:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// worthStreaming reports whether a call carries a progress token, or may take so
// long that a silent connection would be given up on the way.
func (s *Server) worthStreaming(m message) bool {
	c, fault := parseCall(m)
	return fault == nil && (c.token != nil || s.slow[c.name])
}

// stream answers a call with events: progress notifications, then the answer.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, version string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()
	var mu sync.Mutex
	send := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.SetWriteDeadline(time.Now().Add(s.answer)) // a client that reads no more ends the call
		_, _ = fmt.Fprintf(w, format, args...)
		_ = out.Flush()
		_ = out.SetWriteDeadline(time.Time{})
	}
	event := func(m json.RawMessage) { send("event: message\ndata: %s\n\n", m) }
	stop := every(r.Context(), pingInterval, func() { send(": ping\n\n") })
	answer := newPeer(s, version, event).answer(r.Context(), body)
	stop()
	if answer != nil && r.Context().Err() == nil {
		event(answer)
	}
}

// every calls fn at an interval until the returned function, which waits for a
// call that is under way, is called or ctx is done.
func every(ctx context.Context, interval time.Duration, fn func()) (stop func()) {
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
				fn()
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// writeFault answers with a JSON-RPC error and an HTTP status.
func writeFault(w http.ResponseWriter, status int, id json.RawMessage, fault *Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encodeResponse(id, nil, fault), '\n'))
}
