package webhook

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"codesage/catalog"
)

// TestSlowBodiesKeepNobodyOut has one address send forty bodies that never come,
// and another a genuine event.
func TestSlowBodiesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	h := New(secret, &desk{result: catalog.PushStarted}, slog.New(slog.DiscardHandler))
	mux := http.NewServeMux()
	mux.Handle("/slow/", h)
	mux.HandleFunc("/other/", func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.7:1"
		h.ServeHTTP(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ended := make(chan error, 40)
	for range 40 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		fmt.Fprintf(conn, "POST /slow/github HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nX-Hub-Signature-256: %s\r\n\r\n{", sign("wrong", ""))
		go func() {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, err := io.ReadFull(conn, make([]byte, 1))
			ended <- err
		}()
	}
	began := time.Now()
	post := func(path string) int {
		r, err := http.NewRequest(http.MethodPost, server.URL+path, strings.NewReader(githubPush))
		if err != nil {
			t.Fatal(err)
		}
		for i, headers := 0, proof("github", "push", githubPush); i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if code, took := post("/other/github"), time.Since(began); code != http.StatusAccepted || took > 2*time.Second {
		t.Errorf("another address: %d after %v", code, took)
	}
	for range 40 {
		if err := <-ended; err != nil {
			t.Errorf("a slow body was not answered: %v", err)
		}
	}
	if took := time.Since(began); took > 3*readTime {
		t.Errorf("the slow bodies took %v", took)
	}
}

func TestManyWrongSignaturesAreRefusedUnread(t *testing.T) {
	t.Parallel()
	h := New(secret, &desk{result: catalog.PushStarted}, slog.New(slog.DiscardHandler))
	ask := func(addr, host string, headers ...string) (code int, read bool) {
		body := &noted{Reader: strings.NewReader(githubPush)}
		r := httptest.NewRequest(http.MethodPost, "/api/v1/webhooks/"+host, body)
		r.RemoteAddr = addr
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, body.read
	}
	wrong := []string{"X-GitHub-Event", "push", "X-Hub-Signature-256", sign("wrong", githubPush)}
	for i := range maxWrong {
		if code, _ := ask(fmt.Sprintf("[2001:db8::%x]:1", i+1), "github", wrong...); code != http.StatusUnauthorized {
			t.Fatalf("attempt %d: %d", i, code)
		}
	}
	if code, read := ask("[2001:db8::ffff]:1", "github", wrong...); code != http.StatusTooManyRequests || read {
		t.Errorf("after many: %d, read %v", code, read)
	}
	if code, _ := ask("[2001:db8:1::1]:1", "github", proof("github", "push", githubPush)...); code != http.StatusAccepted {
		t.Errorf("another network: %d", code)
	}
	if code, _ := ask("[2001:db8::1]:1", "gitlab", proof("gitlab", "Push Hook", gitlabPush)...); code == http.StatusTooManyRequests {
		t.Errorf("a token that is right: %d", code)
	}
}

// noted notes whether it was read.
type noted struct {
	io.Reader
	read bool
}

func (n *noted) Read(p []byte) (int, error) { n.read = true; return n.Reader.Read(p) }

func TestTheGateForgets(t *testing.T) {
	t.Parallel()
	g, now := newGate(), time.Now()
	for i := range 3 * forgetAt {
		g.refused(client(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)), now)
	}
	if len(g.clients) > forgetAt {
		t.Errorf("%d addresses are kept", len(g.clients))
	}
}
