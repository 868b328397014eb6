// Package api is the HTTP side of the server: the MCP endpoints under
// /api/v1/ai, REST under /api/v1, MCP over Streamable HTTP at /mcp, events,
// health, metrics, and the pages of the dashboard. router.go has the whole route
// table.
//
// A request passes, in this order: its id, the log, recovery, the guard (403),
// the key (401), the rate limit (429), and then its handler, which checks the
// envelope (422), the tool (404) and the arguments (422).
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"codesage/catalog"
	"codesage/dashboard"
	"codesage/mcp"
	"codesage/search"
	"codesage/store"
	"codesage/tools"
	"codesage/trace"
)

// Deps is what the API needs. Store, Catalog and Toolsets must be set; everything
// else may be left zero.
type Deps struct {
	Store   store.Store
	Catalog *catalog.Catalog
	Engine  search.Engine // nil when search isn't configured

	// Toolsets are the sets that are served, "repositories" and, when it is
	// there, "sessions". Callers choose with ?toolset=; `all` is made of both.
	Toolsets []tools.Set

	// Glob compiles a pattern of POST /folders, as sessions.Deps.Glob does, so that
	// a bad one is refused at once. Nil = patterns are not checked.
	Glob func(pattern string) (match func(path string) bool, err error)

	// Redact takes what could be a user or a password out of a git URL that was
	// refused, so that the dashboard's form can show it again. Nil = it does not.
	Redact func(url string) string

	Name    string // MCP_SERVER_NAME; empty = codesage
	Version string // MCP_SERVER_VERSION; empty = 1.0.0

	Access Access
	Limits Limits

	// Redis keeps the rate limits, so that they hold across processes. Nil keeps
	// them in this process.
	Redis redis.UniversalClient

	// Checks are asked by /readyz beside the store ("store") and the engine
	// ("search"): "queue", for instance.
	Checks map[string]func(context.Context) error

	// Registry gets the metrics of the API and is what /metrics shows. Nil makes
	// one with the metrics of the process.
	Registry *prometheus.Registry

	// Tracer makes each request a trace; nil = none.
	Tracer *trace.Tracer

	// Monitoring is mounted at /monitoring, read-only and behind the key.
	// Webhooks gets POST /api/v1/webhooks/{github,gitlab,bitbucket}; it checks
	// signatures itself.
	Monitoring, Webhooks http.Handler

	// Folders says that local folders may be indexed, which the dashboard then
	// offers.
	Folders bool

	// Closing, when closed, ends event streams, which http.Server.Shutdown would
	// wait for. Nil = they end with their requests.
	Closing <-chan struct{}

	// RequestTime is how long a request may take whose answer is no stream, and
	// the call of a tool that isn't slow. 0 = 25 s, less than the bridge waits.
	RequestTime time.Duration

	// BodyTime is how long the body of a request may take to arrive. 0 = 30 s.
	BodyTime time.Duration

	// AnswerTime is how long a client may take to read an answer that is no stream,
	// once it is there, and each message of /mcp. 0 = 1 min.
	AnswerTime time.Duration

	Log *slog.Logger     // nil = nothing is logged
	Now func() time.Time // nil = time.Now
}

// Access says who may ask.
type Access struct {
	Key            string // CODESAGE_API_KEY; empty = local clients only, without a key
	ReadKey        string // CODESAGE_READ_KEY
	AllowedHosts   []string
	CORSOrigins    []string
	TrustedProxies []netip.Prefix
}

// Limits are requests in 60 s for each client address. 0 = no limit.
type Limits struct {
	AI      int // RATE_LIMIT_AI
	Default int // RATE_LIMIT_DEFAULT
}

// Permission is what a caller may do.
type Permission int

// The permissions, each holding those before it.
const (
	MayNothing Permission = iota
	MayRead
	MayWrite
)

// server holds what the handlers share.
type server struct {
	Deps
	sets    map[string]toolset
	keys    keys
	limiter *limiter
	metrics *metrics
	hub     *hub
	mcp     map[string]*mcp.Server

	pages    *dashboard.Dashboard
	sessions *sessions
}

// New returns the handler of all routes. It starts nothing that outlives its
// requests.
func New(d Deps) http.Handler {
	if d.Name == "" {
		d.Name = "codesage"
	}
	if d.Version == "" {
		d.Version = "1.0.0"
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.RequestTime <= 0 {
		d.RequestTime = requestTime
	}
	if d.BodyTime <= 0 {
		d.BodyTime = bodyTime
	}
	if d.AnswerTime <= 0 {
		d.AnswerTime = answerTime
	}
	s := &server{Deps: d, keys: newKeys(d.Access), limiter: newLimiter(d), metrics: newMetrics(d.Registry)}
	s.sets = newToolsets(d.Toolsets)
	s.mcp = s.newMCP()
	s.hub = newHub(d, pollInterval)
	s.pages, s.sessions = dashboard.New(tools.OneLine), newSessions(d.Access, d.Now)
	gin.SetMode(gin.ReleaseMode)
	return s.routes()
}
