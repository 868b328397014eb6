package api

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/search"
	"codesage/store"
	"codesage/store/sqlite"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
)

// quietQueue is a queue that no worker reads.
type quietQueue struct{}

func (quietQueue) Enqueue(context.Context, codesage.Run) error  { return nil }
func (quietQueue) Cancel(context.Context, codesage.RunID) error { return nil }

// nameEngine is an engine that knows some names.
type nameEngine struct {
	search.Engine
	names []string
	err   error
}

func (e *nameEngine) Ping(context.Context) error { return e.err }

func (e *nameEngine) Languages(context.Context, []codesage.Snapshot) ([]string, error) {
	return nil, e.err
}

func (e *nameEngine) Suggest(_ context.Context, text string, scope []codesage.Snapshot, limit int) ([]string, error) {
	var found []string
	for _, n := range e.names {
		if strings.Contains(strings.ToLower(n), text) && len(found) < limit && len(scope) > 0 {
			found = append(found, n)
		}
	}
	return found, e.err
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) forward(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// env is a server on a loopback port with a real store.
type env struct {
	t      *testing.T
	url    string
	store  *sqlite.Store
	engine *nameEngine
	clock  *clock
	log    *syncBuffer
	routes http.Handler
}

// newEnv starts a server; set changes what it is made of.
func newEnv(t *testing.T, set func(*Deps)) *env {
	t.Helper()
	e := &env{
		t: t, store: sqlitetest.Open(t), engine: &nameEngine{}, log: &syncBuffer{},
		clock: &clock{now: time.Date(2026, 10, 26, 14, 0, 0, 0, time.UTC)},
	}
	log := slog.New(slog.NewTextHandler(e.log, nil))
	d := Deps{
		Store: e.store, Engine: e.engine, Now: e.clock.Now, Log: log,
		Toolsets: []tools.Set{testTools(), {Name: "sessions", Tools: sessionTools()}},
		Catalog: catalog.New(catalog.Options{
			Store: e.store, Queue: quietQueue{}, Log: log, CheckRoot: checkRoot, Hosts: fewHosts{},
		}),
	}
	if set != nil {
		set(&d)
	}
	e.routes = New(d)
	server := httptest.NewServer(e.routes)
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// checkRoot refuses what the real one does, by name.
func checkRoot(path string) (string, error) {
	switch path {
	case "/forbidden":
		return "", codesage.Errorf(codesage.KindDenied, "/forbidden is outside CODESAGE_LOCAL_ROOTS")
	case "/missing":
		return "", codesage.Errorf(codesage.KindNotFound, "Path does not exist: /missing")
	case "relative":
		return "", codesage.Errorf(codesage.KindInvalid, "Path must be absolute")
	}
	return path, nil
}

// fewHosts knows a few URLs.
type fewHosts struct{}

func (fewHosts) Parse(url, branch string) (codesage.Repository, error) {
	name, ok := strings.CutPrefix(url, "https://github.com/")
	if !ok {
		return codesage.Repository{}, codesage.Errorf(codesage.KindInvalid, "url: Invalid repository URL (only https is supported): %s", url)
	}
	return codesage.Repository{
		Name: name, Session: strings.ReplaceAll(name, "/", "-"), Source: codesage.SourceGit, URL: url, Branch: branch,
	}, nil
}

func (fewHosts) Preflight(_ context.Context, repo codesage.Repository) error {
	switch repo.Name {
	case "octo/gone":
		return codesage.Errorf(codesage.KindNotFound, "GitHub repository octo/gone was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access.")
	case "octo/down":
		return codesage.Errorf(codesage.KindUnavailable, "Could not reach GitHub; try again.")
	case "octo/slow":
		return codesage.Errorf(codesage.KindTimeout, "GitHub did not respond in time; try again.")
	}
	return nil
}

func (fewHosts) Head(context.Context, codesage.Repository) (string, error) { return "", nil }

// testTools is a toolset whose tools end in every way that a tool can.
func testTools() tools.Set {
	tool := func(name string, call func(context.Context, tools.Arguments) (any, error), fields ...tools.Field) tools.Tool {
		return tools.Tool{Spec: tools.Spec{Name: name, Description: name + ".", Arguments: tools.Schema{Title: "Args", Fields: fields}}, Call: call}
	}
	fails := func(err error) func(context.Context, tools.Arguments) (any, error) {
		return func(context.Context, tools.Arguments) (any, error) { return nil, err }
	}
	echo := func(_ context.Context, a tools.Arguments) (any, error) { return a, nil }
	write := tool("add_repository", echo, tools.Field{Name: "url", Type: tools.String, Required: true, MinLength: 1})
	write.Writes = true
	return tools.Set{Name: "repositories", Tools: []tools.Tool{
		tool("list_repositories", func(context.Context, tools.Arguments) (any, error) {
			return map[string]any{"repositories": []int{}}, nil
		}),
		tool("search_code", echo,
			tools.Field{Name: "query", Type: tools.String, Required: true, MinLength: 1, MaxBytes: 512},
			tools.Field{Name: "limit", Type: tools.Integer, Default: 10, Min: tools.Limit(1), Max: tools.Limit(50)}),
		write,
		tool("refuse", fails(tools.Failf("Repository 'nope' not found. Available repositories: octo/demo"))),
		tool("gone", fails(codesage.Errorf(codesage.KindNotFound, "File 'x' not found in octo/demo."))),
		tool("away", fails(codesage.Errorf(codesage.KindUnavailable, "Search is unavailable; try again later."))),
		tool("boom", fails(errors.New("secret of the store"))),
		tool("panic", func(context.Context, tools.Arguments) (any, error) { panic("secret of the stack") }),
		tool("slow", func(ctx context.Context, _ tools.Arguments) (any, error) {
			tools.ReportProgress(ctx, 1, 2, "half")
			tools.ReportProgress(ctx, 2, 0, "all")
			return map[string]any{"done": true}, nil
		}),
	}}
}

// sessionTools share one name with the repository tools.
func sessionTools() []tools.Tool {
	return []tools.Tool{
		{
			Spec: tools.Spec{Name: "search_code", Description: "Chunks.", Arguments: tools.Schema{Title: "ChunksArgs", Fields: []tools.Field{
				{Name: "query", Type: tools.String, Required: true}, {Name: "k", Type: tools.Integer, Default: 10},
			}}},
			Call: func(_ context.Context, a tools.Arguments) (any, error) {
				if a.String("query") == "" {
					return nil, &tools.Failure{Message: "Query cannot be empty", Code: -32602}
				}
				return map[string]string{"text": "Found 0 results for '" + a.String("query") + "'"}, nil
			},
		},
		{
			Spec: tools.Spec{Name: "get_config", Description: "Configuration.", Arguments: tools.Schema{Title: "ConfigArgs"}},
			Call: func(context.Context, tools.Arguments) (any, error) {
				return map[string]string{"text": "# CodeSage"}, nil
			},
		},
	}
}

// reply is an answer of the server.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; headers are name, value, name, value.
func (e *env) ask(method, path, body string, headers ...string) reply {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	// Redirects are answers here, not things to follow.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{res.StatusCode, res.Header, strings.TrimSuffix(string(text), "\n")}
}

// call runs a tool over HTTP.
func (e *env) call(body string, headers ...string) reply {
	e.t.Helper()
	return e.ask("POST", "/api/v1/ai/mcp/tools/call", body, headers...)
}

// expect fails the test unless an answer has this status and body.
func (e *env) expect(what string, got reply, status int, body string) {
	e.t.Helper()
	if got.status != status || got.body != body {
		e.t.Errorf("%s:\n got %d %s\nwant %d %s", what, got.status, got.body, status, body)
	}
}

// decode reads an answer's JSON.
func decode[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return v
}

// addRepository stores a repository with a finished run of some files.
func (e *env) addRepository(name string) codesage.Repository {
	e.t.Helper()
	ctx := e.t.Context()
	repo, run, err := e.store.CreateRepository(ctx, codesage.Repository{
		Name: name, Session: strings.ReplaceAll(name, "/", "-"), Source: codesage.SourceGit, URL: "https://github.com/" + name,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.publish(run, "README.md", "src/main.go")
	if repo, err = e.store.Repository(ctx, repo.ID); err != nil {
		e.t.Fatal(err)
	}
	return repo
}

// publish finishes a run with these files.
func (e *env) publish(run codesage.Run, paths ...string) {
	e.t.Helper()
	ctx := e.t.Context()
	must := func(err error) {
		if err != nil {
			e.t.Helper()
			e.t.Fatal(err)
		}
	}
	run, err := e.store.StartRun(ctx, run.ID, 0)
	must(err)
	w, err := e.store.Begin(ctx, run, 0)
	must(err)
	defer w.Abort()
	for _, path := range paths {
		_, err = w.Put(ctx, []store.Text{newText(path, "one\ntwo\n")})
		must(err)
	}
	must(w.PutSkips(ctx, []codesage.Skip{{Path: "a.png", Reason: codesage.SkipBinary}, {Path: "b.png", Reason: codesage.SkipBinary}, {Path: "c.png", Reason: codesage.SkipBinary}}))
	must(w.Publish(ctx, codesage.Outcome{
		Progress: codesage.Progress{Commit: strings.Repeat("3f", 20), TotalFiles: len(paths), ProcessedFiles: len(paths), Entities: 7},
		Language: "go", Skipped: map[codesage.SkipReason]int{codesage.SkipBinary: 3},
	}))
}

// newText is a file as a run stores it.
func newText(path, content string) store.Text {
	sum := sha1.Sum([]byte(path + content))
	return store.Text{
		File: codesage.File{Path: path, Hash: hex.EncodeToString(sum[:]), Language: "text", Size: int64(len(content)), Lines: strings.Count(content, "\n")},
		Text: content,
	}
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}
func (b *syncBuffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }
