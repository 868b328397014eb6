package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of one stdio connection.
const (
	MaxMessageBytes = 16 << 20 // of one line; a longer one is answered with an error and skipped
	maxCalls        = 8        // worked on at once
	maxWaiting      = 64       // accepted and not answered
	maxWaitingBytes = 64 << 20 // of their messages
	drainTime       = 30 * time.Second
	stuckTime       = 2 * time.Second // after which nobody waits for a client that reads nothing
)

// ServeStdio answers newline-delimited messages until in ends or ctx is done,
// which both are a normal end. Calls run beside each other; everything else is
// answered in the order in which it came. When in has ended, calls that are
// under way have half a minute to finish. Nothing but JSON-RPC is written to
// out. A failed write ends the connection with its error; a write that blocks is
// left behind when ctx is done or the half minute is over.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &lineWriter{out: out, failed: cancel}
	c := &conn{peer: newPeer(s, "", w.write), out: w, slots: make(chan struct{}, maxCalls)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.serve(ctx, in)
		c.drain(cancel)
	}()
	select {
	case <-ended:
		return w.err()
	case <-ctx.Done():
	}
	stuck := time.NewTimer(stuckTime)
	defer stuck.Stop()
	select {
	case <-ended:
	case <-stuck.C:
	}
	return w.err()
}

// serve takes lines until in ends or ctx is done.
func (c *conn) serve(ctx context.Context, in io.Reader) {
	lines := readLines(ctx, in)
	for {
		select {
		case <-ctx.Done():
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			c.take(ctx, line)
		}
	}
}

// conn is one stdio connection.
type conn struct {
	*peer
	out   *lineWriter
	slots chan struct{}
	calls sync.WaitGroup

	waitMu       sync.Mutex
	waiting      int
	waitingBytes int
}

// take answers one line, at once or in a goroutine of its own.
func (c *conn) take(ctx context.Context, line line) {
	if line.tooLong {
		c.out.write(encodeResponse(nil, nil, Errorf(CodeInvalidRequest, "Invalid request: a message has at most %d bytes", MaxMessageBytes)))
		return
	}
	raw := bytes.TrimSpace(line.text)
	if len(raw) == 0 {
		return
	}
	m, fault := parseMessage(raw)
	if !isBatch(raw) && (fault != nil || m.id == nil || !heavy(m.method)) {
		c.out.write(c.respond(ctx, m, fault))
		return
	}
	if !c.admit(len(raw)) {
		c.out.write(encodeResponse(m.id, nil, Errorf(CodeBusy, "Too many requests are under way; wait for an answer and try again")))
		return
	}
	answer := func() json.RawMessage { return c.answer(ctx, raw) }
	if !isBatch(raw) { // registered here, so that a cancellation on the next line finds it
		registered, done := c.begin(ctx, m.id)
		answer = func() json.RawMessage { defer done(); return c.finish(registered, m) }
	}
	c.calls.Go(func() {
		defer c.release(len(raw))
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		c.out.write(answer())
	})
}

// admit accepts a message of n bytes unless too much is waiting.
func (c *conn) admit(n int) bool {
	c.waitMu.Lock()
	defer c.waitMu.Unlock()
	if c.waiting >= maxWaiting || c.waiting > 0 && c.waitingBytes+n > maxWaitingBytes {
		return false
	}
	c.waiting++
	c.waitingBytes += n
	return true
}

func (c *conn) release(n int) {
	c.waitMu.Lock()
	defer c.waitMu.Unlock()
	c.waiting--
	c.waitingBytes -= n
}

// drain waits for the calls that are under way, and cancels them when the
// connection was cancelled or their time is over.
func (c *conn) drain(cancel context.CancelCauseFunc) {
	late := time.AfterFunc(drainTime, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	c.calls.Wait()
}

// line is one line of input, without its line feed.
type line struct {
	text    []byte
	tooLong bool // text is missing
}

// readLines reads lines until in ends or ctx is done. A read that blocks keeps
// its goroutine until in is closed, which the end of the process does.
func readLines(ctx context.Context, in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, err := readLine(r)
			if len(l.text) > 0 || l.tooLong {
				select {
				case lines <- l:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// readLine reads to the next line feed and holds at most MaxMessageBytes of it.
func readLine(r *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		if len(l.text) > MaxMessageBytes+1 {
			l = line{tooLong: true}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

// lineWriter writes whole lines, one at a time.
type lineWriter struct {
	mu     sync.Mutex
	out    io.Writer
	failed context.CancelCauseFunc
	first  atomic.Pointer[error] // read while a write may block
}

// write sends one message; an empty one is nothing. After a failure nothing
// more is written.
func (w *lineWriter) write(message json.RawMessage) {
	if len(message) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first.Load() != nil {
		return
	}
	if _, err := w.out.Write(append(message, '\n')); err != nil {
		w.first.Store(&err)
		w.failed(err)
	}
}

func (w *lineWriter) err() error {
	if err := w.first.Load(); err != nil {
		return *err
	}
	return nil
}
