package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to the server, which is closed when the test ends.
func (e *env) dial() net.Conn {
	e.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// TestABodyThatDoesNotArriveEndsItsRequest sends heads of requests without the
// bodies that they tell of.
func TestABodyThatDoesNotArriveEndsItsRequest(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(d *Deps) { d.BodyTime = 50 * time.Millisecond; d.Access.Key = "the key" })
	for _, head := range []string{
		"POST /api/v1/repositories HTTP/1.1\r\nX-API-Key: the key\r\n",
		"POST /api/v1/repositories HTTP/1.1\r\n", // refused before its body is read
		"POST /repositories HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n",
		"POST /mcp HTTP/1.1\r\nX-API-Key: the key\r\nContent-Type: application/json\r\n",
	} {
		connection := e.dial()
		if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(connection, "%sHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{", head)
		if _, err := io.Copy(io.Discard, connection); err != nil {
			t.Errorf("%q is still open: %v", head, err)
		}
	}
}

// TestAStreamOutlivesTheTimeOfItsBody: what bounds the body must not bound the
// answer.
func TestAStreamOutlivesTheTimeOfItsBody(t *testing.T) {
	t.Parallel()
	const bodyTime = 100 * time.Millisecond
	e := newEnv(t, func(d *Deps) { d.BodyTime = bodyTime })
	connection := e.dial()
	// In one piece, so that the body is in time.
	const body = "a body that nobody asked for"
	fmt.Fprintf(connection, "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	res, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(res.Body).ReadString('\n')
		done <- err
	}()
	select { // no condition tells that nothing happens
	case err := <-done:
		t.Errorf("the stream ended or spoke: %v", err)
	case <-time.After(3 * bodyTime):
	}
	e.addRepository("octo/demo")
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("the stream ended: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the stream is silent")
	}
}
