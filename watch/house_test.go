package watch

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/store/sqlite"
	"codesage/store/sqlite/sqlitetest"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// house is a watcher over a real store and catalog. Runs end as soon as they are
// enqueued, unless they are held.
type house struct {
	t       *testing.T
	store   *sqlite.Store
	catalog *catalog.Catalog
	watcher *Watcher
	log     *output
	queue   *hands
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

// count returns how many lines have the message.
func (o *output) count(message string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.buf.String(), message)
}

// hands is a queue whose worker is done at once.
type hands struct {
	store *sqlite.Store
	mu    sync.Mutex
	held  bool
}

func (q *hands) Cancel(context.Context, codesage.RunID) error { return nil }

func (q *hands) Enqueue(ctx context.Context, run codesage.Run) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held {
		return nil
	}
	return q.complete(ctx, run.ID)
}

// hold lets runs wait.
func (q *hands) hold(held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = held
}

// complete does a run from its begin to its end.
func (q *hands) complete(ctx context.Context, id codesage.RunID) error {
	run, err := q.store.StartRun(ctx, id, 0)
	if err != nil {
		return err
	}
	return q.publish(ctx, run)
}

// publish ends a run that was begun.
func (q *hands) publish(ctx context.Context, run codesage.Run) error {
	repo, err := q.store.Repository(ctx, run.Repository)
	if err != nil {
		return err
	}
	w, err := q.store.Begin(ctx, run, repo.TextRun)
	if err != nil {
		return err
	}
	return w.Publish(ctx, codesage.Outcome{})
}

func newHouse(t *testing.T, o Options) *house {
	t.Helper()
	h := &house{t: t, store: sqlitetest.Open(t), log: &output{}}
	h.queue = &hands{store: h.store}
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.catalog = catalog.New(catalog.Options{Store: h.store, Queue: h.queue, Log: log,
		CheckRoot: func(path string) (string, error) { return filepath.EvalSymlinks(path) }})
	o.Store, o.Catalog, o.Log = h.store, h.catalog, log
	set(&o.Debounce, 200*time.Millisecond)
	set(&o.Poll, 20*time.Millisecond)
	set(&o.Scan, 20*time.Millisecond)
	h.watcher = New(o)
	h.watcher.rewatch = 50 * time.Millisecond
	return h
}

// start starts the watcher. It ends with the test, or when stop is called.
func (h *house) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { h.watcher.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	h.t.Cleanup(stop)
	return stop
}

// add indexes a folder under a name.
func (h *house) add(name, path string) codesage.RepositoryID {
	h.t.Helper()
	repo, _, err := h.catalog.AddFolder(h.t.Context(), catalog.FolderRequest{Path: path, Session: name, Force: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return repo.ID
}

// watched adds a folder and starts the watcher; it returns when it watches.
func (h *house) watched(path string) codesage.RepositoryID {
	h.t.Helper()
	id := h.add("app", path)
	h.start()
	h.until("the folder is watched", func() bool { return h.log.count("the folder is watched") == 1 })
	return id
}

// refreshes returns how many runs the watcher started.
func (h *house) refreshes(id codesage.RepositoryID) (n int) {
	h.t.Helper()
	runs, err := h.store.ListRuns(h.t.Context(), id, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range runs {
		if r.Trigger == codesage.TriggerWatch {
			n++
		}
	}
	return n
}

// refreshed waits until the watcher has started n runs in all.
func (h *house) refreshed(id codesage.RepositoryID, n int) {
	h.t.Helper()
	h.until(fmt.Sprintf("%d refreshes", n), func() bool { return h.refreshes(id) >= n })
	if got := h.refreshes(id); got != n {
		h.t.Fatalf("%d runs were started, want %d\n%s", got, n, h.log)
	}
}

// latest returns the newest run.
func (h *house) latest(id codesage.RepositoryID) codesage.Run {
	h.t.Helper()
	repo, err := h.store.Repository(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return *repo.Latest
}

// until waits for a condition.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			h.t.Fatalf("waited in vain: %s\n%s", what, h.log)
		}
	}
}

// oldTree makes a folder of files, written long ago.
func oldTree(t testing.TB, paths ...string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		write(t, dir, path, "old\n")
	}
	age(t, dir)
	return dir
}

// age gives everything in a folder an old time.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file, with the folders on the way.
func write(t testing.TB, dir, path, text string) {
	t.Helper()
	full := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
