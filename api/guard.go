package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"codesage/trace"
)

const clientKey = "codesage.client"

// who is the caller of a request.
type who struct {
	addr string
	may  Permission
	by   string // "api key", "read key", "log-in"; empty = by address
}

// know notes who the caller is, for the checks and log lines that follow.
func know(c *gin.Context, w who) {
	c.Set(clientKey, w)
	origin := trace.Origin{Request: requestID(c), By: w.by, Client: w.addr}
	c.Request = c.Request.WithContext(trace.WithOrigin(c.Request.Context(), origin))
}

func client(c *gin.Context) who {
	w, _ := c.Get(clientKey)
	known, _ := w.(who)
	return known
}

// guard is the first check of every request: 403 for a host, a client or an
// origin that may not ask.
func (s *server) guard(c *gin.Context) {
	addr := s.address(c.Request)
	know(c, who{addr: addr.String()})
	r := c.Request
	signed := strings.HasPrefix(r.URL.Path, "/api/v1/webhooks/")
	probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
	switch {
	case !signed && !probe && !s.allowedHost(r.Host):
		s.refuse(c, http.StatusForbidden, "Host '"+bounded(r.Host)+"' is not allowed")
	case !signed && s.Access.Key == "" && !addr.IsLoopback():
		s.refuse(c, http.StatusForbidden, "Only local clients are allowed when no API key is configured")
	case !s.allowedOrigin(c):
		s.refuse(c, http.StatusForbidden, "Origin '"+bounded(r.Header.Get("Origin"))+"' is not allowed")
	case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
		c.Header("Access-Control-Allow-Methods", "GET, POST, DELETE")
		c.Header("Access-Control-Allow-Headers", "Content-Type, X-API-Key, Authorization, X-Request-ID, Traceparent, Tracestate, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		c.Header("Access-Control-Max-Age", "600")
		c.AbortWithStatus(http.StatusNoContent)
	default:
		c.Next()
	}
}

// address is the client's: the peer's, or what proxies in TRUSTED_PROXIES say
// of it. The last address of X-Forwarded-For that is no trusted proxy counts; the
// zero one, which is not local, when that can't be read.
func (s *server) address(r *http.Request) netip.Addr {
	addr := peer(r)
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(forwarded) {
		hop = strings.TrimSpace(hop)
		if hop == "" || !s.trusted(addr) {
			break
		}
		next, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, _ := netip.ParseAddrPort(hop) // as some proxies tell it
			next = withPort.Addr()
		}
		addr = next.Unmap().WithZone("")
	}
	return addr
}

// peer is the address that the connection comes from; the zero one when there is
// none.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

func (s *server) trusted(addr netip.Addr) bool {
	return slices.ContainsFunc(s.Access.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// allowedHost reports whether a Host header is loopback or in ALLOWED_HOSTS,
// with or without its port. This is what stops DNS rebinding.
func (s *server) allowedHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(strings.ToLower(host), "[]"), ".")
	if host == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap().IsLoopback() {
		return true
	}
	return host != "" && slices.ContainsFunc(s.Access.AllowedHosts, func(allowed string) bool {
		return strings.EqualFold(strings.Trim(allowed, "[]"), host) || strings.EqualFold(allowed, hostport)
	})
}

// allowedOrigin reports whether the page that asks, if one does, is the
// server's own or in CORS_ORIGINS; those get their headers here.
func (s *server) allowedOrigin(c *gin.Context) bool {
	origins := c.Request.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin := origins[0]
	if len(origins) > 1 || origin == "" {
		return false
	}
	if ownOrigin(c.Request) {
		return true
	}
	if !slices.ContainsFunc(s.Access.CORSOrigins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) }) {
		return false
	}
	c.Header("Access-Control-Allow-Origin", origin)
	c.Header("Access-Control-Expose-Headers", "X-Request-ID, Retry-After")
	c.Header("Vary", "Origin")
	return true
}

// ownOrigin reports whether a request says that it comes from a page of this
// server.
func ownOrigin(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// bounded cuts a header's value for an error text.
func bounded(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
