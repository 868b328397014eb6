// Package sessions is the toolset that works on sessions, the repositories as
// an agent on a checkout names them: ranked text search, files, references and
// indexing, one file for each tool. Every result is Markdown text, and every
// refusal carries the JSON-RPC code of the contract.
package sessions

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/query"
	"codesage/store"
	"codesage/tools"
)

// Name is the name of the set.
const Name = "sessions"

// textIndex is what the tools need of local.Index.
type textIndex interface {
	ChunkFields() query.ChunkFields
	SearchChunks(ctx context.Context, s codesage.Snapshot, q query.Query, k int) (hits []search.ChunkHit, total int, err error)
	SearchLiteral(ctx context.Context, s codesage.Snapshot, text string, k int,
		load func(ctx context.Context, path string) (body string, ok bool, err error)) (hits []search.ChunkHit, total int, err error)
	Candidates(ctx context.Context, s codesage.Snapshot, q index.TriQuery) (paths map[string]struct{}, all bool, err error)
	Size(ctx context.Context, s codesage.Snapshot) (bytes int64)
}

// Deps is what the tools work with.
type Deps struct {
	Catalog *catalog.Catalog
	Store   store.Store
	Index   textIndex

	// Glob compiles a pattern of the contract. Its error says what is wrong, and
	// where, without repeating the pattern.
	Glob func(pattern string) (match func(path string) bool, err error)

	// Schema returns the version of the form in which a session is stored. Nil
	// when every session has the current one.
	Schema func(codesage.Repository) int

	IndexDir string // folder of the search index; it is shown

	Name     string // that MCP clients see; empty = codesage
	Version  string // that MCP clients see
	Protocol string // version of MCP that a client is taken to speak that doesn't say; empty leaves the line out
	Settings Settings

	// Wait is how long a call waits for a run; 0 = 290 s, less than the bridge.
	Wait time.Duration

	// AnswerTime is how long a call waits for the store in each of its steps, of
	// which waiting for a run has many; 0 = 25 s, which other calls have in all.
	AnswerTime time.Duration

	Log *slog.Logger     // nil = nothing is logged
	Now func() time.Time // nil = time.Now
}

// Settings are values of the configuration that get_config shows.
type Settings struct {
	LogLevel       string
	MaxFileBytes   int64    // of a folder's file
	DefaultExclude []string // patterns that hold when none are given
	Concurrency    int      // runs at the same time
	Timeout        time.Duration
}

// Result is what every tool of the set answers.
type Result struct {
	Text string `json:"text"` // Markdown
}

// set holds what the tools share.
type set struct{ Deps }

const (
	defaultWait       = 290 * time.Second
	defaultAnswerTime = 25 * time.Second
)

// newSet fills in what is left out.
func newSet(d Deps) *set {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Wait <= 0 {
		d.Wait = defaultWait
	}
	if d.AnswerTime <= 0 {
		d.AnswerTime = defaultAnswerTime
	}
	return &set{d}
}

// New returns the set, its tools in the order in which clients list them.
func New(d Deps) tools.Set {
	s := newSet(d)
	return tools.Set{Name: Name, Tools: []tools.Tool{
		tool(searchCode, s.searchCode),
		tool(listSessions, s.listSessions),
		tool(getSessionInfo, s.getSessionInfo),
		tool(indexRepository, s.indexRepository),
		tool(getServerInfo, s.getServerInfo),
		tool(getConfig, s.getConfig),
		tool(listDir, s.listDir),
		tool(readFile, s.readFile),
		tool(deleteSession, s.deleteSession),
		tool(findFile, s.findFile),
		tool(findReferences, s.findReferences),
		tool(previewChunk, s.previewChunk),
		tool(reindexSession, s.reindexSession),
		tool(upgradeSession, s.upgradeSession),
	}}
}

// step ends the context of a step in time, so that a call that may wait for a run
// does not wait for a store that hangs.
func (s *set) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.AnswerTime)
}

// Specs returns what clients see of the fourteen tools, for the bridge.
func Specs() []tools.Spec {
	list := New(Deps{}).Tools
	specs := make([]tools.Spec, len(list))
	for i, t := range list {
		specs[i] = t.Spec
	}
	return specs
}

// tool makes a tool of a function that answers with text, whose last line is
// not ended.
func tool(spec tools.Spec, call func(context.Context, tools.Arguments) (string, error)) tools.Tool {
	return tools.Tool{Spec: spec, Call: func(ctx context.Context, a tools.Arguments) (any, error) {
		text, err := call(ctx, a)
		if err != nil {
			return nil, plain(err)
		}
		return Result{strings.TrimRight(text, "\n")}, nil
	}}
}

// sessionField is the argument that names a session.
func sessionField() tools.Field {
	return tools.Field{Name: "session", Type: tools.String, Required: true,
		Description: "Session ID, as list_sessions shows it", Pattern: `^[A-Za-z0-9_-]{1,64}$`}
}
