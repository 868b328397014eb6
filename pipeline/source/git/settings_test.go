package git

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"codesage/pipeline/source/git/gittest"
)

// proxy is a forward proxy that connects to one address whatever it is asked
// for, and keeps what it was asked for.
type proxy struct {
	to func() (net.Conn, error)

	mu    sync.Mutex
	asked []string
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	server, err := p.to()
	if err != nil {
		http.Error(w, "no", http.StatusBadGateway)
		return
	}
	defer func() { _ = server.Close() }()
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	var copies sync.WaitGroup
	copies.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	copies.Wait()
}

func TestConfiguredProxyIsUsed(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("code.example.org", "o/r")
	want := repo.Commit("main", gittest.Files(map[string]string{"a": "a"}))
	handler := &proxy{to: func() (net.Conn, error) { return server.Dial(context.Background(), "tcp", "93.184.216.34:443") }}
	forward := httptest.NewServer(handler)
	t.Cleanup(forward.Close)

	cfg := config(t, server)
	cfg.Proxy = forward.URL
	cfg.Dial = new(net.Dialer).DialContext
	s := open(t, cfg)
	server.SetAddresses("code.example.org", []string{}) // the proxy knows the name
	if got := fetch(t, s, repo.URL(), "").Commit(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	server.SetAddresses("inside.example.org", []string{"10.0.0.5"})
	_, message := ask(t, s, "https://inside.example.org/o/r", "")
	if want := "Can't index inside.example.org/o/r: inside.example.org resolves to a private or loopback address."; message != want {
		t.Errorf("got %s, want %s", message, want)
	}
	handler.mu.Lock()
	defer handler.mu.Unlock()
	for _, asked := range handler.asked {
		if asked != "CONNECT code.example.org:443" {
			t.Errorf("the proxy was asked %s", asked)
		}
	}
	if len(handler.asked) == 0 {
		t.Error("the proxy was not asked")
	}
}

func TestConfiguredAPIMayBePrivate(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	want := server.Repo("github.com", "octo/demo").Commit("main", gittest.Files(map[string]string{"a": "a"}))
	server.SetAddresses("api.corp", []string{"10.0.0.7"})
	server.Handle("api.corp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		server.API().ServeHTTP(w, r)
	}))
	cfg := config(t, server)
	cfg.GitHubAPIURL = "https://api.corp:8443/api/v3/"
	head, err := open(t, cfg).Preflight(context.Background(), parse(t, "https://github.com/octo/demo", ""))
	if err != nil || head.Commit != want {
		t.Errorf("%+v, %v", head, err)
	}
	if got := server.Dialled(); len(got) == 0 || got[0] != "10.0.0.7:8443" {
		t.Errorf("dialled %v", got)
	}
}

// TestNoOtherProtocolIsLinked keeps the transports of go-git that start
// programs, read files or use ssh out of the program.
func TestNoOtherProtocolIsLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "codesage/pipeline/source/git").Output()
	if err != nil {
		t.Skip("go list does not work here")
	}
	for _, pkg := range strings.Fields(string(out)) {
		for _, bad := range []string{"transport/ssh", "transport/file", "transport/git", "transport/client", "go-git/v5", "golang.org/x/crypto/ssh"} {
			if strings.HasSuffix(pkg, bad) {
				t.Errorf("%s is linked in", pkg)
			}
		}
	}
}
