package worker_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codesage"
	"codesage/api"
	"codesage/catalog"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/parse/parsetest"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git"
	"codesage/pipeline/source/git/gittest"
	"codesage/queue"
	"codesage/search/local"
	"codesage/store/sqlite"
	"codesage/tools"
	"codesage/tools/repositories"
	"codesage/webhook"
	"codesage/worker"
)

// patience is how long a test waits for what must come.
const patience = 40 * time.Second

// settings are what tests choose of a house.
type settings struct {
	token    string
	secret   string // of the webhooks
	interval time.Duration
	paused   bool // no worker yet; see start
}

// house is a whole server for git repositories, whose hosts are played by a
// gittest.Server: API, tools, queue, worker, sweeper, refresher, and real store,
// index and parse processes.
type house struct {
	t        *testing.T
	settings settings
	hosts    *gittest.Server
	log      *output
	dir      string
	store    *sqlite.Store
	redis    *queue.Embedded
	queue    *queue.Queue
	index    *local.Index
	pipeline *pipeline.Pipeline
	catalog  *catalog.Catalog
	source   *gitHosts
	sweeper  *worker.Sweeper
	gate     *gate
	url      string
}

// output collects a log, for many goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// gitHosts is what the program has between catalog, pipeline and git.
type gitHosts struct {
	*git.Source
	preflight atomic.Pointer[git.Source] // which asks before an add; see house.hurry
}

func (h *gitHosts) Parse(url, branch string) (codesage.Repository, error) {
	r, err := git.ParseURL(url, branch)
	session := strings.NewReplacer("/", "-", ".", "-").Replace(r.Name)
	return codesage.Repository{Name: r.Name, Session: session, Source: codesage.SourceGit, URL: r.URL, Branch: r.Branch}, err
}

func (h *gitHosts) Preflight(ctx context.Context, repo codesage.Repository) error {
	r, err := git.ParseURL(repo.URL, repo.Branch)
	if err != nil {
		return err
	}
	_, err = h.preflight.Load().Preflight(ctx, r)
	return err
}

func (h *gitHosts) Head(ctx context.Context, repo codesage.Repository) (string, error) {
	head, err := h.Source.Head(ctx, repo)
	return head.Commit, err
}

// gate is a pipeline that a test can stop when a run enters a phase.
type gate struct {
	*pipeline.Pipeline
	mu   sync.Mutex
	stop map[codesage.Phase]func(codesage.Run)
}

// at lets fn be called, once, when a run enters a phase. The run waits for it.
func (g *gate) at(phase codesage.Phase, fn func(codesage.Run)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop[phase] = fn
}

func (g *gate) Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error {
	return g.Pipeline.Run(ctx, repo, run, func(p codesage.Progress) {
		g.mu.Lock()
		fn := g.stop[p.Phase]
		delete(g.stop, p.Phase)
		g.mu.Unlock()
		report(p)
		if fn != nil {
			fn(run)
		}
	})
}

func newHouse(t *testing.T, s settings) *house {
	t.Helper()
	h := &house{t: t, settings: s, hosts: gittest.New(t), log: &output{}, dir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if h.store, err = sqlite.Open(t.Context(), filepath.Join(h.dir, "codesage.db"), log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	h.redis = queue.NewEmbedded()
	t.Cleanup(func() { _ = h.redis.Close() })
	h.queue = queue.New(h.redis)
	if h.index, err = local.Open(filepath.Join(h.dir, "index"), local.Options{Log: log, Rebuild: h.rebuild}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.index.Close() })
	pool := parse.NewPool(parse.Config{Processes: 2, Command: parsetest.Command(), Log: log})
	t.Cleanup(pool.Close)
	h.openHosts()
	h.pipeline = &pipeline.Pipeline{
		Store: h.store, Engine: h.index, Texts: h.index, Parser: pool, Readers: 2, DataDir: h.dir, Log: log,
		Sources: map[codesage.SourceKind]source.Source{codesage.SourceGit: h.source},
		Limits:  map[codesage.SourceKind]pipeline.Limits{codesage.SourceGit: {MaxFiles: 1000, MaxBytes: 100_000_000, MaxFileBytes: 1_000_000, Generated: true}},
	}
	h.catalog = catalog.New(catalog.Options{Store: h.store, Queue: h.queue, Log: log, Hosts: h.source})
	h.gate = &gate{Pipeline: h.pipeline, stop: map[codesage.Phase]func(codesage.Run){}}
	h.serve(log)
	if !s.paused {
		h.start()
	}
	return h
}

// rebuild writes a part of the index anew.
func (h *house) rebuild(ctx context.Context, s codesage.Snapshot, part local.Part) error {
	if part == local.Texts {
		return h.pipeline.RebuildTexts(ctx, s)
	}
	return h.pipeline.RebuildRecords(ctx, s)
}

func (h *house) openHosts() {
	if err := os.Mkdir(filepath.Join(h.dir, "tmp"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.source = &gitHosts{Source: h.gitSource(20 * time.Second)}
	h.source.preflight.Store(h.source.Source)
}

// hurry lets a host that is asked before an add have only so long to answer.
func (h *house) hurry(preflight time.Duration) { h.source.preflight.Store(h.gitSource(preflight)) }

func (h *house) gitSource(preflight time.Duration) *git.Source {
	s, err := git.New(git.Config{
		GitHubToken: h.settings.token, PreflightTimeout: preflight, CloneTimeout: patience, TempDir: filepath.Join(h.dir, "tmp"),
		Log:  slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Dial: h.hosts.Dial, Resolve: h.hosts.Resolve, RootCAs: h.hosts.RootCAs(),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// serve starts the API.
func (h *house) serve(log *slog.Logger) {
	set := repositories.New(repositories.Deps{Catalog: h.catalog, Store: h.store, Engine: h.index, Texts: h.index, Log: log,
		Link: func(r codesage.Repository, ref, path string, start, end int) string {
			return git.Link(r.URL, ref, path, start, end)
		}})
	d := api.Deps{Store: h.store, Catalog: h.catalog, Engine: h.index, Toolsets: []tools.Set{set}, Log: log}
	if h.settings.secret != "" {
		d.Webhooks = webhook.New(h.settings.secret, h.catalog, log)
	}
	server := httptest.NewServer(api.New(d))
	h.t.Cleanup(server.Close)
	h.url = server.URL
}

// start starts worker, sweeper and refresher; they stop with the test.
func (h *house) start() {
	h.t.Helper()
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.sweeper = &worker.Sweeper{Store: h.store, Queue: h.queue, Engine: h.index, Log: log}
	refresher := worker.NewRefresher(worker.RefresherOptions{Store: h.store, Heads: h.source, Catalog: h.catalog, Claims: h.queue, Log: log, Interval: h.settings.interval})
	w := &worker.Worker{Store: h.store, Pipeline: h.gate, Queue: h.queue, Log: log, Sweeper: h.sweeper}
	if h.settings.interval > 0 || h.settings.secret != "" {
		w.Refresher = refresher
	}
	server := queue.NewServer(queue.ServerOptions{Redis: h.redis, Concurrency: 2, Poll: 20 * time.Millisecond, Handler: w.Handle, Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	if err := h.sweeper.Adopt(ctx); err != nil {
		h.t.Fatal(err)
	}
	if err := server.Start(ctx); err != nil {
		h.t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() { h.sweeper.Run(ctx) })
	if w.Refresher != nil {
		done.Go(func() { refresher.Run(ctx) })
	}
	h.t.Cleanup(func() {
		cancel()
		done.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			h.t.Error(err)
		}
	})
}

// ask sends a request and returns status and body.
func (h *house) ask(method, path, body string, headers ...string) (int, string) {
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Error(err)
	}
	return res.StatusCode, string(data)
}

// post adds a repository by REST and returns status and detail, or the body.
func (h *house) post(url, branch string) (int, string) {
	body, _ := json.Marshal(map[string]string{"url": url, "branch": branch})
	status, text := h.ask("POST", "/api/v1/repositories", string(body))
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal([]byte(text), &problem) == nil && problem.Detail != "" {
		return status, problem.Detail
	}
	return status, text
}

// call calls a tool; failure is the message of a tool error.
func (h *house) call(tool string, arguments map[string]any) (result json.RawMessage, failure string) {
	body, _ := json.Marshal(map[string]any{"tool_name": tool, "arguments": arguments})
	status, text := h.ask("POST", "/api/v1/ai/mcp/tools/call", string(body))
	var envelope struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || status != http.StatusOK {
		h.t.Errorf("%s: %d %s", tool, status, text)
	}
	return envelope.Result, envelope.Error
}

// add adds a repository by the tool and returns its id.
func (h *house) add(url string) codesage.RepositoryID {
	h.t.Helper()
	result, failure := h.call("add_repository", map[string]any{"url": url})
	var added struct {
		ID codesage.RepositoryID `json:"repository_id"`
	}
	if err := json.Unmarshal(result, &added); err != nil || failure != "" {
		h.t.Fatalf("add %s: %s", url, failure)
	}
	return added.ID
}

// indexed adds a repository and waits until it is completed.
func (h *house) indexed(url string) codesage.RepositoryID {
	h.t.Helper()
	id := h.add(url)
	h.ended(id)
	if repo := h.repository(id); repo.Status() != codesage.StatusCompleted {
		h.t.Fatalf("%s: %s %s", url, repo.Status(), repo.ErrorMessage())
	}
	return id
}

// ended waits until no run of a repository is going.
func (h *house) ended(id codesage.RepositoryID) {
	h.t.Helper()
	h.until(fmt.Sprintf("the run of repository %d ends", id), func() bool { return !h.repository(id).Latest.Going() })
}

func (h *house) repository(id codesage.RepositoryID) codesage.Repository {
	h.t.Helper()
	repo, err := h.store.Repository(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return repo
}

func (h *house) runs(id codesage.RepositoryID) []codesage.Run {
	h.t.Helper()
	runs, err := h.store.ListRuns(h.t.Context(), id, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return runs
}

// until waits for a condition.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			h.t.Fatalf("waited in vain: %s\n%s", what, h.log)
		}
	}
}

// leftovers lists the rows, index folders and temporary files that are there.
func (h *house) leftovers() []string {
	h.t.Helper()
	var left []string
	for _, dir := range []string{"tmp", "index"} {
		entries, err := os.ReadDir(filepath.Join(h.dir, dir))
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range entries {
			left = append(left, dir+"/"+e.Name())
		}
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.dir, "codesage.db")+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"repositories", "runs", "files", "file_texts", "entities", "spans", "skips"} {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
			h.t.Fatal(err)
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d rows of %s", n, table))
		}
	}
	return left
}
