// Package gittest plays git hosts for tests: a smart-HTTP git server over TLS
// on a loopback port, run by the git program's own http-backend, which answers
// for every host name that repositories were created under, and a REST API for
// api.github.com. Names are mapped to it by Resolve and Dial; its certificates
// are signed by a CA of its own. Nothing leaves the machine.
package gittest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Server plays any number of git hosts. It is safe for concurrent use.
type Server struct {
	tb      testing.TB
	root    string // <root>/<host>/<path>.git
	backend string
	http    *httptest.Server
	ca      *authority

	mu        sync.Mutex
	handlers  map[string]http.Handler
	addresses map[string][][]netip.Addr // what each look-up of a name answers; the last one stays
	silent    map[string]net.Listener   // hosts that accept and say nothing
	wrong     map[string]bool           // hosts whose certificate is for another name
	tokens    map[string]string         // repositories that ask for a token
	dialled   []string
	lookups   map[string]int
	requests  []Request
}

// Request is a request as a host saw it.
type Request struct {
	Host, Path, Authorization string
}

// New starts a server that stops when the test ends. It skips the test when
// there is no git program.
func New(tb testing.TB) *Server {
	tb.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		tb.Skip("git is not installed")
	}
	s := &Server{
		tb: tb, root: tb.TempDir(), ca: newAuthority(tb),
		backend:  filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		handlers: map[string]http.Handler{}, addresses: map[string][][]netip.Addr{},
		silent: map[string]net.Listener{}, wrong: map[string]bool{}, tokens: map[string]string{}, lookups: map[string]int{},
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ErrorLog = log.New(discard{}, "", 0)
	s.http.TLS = &tls.Config{GetCertificate: s.certificate}
	s.http.StartTLS()
	tb.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// RootCAs is the pool that trusts the server and nothing else.
func (s *Server) RootCAs() *x509.CertPool { return s.ca.pool }

// CertificatePEM is the certificate in RootCAs, for SSL_CERT_FILE.
func (s *Server) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.ca.cert.Raw})
}

// Proxy starts an HTTP proxy that connects to this server whatever host it is
// asked for, and returns its URL. It stops when the test ends.
func (s *Server) Proxy() string {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		to, err := net.Dial("tcp", s.http.Listener.Addr().String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
		}()
		_, _ = io.Copy(from, to)
	}))
	s.tb.Cleanup(proxy.Close)
	return proxy.URL
}

// Resolve answers for every host name: with the addresses that were set, else
// with a public one of its own.
func (s *Server) Resolve(_ context.Context, host string) ([]netip.Addr, error) {
	host = strings.TrimSuffix(host, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookups[host]++
	answers, ok := s.addresses[host]
	if !ok {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	if len(answers) > 1 {
		s.addresses[host] = answers[1:]
	}
	if len(answers[0]) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return answers[0], nil
}

// SetAddresses sets what the look-ups of a host name answer, one after the
// other; the last answer stays. An empty answer means that the name is unknown.
func (s *Server) SetAddresses(host string, answers ...[]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses[host] = nil
	for _, list := range answers {
		var addrs []netip.Addr
		for _, a := range list {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		s.addresses[host] = append(s.addresses[host], addrs)
	}
}

// Dial connects to the server whatever the address is, and records it.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dialled = append(s.dialled, address)
	to := s.http.Listener.Addr().String()
	host, _, _ := net.SplitHostPort(address)
	if l := s.silent[host]; l != nil {
		to = l.Addr().String()
	}
	s.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, to)
}

// Dialled returns the addresses that were dialled so far.
func (s *Server) Dialled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.dialled...)
}

// Lookups returns how often a name was looked up.
func (s *Server) Lookups(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookups[host]
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Handle lets a handler answer for a host, instead of the git server or the
// API; nil undoes it.
func (s *Server) Handle(host string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[host] = h
}

// WrongCertificate makes a host show a certificate for another name.
func (s *Server) WrongCertificate(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong[host] = true
}

// Silent makes a host accept connections and never say a word, so that TLS
// does not come about. address is what the host resolves to from now on.
func (s *Server) Silent(host, address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = l.Close() })
	s.SetAddresses(host, []string{address})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[address] = l
}

// certificate returns the certificate for the name that a client asks for.
func (s *Server) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	wrong := s.wrong[hello.ServerName]
	s.mu.Unlock()
	if wrong {
		return s.ca.issue("elsewhere.example")
	}
	return s.ca.issue(hello.ServerName)
}

// serve answers a request for any host.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{Host: host, Path: r.URL.Path, Authorization: r.Header.Get("Authorization")})
	handler := s.handlers[host]
	s.mu.Unlock()
	switch {
	case handler != nil:
		handler.ServeHTTP(w, r)
	case host == "api.github.com":
		s.serveAPI(w, r)
	default:
		s.serveGit(w, r, host)
	}
}

// Git is the git server itself, for handlers that put something before it.
func (s *Server) Git() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveGit(w, r, r.Host) })
}

// API is GitHub's REST API itself.
func (s *Server) API() http.Handler { return http.HandlerFunc(s.serveAPI) }

// serveGit runs git http-backend.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request, host string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	for _, service := range []string{"/info/refs", "/git-upload-pack"} {
		path = strings.TrimSuffix(path, service)
	}
	if token := s.token(host, strings.TrimSuffix(path, ".git")); token != "" {
		if _, password, ok := r.BasicAuth(); !ok || password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "authentication required", http.StatusUnauthorized)
			return
		}
	}
	h := &cgi.Handler{
		Path: s.backend,
		Env:  append(environment(), "GIT_PROJECT_ROOT="+filepath.Join(s.root, host), "GIT_HTTP_EXPORT_ALL=1"),
		// The token is not for the child's environment.
		InheritEnv: []string{"PATH"},
		Stderr:     discard{},
		Logger:     log.New(discard{}, "", 0),
	}
	h.ServeHTTP(w, r)
}

// token returns what a repository asks for; empty when it is public.
func (s *Server) token(host, path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[strings.ToLower(host+"/"+path)]
}

// environment keeps the machine's git configuration out of it.
func environment() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull,
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// discard is a writer of nothing.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// String names the server in failures.
func (s *Server) String() string { return fmt.Sprintf("gittest at %s", s.http.Listener.Addr()) }
