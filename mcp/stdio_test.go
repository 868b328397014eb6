package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// session is a client whose lines are sent one by one.
type session struct {
	t    *testing.T
	in   *io.PipeWriter
	out  chan string
	done chan error
}

func startSession(t *testing.T, b Backend) *session {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{t, inW, make(chan string, 1000), make(chan error, 1)}
	var readers sync.WaitGroup
	readers.Go(func() {
		defer close(s.out)
		data, _ := io.ReadAll(teeLines{outR, s.out})
		_ = data
	})
	go func() {
		err := newTestServer(b).ServeStdio(t.Context(), inR, outW)
		outW.Close()
		s.done <- err
	}()
	t.Cleanup(func() { inW.Close(); readers.Wait() })
	return s
}

// teeLines passes each line of a reader to a channel.
type teeLines struct {
	io.Reader
	to chan<- string
}

func (t teeLines) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.to <- strings.TrimSuffix(string(p[:n]), "\n") // the server writes whole lines
	}
	return n, err
}

func (s *session) send(line string) {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("send: %v", err)
	}
}

func TestACancelledCallGetsNoAnswer(t *testing.T) {
	t.Parallel()
	b := echo{started: make(chan string, 1), release: make(chan struct{})}
	s := startSession(t, b)
	s.send(callLine(`"a"`, "wait", "{}"))
	<-b.started
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"no more"}}`)
	s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	s.in.Close()
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range s.out {
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{`{"jsonrpc":"2.0","id":1,"result":{}}`}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// Slow calls don't hold others up, and the end of input waits for them.
func TestCallsRunBesideEachOtherAndAreFinished(t *testing.T) {
	t.Parallel()
	b := echo{started: make(chan string, 1), release: make(chan struct{})}
	s := startSession(t, b)
	s.send(callLine("1", "wait", "{}"))
	<-b.started
	s.send(callLine("2", "zeta", "{}"))
	if got := <-s.out; !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,`) {
		t.Errorf("first answer: %s", got)
	}
	s.in.Close()
	close(b.release)
	if got := <-s.out; !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,`) {
		t.Errorf("second answer: %s", got)
	}
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
}

func TestTooManyCallsAreRefused(t *testing.T) {
	t.Parallel()
	b := echo{started: make(chan string, maxWaiting), release: make(chan struct{})}
	s := startSession(t, b)
	for i := range maxWaiting + 1 {
		s.send(callLine(fmt.Sprint(i), "wait", "{}"))
	}
	got := <-s.out
	want := failed(fmt.Sprint(maxWaiting), CodeBusy, "Too many requests are under way; wait for an answer and try again")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := <-s.out; got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
		t.Errorf("ping while busy: %s", got)
	}
	close(b.release)
}

// A line beyond the bound costs its bound of memory at most, and the next line
// is read.
func TestATooLongLineIsSkipped(t *testing.T) {
	t.Parallel()
	long := io.LimitReader(repeat('x'), MaxMessageBytes+100)
	in := io.MultiReader(long, strings.NewReader("\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	var out bytes.Buffer
	if err := newTestServer(echo{}).ServeStdio(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	want := failed("null", -32600, fmt.Sprintf("Invalid request: a message has at most %d bytes", MaxMessageBytes)) + "\n" +
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAFailedWriteEndsTheConnection(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	defer inW.Close()
	done := make(chan error, 1)
	go func() { done <- newTestServer(echo{}).ServeStdio(t.Context(), inR, brokenPipe{}) }()
	_, _ = io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}

func TestCancelledContextEndsTheConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	defer inW.Close()
	done := make(chan error, 1)
	go func() { done <- newTestServer(echo{}).ServeStdio(ctx, inR, io.Discard) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("got %v, want a normal end", err)
	}
}

// stuckPipe is the pipe to a client that reads nothing.
type stuckPipe struct {
	begun chan<- struct{}
	until <-chan struct{}
}

func (p stuckPipe) Write([]byte) (int, error) {
	p.begun <- struct{}{}
	<-p.until
	return 0, io.ErrClosedPipe
}

func TestAClientThatReadsNothingHoldsUpNoEnd(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"an answer of the layer":   `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"an answer of the backend": callLine("1", "echo", "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			in, to := io.Pipe()
			defer to.Close()
			begun, until := make(chan struct{}, 1), make(chan struct{})
			defer close(until)
			done := make(chan error, 1)
			go func() { done <- newTestServer(echo{}).ServeStdio(ctx, in, stuckPipe{begun, until}) }()
			if _, err := io.WriteString(to, request+"\n"); err != nil {
				t.Fatal(err)
			}
			<-begun
			cancel()
			if err := <-done; err != nil {
				t.Errorf("got %v, want a normal end", err)
			}
		})
	}
}
