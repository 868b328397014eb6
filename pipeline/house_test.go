package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codesage"
	"codesage/pipeline"
	"codesage/pipeline/parse"
	"codesage/pipeline/parse/parsetest"
	"codesage/pipeline/source"
	"codesage/pipeline/source/folder"
	"codesage/search"
	"codesage/search/index"
	"codesage/search/local"
	"codesage/store"
	"codesage/store/sqlite/sqlitetest"
)

// house is a pipeline over real parts in folders of the test's own.
type house struct {
	t        *testing.T
	pipeline *pipeline.Pipeline
	store    store.Store
	index    *local.Index
}

func newHouse(t *testing.T) *house {
	t.Helper()
	pool := parse.NewPool(parse.Config{Processes: 2, Command: parsetest.Command()})
	t.Cleanup(pool.Close)
	h := &house{t: t, store: sqlitetest.Open(t)}
	var err error
	h.index, err = local.Open(t.TempDir(), local.Options{Rebuild: func(ctx context.Context, s codesage.Snapshot, p local.Part) error {
		if p == local.Texts {
			return h.pipeline.RebuildTexts(ctx, s)
		}
		return h.pipeline.RebuildRecords(ctx, s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.index.Close() })
	h.pipeline = &pipeline.Pipeline{
		Store: h.store, Engine: h.index, Texts: h.index, Parser: pool, Readers: 2,
		DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		Sources: map[codesage.SourceKind]source.Source{codesage.SourceFolder: folder.New(folder.Options{})},
		Limits:  map[codesage.SourceKind]pipeline.Limits{codesage.SourceFolder: {MaxFileBytes: 10 << 20}},
	}
	return h
}

// add stores a folder and returns it with its first run.
func (h *house) add(session, path string) (codesage.Repository, codesage.Run) {
	h.t.Helper()
	repo, run, err := h.store.CreateRepository(h.t.Context(), codesage.Repository{
		Name: session, Session: session, Source: codesage.SourceFolder, Path: path,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return repo, run
}

// work runs the pipeline over a run and returns the run as it ended.
func (h *house) work(run codesage.Run) (codesage.Run, error) {
	h.t.Helper()
	ctx := h.t.Context()
	run, err := h.store.StartRun(ctx, run.ID, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	repo := h.repository(run.Repository)
	if err := h.pipeline.Run(ctx, repo, run, func(codesage.Progress) {}); err != nil {
		if failed := h.store.FailRun(ctx, run, codesage.Progress{}, err.Error()); failed != nil {
			h.t.Fatal(failed)
		}
		return run, err
	}
	done, err := h.store.Run(ctx, run.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return done, nil
}

// refresh starts another run of a repository and works on it.
func (h *house) refresh(id codesage.RepositoryID, force bool) (codesage.Run, error) {
	h.t.Helper()
	run, err := h.store.CreateRun(h.t.Context(), store.NewRun{Repository: id, Trigger: codesage.TriggerReprocess, Force: force})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.work(run)
}

// index adds a folder and indexes it.
func (h *house) indexFolder(session, path string) codesage.Repository {
	h.t.Helper()
	repo, run := h.add(session, path)
	if _, err := h.work(run); err != nil {
		h.t.Fatal(err)
	}
	return h.repository(repo.ID)
}

func (h *house) repository(id codesage.RepositoryID) codesage.Repository {
	h.t.Helper()
	repo, err := h.store.Repository(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return repo
}

// search returns "path:line name" of the best hits.
func (h *house) search(repo codesage.Repository, text string) []string {
	h.t.Helper()
	s, ok := repo.Snapshot()
	if !ok {
		h.t.Fatalf("%s is not published", repo.Name)
	}
	r, err := h.index.Search(h.t.Context(), search.Query{Text: text, Scope: []codesage.Snapshot{s}, Limit: 20})
	if err != nil {
		h.t.Fatal(err)
	}
	var hits []string
	for _, hit := range r.Hits {
		hits = append(hits, fmt.Sprintf("%s:%d %s", hit.FilePath, hit.LineStart, hit.EntityName))
	}
	return hits
}

// state is all that readers can see of a published repository, without what is
// bound to differ between two repositories.
func (h *house) state(repo codesage.Repository) []string {
	h.t.Helper()
	ctx := h.t.Context()
	s, ok := repo.Snapshot()
	if !ok {
		h.t.Fatalf("%s is not published: %s", repo.Name, repo.ErrorMessage())
	}
	lines := []string{fmt.Sprintf("repository %d files, %d entities, %q, %q, notice %q", repo.Counted().TotalFiles,
		repo.TotalEntities(), repo.Published.Language, repo.Published.Framework, repo.Published.Notice)}
	for _, reason := range slices.Sorted(maps.Keys(repo.Published.Skipped)) {
		lines = append(lines, fmt.Sprintf("skipped %s %d", reason, repo.Published.Skipped[reason]))
	}
	err := h.store.Texts(ctx, s, "", nil, func(t store.Text) error {
		lines = append(lines, fmt.Sprintf("file %s %s %s size %d lines %d entities %d parser %d %v %v %q",
			t.Path, t.Hash, t.Language, t.Size, t.Lines, t.Entities, t.Parser, t.Generated, t.Test, t.Text))
		spans, ok, err := h.store.Spans(ctx, s, t.Path)
		lines = append(lines, fmt.Sprintf("spans %v %v", ok, spans))
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	found, total, err := h.store.ListEntities(ctx, s, store.EntityFilter{Limit: 10000})
	if err != nil {
		h.t.Fatal(err)
	}
	lines = append(lines, fmt.Sprintf("%d entities", total))
	for _, e := range found {
		lines = append(lines, fmt.Sprintf("entity %s:%d-%d %s %s %q %q", e.Path, e.LineStart, e.LineEnd, e.Type, e.Name, e.Description, e.Signature))
	}
	skips, _, err := h.store.ListSkips(ctx, s, "", 10000)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, k := range skips {
		lines = append(lines, fmt.Sprintf("skip %s %s", k.Path, k.Reason))
	}
	for _, q := range []string{"alpha", "Beta", "run", "Gamma one", "delta_two", "section", "helper", "nothing here"} {
		lines = append(lines, "search "+q+": "+strings.Join(h.search(repo, q), ", "))
	}
	for _, q := range []string{"alpha", "func ", "return", "class"} {
		paths, all, err := h.index.Candidates(ctx, s, index.Literal(q))
		if err != nil {
			h.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("candidates %s: %v %v", q, all, slices.Sorted(maps.Keys(paths))))
	}
	return lines
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
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(path))); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}
