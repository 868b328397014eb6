package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/mcp"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/pipeline/source/folder"
	"codesage/pipeline/source/pattern"
	"codesage/queue"
	"codesage/search/local"
	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
	"codesage/tools/sessions"
	"codesage/worker"
)

// house is the toolset over a real store, index, pipeline and worker in folders
// of the test's own.
type house struct {
	t        *testing.T
	store    store.Store
	index    *local.Index
	indexDir string
	catalog  *catalog.Catalog
	pipeline *pipeline.Pipeline
	queue    *runner
	deps     sessions.Deps
	set      tools.Set
}

func newHouse(t *testing.T, change ...func(*sessions.Deps)) *house {
	t.Helper()
	return newHouseOver(t, sqlitetest.Open(t), change...)
}

// newHouseOver is a house over a store of the caller's.
func newHouseOver(t *testing.T, rows store.Store, change ...func(*sessions.Deps)) *house {
	t.Helper()
	pool := parse.NewPool(parse.Config{Processes: 1})
	t.Cleanup(pool.Close)
	h := &house{t: t, store: rows, indexDir: t.TempDir()}
	var err error
	if h.index, err = local.Open(h.indexDir, local.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.index.Close() })
	h.pipeline = &pipeline.Pipeline{
		Store: h.store, Engine: h.index, Texts: h.index, Parser: pool, Readers: 2, Log: slog.New(slog.DiscardHandler),
		Sources: map[codesage.SourceKind]source.Source{codesage.SourceFolder: folder.New(folder.Options{})},
		Limits:  map[codesage.SourceKind]pipeline.Limits{codesage.SourceFolder: {MaxFileBytes: 10 << 20}},
	}
	h.queue = newRunner(t, &worker.Worker{Store: h.store, Pipeline: gated{h}, Log: slog.New(slog.DiscardHandler)})
	h.catalog = catalog.New(catalog.Options{Store: h.store, Queue: h.queue, Log: slog.New(slog.DiscardHandler),
		CheckRoot: func(path string) (string, error) { return folder.CheckRoot(path, []string{"/"}) }})
	h.deps = sessions.Deps{
		Catalog: h.catalog, Store: h.store, Index: h.index, IndexDir: h.indexDir, Glob: glob,
		Version: "1.2.3", Protocol: "2025-11-25",
		Settings: sessions.Settings{LogLevel: "info", MaxFileBytes: 10 << 20, DefaultExclude: pattern.DefaultExclude(), Concurrency: 2, Timeout: 300 * time.Second},
	}
	for _, c := range change {
		c(&h.deps)
	}
	h.set = sessions.New(h.deps)
	return h
}

func glob(p string) (func(string) bool, error) {
	compiled, err := pattern.Compile(p)
	if err != nil {
		return nil, err
	}
	return compiled.Match, nil
}

// gated is the pipeline; a test may hold its runs before they begin or at the
// moment when they report something.
type gated struct{ h *house }

func (g gated) Run(ctx context.Context, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) error {
	q := g.h.queue
	return g.h.pipeline.Run(ctx, repo, run, func(p codesage.Progress) {
		report(p)
		q.hold(ctx, p.Phase)
	})
}

// runner is a queue that works on runs at once, each in a goroutine of its own.
type runner struct {
	worker *worker.Worker
	life   context.Context
	work   sync.WaitGroup

	mu      sync.Mutex
	cancels map[codesage.RunID]context.CancelCauseFunc
	gate    codesage.Phase
	open    chan struct{}
	held    chan struct{}
}

func newRunner(t *testing.T, w *worker.Worker) *runner {
	life, end := context.WithCancel(context.Background())
	q := &runner{worker: w, life: life, cancels: map[codesage.RunID]context.CancelCauseFunc{}}
	t.Cleanup(func() { end(); q.work.Wait() })
	return q
}

func (q *runner) Enqueue(_ context.Context, run codesage.Run) error {
	ctx, cancel := context.WithCancelCause(q.life)
	q.mu.Lock()
	q.cancels[run.ID] = cancel
	q.mu.Unlock()
	q.work.Go(func() { _ = q.worker.Handle(ctx, run.ID) })
	return nil
}

func (q *runner) Cancel(_ context.Context, run codesage.RunID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cancel := q.cancels[run]; cancel != nil {
		cancel(queue.ErrCancelled)
	}
	return nil
}

// holdAt stops runs when they enter a phase. held is closed when one is there,
// and release lets all go on.
func (q *runner) holdAt(phase codesage.Phase) (held <-chan struct{}, release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gate, q.open, q.held = phase, make(chan struct{}), make(chan struct{})
	open := q.open
	return q.held, sync.OnceFunc(func() {
		q.mu.Lock()
		q.gate = ""
		q.mu.Unlock()
		close(open)
	})
}

func (q *runner) hold(ctx context.Context, phase codesage.Phase) {
	q.mu.Lock()
	open, held := q.open, q.held
	isHere := q.gate != "" && q.gate == phase
	if isHere && held != nil {
		q.held = nil
		close(held)
	}
	q.mu.Unlock()
	if isHere {
		select {
		case <-open:
		case <-ctx.Done():
		}
	}
}

// reopen opens the index anew, as the next start of the program does.
func (h *house) reopen() {
	h.t.Helper()
	_ = h.index.Close()
	var err error
	if h.index, err = local.Open(h.indexDir, local.Options{}); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.index.Close() })
	h.pipeline.Engine, h.pipeline.Texts, h.deps.Index = h.index, h.index, h.index
	h.set = sessions.New(h.deps)
}

// settle waits until no run is going.
func (h *house) settle() {
	h.t.Helper()
	h.queue.work.Wait()
}

// args are the arguments of a call.
type args map[string]any

// fault is a refusal: its code and its message.
type fault struct {
	code    int
	message string
}

func (f *fault) Error() string { return fmt.Sprintf("%d %s", f.code, f.message) }

// try calls a tool as the API does.
func (h *house) try(ctx context.Context, name string, a args) (string, *fault) {
	h.t.Helper()
	text, err := h.ask(ctx, name, a)
	if err == nil {
		return text, nil
	}
	if known := (*fault)(nil); errors.As(err, &known) {
		return "", known
	}
	message, refused := tools.Answer(err)
	if !refused {
		h.t.Fatalf("%s %v: a fault of the server: %v", name, a, err)
	}
	code := mcp.CodeInternal
	var failure *tools.Failure
	if errors.As(err, &failure) && failure.Code != 0 {
		code = failure.Code
	}
	return "", &fault{code, message}
}

// ask calls a tool and returns its own error, or the fault of its arguments.
func (h *house) ask(ctx context.Context, name string, a args) (string, error) {
	h.t.Helper()
	tool, ok := h.set.Find(name)
	if !ok {
		h.t.Fatalf("no tool %s", name)
	}
	raw, err := json.Marshal(a)
	if err != nil {
		h.t.Fatal(err)
	}
	checked, faults := tool.Arguments.Parse(raw)
	if faults != nil {
		return "", &fault{mcp.CodeInvalidParams, mcp.SessionFault(faults[0])}
	}
	result, err := tool.Call(ctx, checked)
	if err != nil {
		return "", err
	}
	return result.(sessions.Result).Text, nil
}

// call calls a tool that must succeed.
func (h *house) call(name string, a args) string {
	h.t.Helper()
	text, f := h.try(h.t.Context(), name, a)
	if f != nil {
		h.t.Fatalf("%s %v: %v", name, a, f)
	}
	return text
}

// refused calls a tool that must refuse with a code and a message, or the
// beginning of one when that ends in "...".
func (h *house) refused(code int, message, name string, a args) {
	h.t.Helper()
	text, f := h.try(h.t.Context(), name, a)
	start, isStart := strings.CutSuffix(message, "...")
	switch {
	case f == nil:
		h.t.Errorf("%s %v: got %q, want refusal %d %s", name, a, text, code, message)
	case f.code != code, isStart && !strings.HasPrefix(f.message, start), !isStart && f.message != message:
		h.t.Errorf("%s %v: got %d %q, want %d %q", name, a, f.code, f.message, code, message)
	}
}

// like reports the first difference between a text and a template in which
// <time>, <rel>, <ms>, <s> and <size> stand for a value of that shape.
func like(t *testing.T, got, want string) {
	t.Helper()
	expr := regexp.QuoteMeta(want)
	for name, shape := range map[string]string{
		"<ms>": `\d+`, "<s>": `\d+\.\d`, "<size>": `(\d+ B|\d+\.\d\d [KMG]B)`, "<rel>": `(just now|\d+ (day|hour|minute)s? ago)`,
		"<minute>": `\d{4}-\d\d-\d\d \d\d:\d\d UTC`, "<second>": `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`, "<iso>": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`,
		"<n>": `\d+`,
	} {
		expr = strings.ReplaceAll(expr, regexp.QuoteMeta(name), shape)
	}
	if !regexp.MustCompile(`^` + expr + `$`).MatchString(got) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// tree writes files into a new folder whose path holds no telling words.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		write(t, dir, path, text)
	}
	return dir
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, path string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// fixture is the tree F of the contract's cases.
func fixture(t *testing.T) string {
	return tree(t, map[string]string{
		"src/auth.go":        "package auth\n\n// authenticate checks a user.\nfunc authenticate(user, pass string) bool {\n\treturn verify(user, pass)\n}\n\nfunc verify(user, pass string) bool {\n\treturn user != \"\" && len(pass) >= 8\n}\n",
		"src/login.go":       "package auth\n\nimport \"fmt\"\n\nfunc Login(user string) {\n\tif authenticate(user, \"x\") {\n\t\tfmt.Println(\"ok\")\n\t}\n}\n",
		"tests/auth_test.go": "package auth\n\nfunc TestAuthenticate(t *T) {\n\tgot := authenticate(\"a\", \"12345678\")\n\t_ = got\n}\n",
		"docs/guide.md":      "# Guide\n\nCall authenticate before Login.\n",
		"routes.yaml":        "routes:\n  - path: \"/users/{id}\"\n    handler: authenticate_user\n    note: read-write\n",
	})
}

// indexed is a house with the fixture indexed as fx.
func indexed(t *testing.T) (h *house, root string) {
	t.Helper()
	h, root = newHouse(t), fixture(t)
	h.call("index_repository", args{"path": root, "session": "fx"})
	h.settle()
	return h, root
}
