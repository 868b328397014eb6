package git

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// ErrRedirect is the cause of a refusal whose host sent the client elsewhere.
var ErrRedirect = errors.New("redirect to another host refused")

var (
	errTooManyBytes = errors.New("the host sent more bytes than allowed")
	errIdle         = errors.New("the host stopped sending")
)

// Limits of the exchange with a host that no setting changes.
const (
	tlsTimeout   = 5 * time.Second
	maxErrorBody = 64 << 10 // of an answer that is an error
	maxRefBytes  = 32 << 20 // of a list of references: some 400,000 of them
	sniffBytes   = 4 << 10  // kept of the list's start, for the capabilities
)

// peer is the connection to one host for the length of one operation: an
// http.RoundTripper that speaks https to the addresses that were checked, to
// nothing else, within limits. Every operation has its own, so that there is no
// state to share and no transport to install for the whole process. It is safe
// for concurrent use. The owner calls close.
type peer struct {
	host   string // as it stands in the URL; the only one that is spoken to
	scheme string // https; http only for an API that the operator configured
	auth   string // value of the Authorization header; empty = none
	http   *http.Transport
	cancel context.CancelCauseFunc
	idle   time.Duration

	mu    sync.Mutex
	left  int64  // bytes that may still arrive
	sniff []byte // start of the newest list of references
}

// connect resolves and checks the host of a URL and returns the peer and a
// context for its requests, which ends with errIdle as cause when the host falls
// silent. limit bounds all bytes that the host may send.
func (s *Source) connect(ctx context.Context, base *url.URL, allowed func(netip.Addr) bool, limit int64) (*peer, context.Context, error) {
	dial, err := s.dialer(ctx, base, allowed)
	if err != nil {
		return nil, nil, err
	}
	p := &peer{host: base.Host, scheme: base.Scheme, left: limit, idle: s.cfg.IdleTimeout}
	p.http = &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: s.cfg.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
	if s.proxy != nil {
		p.http.Proxy = http.ProxyURL(s.proxy)
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	return p, ctx, nil
}

// dialer returns the dial function of a transport. Without a proxy it connects
// to the checked addresses whatever it is asked for. With one the proxy
// resolves the name; a name that is known here to break the rule is still
// refused.
func (s *Source) dialer(ctx context.Context, base *url.URL, allowed func(netip.Addr) bool) (func(context.Context, string, string) (net.Conn, error), error) {
	addrs, err := s.resolve(ctx, base.Hostname(), allowed)
	if s.proxy != nil && (err == nil || errors.Is(err, errUnresolved)) {
		return s.cfg.Dial, nil
	}
	if err != nil {
		return nil, err
	}
	port := base.Port()
	switch {
	case port != "":
	case base.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return s.dialAny(ctx, addrs, port)
	}, nil
}

// close ends the connections. The context of connect ends with it.
func (p *peer) close() {
	p.cancel(nil)
	p.http.CloseIdleConnections()
}

// RoundTrip sends a request to the peer's host. A request for another host, or
// an answer that leads to one, is ErrRedirect.
func (p *peer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != p.host || req.URL.Scheme != p.scheme {
		return nil, fmt.Errorf("%w: %s", ErrRedirect, req.URL.Host)
	}
	if p.auth != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", p.auth)
	}
	watch := time.AfterFunc(p.idle, func() { p.cancel(errIdle) })
	res, err := p.http.RoundTrip(req)
	if err != nil {
		watch.Stop()
		return nil, err
	}
	body := &countedBody{ReadCloser: res.Body, peer: p, watch: watch}
	switch {
	case res.StatusCode >= http.StatusMultipleChoices:
		body.left, body.over = maxErrorBody, io.EOF
	case strings.HasSuffix(req.URL.Path, "/info/refs"):
		body.left, body.over, body.list = maxRefBytes, errTooManyBytes, true
		p.startSniff()
	default:
		body.left, body.over = math.MaxInt64, errTooManyBytes
	}
	res.Body = body
	if err := p.checkRedirect(res); err != nil {
		_ = body.Close()
		return nil, err
	}
	return res, nil
}

// checkRedirect refuses an answer that sends the client to another host, port
// or scheme.
func (p *peer) checkRedirect(res *http.Response) error {
	if res.StatusCode < 300 || res.StatusCode > 399 || res.Header.Get("Location") == "" {
		return nil
	}
	to, err := res.Location()
	if err != nil {
		return fmt.Errorf("%w: unreadable location", ErrRedirect)
	}
	if to.Host != p.host || to.Scheme != p.scheme {
		return fmt.Errorf("%w: %s", ErrRedirect, to.Host)
	}
	return nil
}

func (p *peer) startSniff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sniff = p.sniff[:0]
}

// take counts bytes that arrived and keeps the start of a list of references.
func (p *peer) take(data []byte, list bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if keep := sniffBytes - len(p.sniff); list && keep > 0 {
		p.sniff = append(p.sniff, data[:min(keep, len(data))]...)
	}
	if p.left -= int64(len(data)); p.left < 0 {
		return errTooManyBytes
	}
	return nil
}

// advertises reports whether the newest list of references offers a
// capability. go-git drops some of them, and those of a repository whose
// object names it can't read.
func (p *peer) advertises(capability string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, line, _ := bytes.Cut(p.sniff, []byte{0})
	line, _, _ = bytes.Cut(line, []byte{'\n'})
	for _, c := range bytes.Fields(line) {
		if string(c) == capability {
			return true
		}
	}
	return false
}

// countedBody is a response body under the peer's limits.
type countedBody struct {
	io.ReadCloser
	peer  *peer
	watch *time.Timer
	left  int64 // of this body; the peer has its own count
	over  error // what the reader gets when nothing is left
	list  bool  // it is a list of references
}

func (b *countedBody) Read(data []byte) (int, error) {
	if b.left == 0 {
		return 0, b.over
	}
	if int64(len(data)) > b.left {
		data = data[:b.left]
	}
	n, err := b.ReadCloser.Read(data)
	b.left -= int64(n)
	if err != nil {
		b.watch.Stop() // what follows is our own work, not the host's
	} else if n > 0 {
		b.watch.Reset(b.peer.idle)
	}
	if over := b.peer.take(data[:n], b.list); over != nil {
		return 0, over
	}
	return n, err
}

func (b *countedBody) Close() error {
	b.watch.Stop()
	return b.ReadCloser.Close()
}

// session opens go-git's smart-HTTP client over the peer. It is built for this
// one use, so no protocol is looked up in go-git's global table and no other
// one is linked in.
func (p *peer) session(path string) (transport.UploadPackSession, error) {
	client := githttp.NewClientWithOptions(&http.Client{Transport: p},
		&githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects})
	return client.NewUploadPackSession(&transport.Endpoint{Protocol: p.scheme, Host: p.host, Path: path}, nil)
}

// basicAuth is the Authorization header with which GitHub takes a token over
// git's protocol.
func basicAuth(token string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
}
