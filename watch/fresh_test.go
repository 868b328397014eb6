package watch

import (
	"context"
	"fmt"
	"go/build"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/catalog"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	sourcefolder "codesage/pipeline/source/folder"
	"codesage/queue"
	"codesage/search"
	"codesage/search/local"
	"codesage/store/sqlite"
	"codesage/store/sqlite/sqlitetest"
	"codesage/worker"
)

// server is all that stands between an edit and a search: watcher, catalog,
// queue, worker, pipeline, store and index, as the program puts them together.
type server struct {
	t       testing.TB
	store   *sqlite.Store
	index   *local.Index
	catalog *catalog.Catalog
}

func newServer(t testing.TB, out io.Writer) *server {
	t.Helper()
	s := &server{t: t, store: sqlitetest.Open(t)}
	log := slog.New(slog.NewTextHandler(out, nil))
	redis := queue.NewEmbedded()
	t.Cleanup(func() { _ = redis.Close() })
	pool := parse.NewPool(parse.Config{Processes: 2, Log: log})
	t.Cleanup(pool.Close)
	var err error
	s.index, err = local.Open(t.TempDir(), local.Options{Log: log})
	must(t, err)
	t.Cleanup(func() { _ = s.index.Close() })
	q := queue.New(redis)
	p := &pipeline.Pipeline{
		Store: s.store, Engine: s.index, Texts: s.index, Parser: pool, Readers: 2, Log: log,
		Sources: map[codesage.SourceKind]source.Source{codesage.SourceFolder: sourcefolder.New(sourcefolder.Options{})},
		Limits:  map[codesage.SourceKind]pipeline.Limits{codesage.SourceFolder: {MaxFileBytes: 10 << 20}},
	}
	s.catalog = catalog.New(catalog.Options{Store: s.store, Queue: q, Log: log, CheckRoot: filepath.EvalSymlinks})
	w := &worker.Worker{Store: s.store, Pipeline: p, Queue: q, Log: log}
	serve := queue.NewServer(queue.ServerOptions{Redis: redis, Concurrency: 2, Poll: 200 * time.Millisecond, Handler: w.Handle, Log: log})
	must(t, serve.Start(context.Background()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := serve.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// watch starts a watcher, which ends with the test.
func (s *server) watch(o Options, out io.Writer) {
	o.Store, o.Catalog = s.store, s.catalog
	o.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { New(o).Run(ctx) })
	s.t.Cleanup(func() { cancel(); done.Wait() })
}

// add indexes a folder and waits for the end.
func (s *server) add(path string, most time.Duration) codesage.RepositoryID {
	s.t.Helper()
	repo, _, err := s.catalog.AddFolder(s.t.Context(), catalog.FolderRequest{Path: path, Session: "app"})
	must(s.t, err)
	s.until("the folder is indexed", most, func() bool {
		repo, err := s.store.Repository(s.t.Context(), repo.ID)
		must(s.t, err)
		return repo.Status() == codesage.StatusCompleted
	})
	return repo.ID
}

// finds reports whether a function of this name is found in what is published.
func (s *server) finds(id codesage.RepositoryID, name string) bool {
	s.t.Helper()
	repo, err := s.store.Repository(s.t.Context(), id)
	must(s.t, err)
	snapshot, _ := repo.Snapshot()
	r, err := s.index.Search(s.t.Context(), search.Query{Text: name, Scope: []codesage.Snapshot{snapshot}, Limit: 1})
	must(s.t, err)
	return len(r.Hits) > 0 && r.Hits[0].EntityName == name
}

func (s *server) until(what string, most time.Duration, ok func() bool) {
	s.t.Helper()
	deadline, tick := time.After(most), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestAnEditBecomesSearchable(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "in/b.go")
	log := &output{}
	s := newServer(t, log)
	id := s.add(dir, patience)
	s.watch(Options{Debounce: 20 * time.Millisecond}, log)
	s.until("the folder is watched", patience, func() bool { return log.count("the folder is watched") == 1 })
	write(t, dir, "in/b.go", "package in\n\nfunc Frobnicate() {}\n")
	s.until("the new function is found", patience, func() bool { return s.finds(id, "Frobnicate") })
	must(t, os.Remove(dir+"/in/b.go"))
	s.until("it is found no more", patience, func() bool { return !s.finds(id, "Frobnicate") })
}

// BenchmarkEditToSearchable measures, on a copy of the standard library of Go
// with some 10,000 files, how long it takes from an edit to the answer that has
// it, with the debounce that users have.
func BenchmarkEditToSearchable(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	must(b, err)
	must(b, os.CopyFS(dir, os.DirFS(filepath.Join(build.Default.GOROOT, "src"))))
	age(b, dir)
	log := &output{}
	s := newServer(b, log)
	id := s.add(dir, 10*time.Minute)
	s.watch(Options{}, log)
	s.until("the folder is watched", patience, func() bool { return log.count("the folder is watched") == 1 })
	var longest time.Duration
	n := 0
	for b.Loop() {
		n++
		name := fmt.Sprintf("Frobnicate%c%c", 'a'+n/26%26, 'a'+n%26)
		began := time.Now()
		write(b, dir, "strings/edited.go", "package strings\n\nfunc "+name+"() {}\n")
		s.until("the edit is found", time.Minute, func() bool { return s.finds(id, name) })
		longest = max(longest, time.Since(began))
	}
	b.ReportMetric(float64(longest.Milliseconds()), "longest-ms")
}
