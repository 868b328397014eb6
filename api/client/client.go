// Package client speaks to the API over HTTP, for the bridge, the command line
// and tests. Its errors keep what the server said: see errors.go.
//
// A request carries the id of its context's origin, or a new one, and the
// context's span.
//
// A refused connection or a connect timeout is tried once more; nothing else
// is. Redirects are not followed, because the request carries a key. A Client
// is safe for concurrent use.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"codesage/trace"
)

// Config says where the server is and how to ask it.
type Config struct {
	BaseURL string // MCP_SERVER_URL, without /api/v1; a user:password@ in it is a login

	Key           string // X-API-Key
	BasicUser     string // login of a proxy in front of the server
	BasicPassword string
	AllowInsecure bool // send keys and logins over plain http to other hosts

	ConnectTimeout time.Duration // 0 = 5 s
	Timeout        time.Duration // of a request; 0 = 30 s
	SlowTimeout    time.Duration // of a call of a slow tool; 0 = 300 s
}

// Client asks one server.
type Client struct {
	base     *url.URL // without login
	key      string
	user     string
	password string
	login    bool
	timeout  time.Duration
	slow     time.Duration
	idle     time.Duration
	http     *http.Client
}

// idleTime is how long a stream of events may be silent. The server sends
// something at least every 15 s.
const idleTime = 45 * time.Second

// maxBody is how much of an answer is read.
const maxBody = 64 << 20

// New checks the configuration and returns a client. It sends nothing. The
// error is a *URLError or an *InsecureError.
func New(c Config) (*Client, error) {
	u, err := url.Parse(strings.TrimSpace(c.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, &URLError{URL: Redact(c.BaseURL)}
	}
	k := &Client{key: c.Key, user: c.BasicUser, password: c.BasicPassword, login: c.BasicUser != ""}
	if u.User != nil && !k.login {
		k.user, k.login = u.User.Username(), true
		k.password, _ = u.User.Password()
	}
	if u.Scheme == "http" && (k.key != "" || k.login || u.User != nil) && !c.AllowInsecure && !Loopback(u.Hostname()) {
		return nil, &InsecureError{Host: u.Host}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	k.base = u
	k.timeout = or(c.Timeout, 30*time.Second)
	k.slow = or(c.SlowTimeout, 300*time.Second)
	k.idle = idleTime
	k.http = newHTTPClient(or(c.ConnectTimeout, 5*time.Second))
	return k, nil
}

// newHTTPClient returns a client that follows no redirect and marks errors of
// connecting.
func newHTTPClient(connectTimeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, addr)
				if err != nil && ctx.Err() == nil {
					err = &dialError{err}
				}
				return conn, err
			},
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     90 * time.Second,
		},
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URL is the server's address without a login.
func (c *Client) URL() string { return c.base.String() }

// Loopback reports whether a host is this machine: 127.0.0.1, localhost or ::1.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (addr == netip.MustParseAddr("127.0.0.1") || addr == netip.IPv6Loopback())
}

// Redact takes the user and password out of a URL, also out of one that can't
// be parsed.
func Redact(text string) string {
	start := 0
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + len("://")
	}
	end := len(text)
	if i := strings.IndexAny(text[start:], "/?#"); i >= 0 {
		end = start + i
	}
	if at := strings.LastIndex(text[start:end], "@"); at >= 0 {
		return text[:start] + text[start+at+1:]
	}
	if at := strings.LastIndex(text, "@"); at >= end { // a password with a slash in it
		return text[:start] + text[at+1:]
	}
	return text
}

// request is one question to the server.
type request struct {
	method, path string
	query        url.Values
	body         any
	stream       bool          // take events
	protocol     string        // version of MCP; empty = not said
	timeout      time.Duration // of the whole request; 0 = none
	idle         time.Duration // between bytes of the answer; 0 = none. Not together with timeout
}

// send asks the server and returns its answer, whatever the status; the caller
// closes the body. A timeout also ends the reading of the body.
func (c *Client) send(ctx context.Context, q request) (*http.Response, error) {
	var body []byte
	if q.body != nil {
		var err error
		if body, err = encode(q.body); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	id := trace.OriginOf(ctx).Request
	if id == "" {
		id = trace.NewRequestID()
	}
	for attempt := 1; ; attempt++ {
		res, err := c.try(ctx, q, id, body)
		var dial *dialError
		switch {
		case err == nil:
			return res, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &dial) && attempt == 1:
			continue
		case errors.As(err, &dial):
			return nil, &UnreachableError{URL: c.URL(), Loopback: Loopback(c.base.Hostname()), Err: dial.err}
		}
		return nil, c.transportError(err, max(q.timeout, q.idle))
	}
}

// errTimeout is why a request of ours was cancelled.
var errTimeout = errors.New("no answer in time")

// try sends a request once.
func (c *Client) try(ctx context.Context, q request, id string, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	if d := max(q.timeout, q.idle); d > 0 {
		timer = time.AfterFunc(d, func() { cancel(errTimeout) })
	}
	end := func() {
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
	r, err := c.newRequest(ctx, q, id, body)
	if err != nil {
		end()
		return nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errTimeout) {
			err = cause
		}
		end()
		return nil, err
	}
	alive := func() {}
	if q.idle > 0 {
		alive = func() { timer.Reset(q.idle) }
	}
	res.Body = &timedBody{res.Body, ctx, alive, end}
	return res, nil
}

// newRequest makes the HTTP request with its headers.
func (c *Client) newRequest(ctx context.Context, q request, id string, body []byte) (*http.Request, error) {
	u := *c.base
	u.Path += q.path
	u.RawQuery = q.query.Encode()
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Request-ID", id)
	trace.Send(ctx, r.Header)
	r.Header.Set("Accept", "application/json")
	if q.stream {
		r.Header.Set("Accept", "text/event-stream")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.protocol != "" {
		r.Header.Set("MCP-Protocol-Version", q.protocol)
	}
	if c.key != "" {
		r.Header.Set("X-API-Key", c.key)
	}
	if c.login {
		r.SetBasicAuth(c.user, c.password)
	}
	return r, nil
}

// timedBody ends a request's timer with its body.
type timedBody struct {
	io.ReadCloser
	ctx   context.Context
	alive func() // something was read
	end   func()
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.alive()
	}
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), errTimeout) {
		err = errTimeout
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// do asks the server and decodes its JSON answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, q request, out any) error {
	if q.timeout == 0 {
		q.timeout = c.timeout
	}
	res, err := c.send(ctx, q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := c.read(ctx, res, q.timeout)
	if err != nil {
		return err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return newStatusError(res, body)
	}
	if out == nil {
		return nil
	}
	return decodeObject(body, out)
}

// read reads an answer's body.
func (c *Client) read(ctx context.Context, res *http.Response, timeout time.Duration) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, c.transportError(err, timeout)
	case len(body) > maxBody:
		return nil, &UnexpectedError{}
	}
	return body, nil
}

// decodeObject decodes a JSON object; anything else is an *UnexpectedError.
func decodeObject(body []byte, out any) error {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '{' {
		return &UnexpectedError{}
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &UnexpectedError{Err: err}
	}
	return nil
}

// encode returns v as JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
