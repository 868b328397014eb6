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
		connection, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
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
	read, write := io.Pipe()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/api/v1/events", read)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(write, "a body that nobody asked for")
		_ = write.Close()
	}()
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
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
