package api

import (
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// A client that reads no more ends its stream, and a reader's stream is written
// to as long as it goes on.
func TestAStreamEndsWhenItsClientReadsNoMore(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		name     string
		patience time.Duration
		events   int
		reads    bool
	}{
		{"a client that reads", time.Minute, 20, true},
		{"a client that reads no more", 50 * time.Millisecond, 1_000_000, false},
	} {
		ended := make(chan bool, 1)
		engine := gin.New()
		engine.GET("/", func(c *gin.Context) {
			out := newStream(c)
			out.patience = tc.patience
			for range tc.events {
				if c.Request.Context().Err() != nil {
					break
				}
				out.event("x", large)
			}
			ended <- c.Request.Context().Err() != nil
		})
		server := httptest.NewServer(engine)
		t.Cleanup(server.Close)
		client, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() }) // before the server, which waits for it
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if tc.reads {
			go func() { _, _ = io.Copy(io.Discard, client) }()
		}
		select {
		case early := <-ended:
			if early == tc.reads {
				t.Errorf("%s: ended early: %v", tc.name, early)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: the stream goes on", tc.name)
		}
	}
}
