package metrics

import (
	"context"
	"time"

	"codesage"
	"codesage/store"
	"codesage/trace"
)

// Store returns a store whose reads for callers, and whose heartbeats, are
// measured and traced. What a run writes is part of its phases.
func (s *Set) Store(inner store.Store) store.Store { return measured{inner, s} }

type measured struct {
	store.Store
	set *Set
}

// begin begins an operation; the caller ends it with its error.
func (m measured) begin(ctx context.Context, operation string) (_ context.Context, done func(error)) {
	ctx, span := trace.Start(ctx, "store "+operation)
	began := time.Now()
	return ctx, func(err error) {
		observe(m.set.store, operation, began, err)
		span.End(err)
	}
}

// Repository implements store.Repositories.
func (m measured) Repository(ctx context.Context, id codesage.RepositoryID) (r codesage.Repository, err error) {
	ctx, done := m.begin(ctx, "repository")
	defer func() { done(err) }()
	return m.Store.Repository(ctx, id)
}

// RepositoryBySession implements store.Repositories.
func (m measured) RepositoryBySession(ctx context.Context, session string) (r codesage.Repository, err error) {
	ctx, done := m.begin(ctx, "repository_by_session")
	defer func() { done(err) }()
	return m.Store.RepositoryBySession(ctx, session)
}

// ListRepositories implements store.Repositories.
func (m measured) ListRepositories(ctx context.Context) (all []codesage.Repository, err error) {
	ctx, done := m.begin(ctx, "list_repositories")
	defer func() { done(err) }()
	return m.Store.ListRepositories(ctx)
}

// CreateRepository implements store.Repositories.
func (m measured) CreateRepository(ctx context.Context, r codesage.Repository) (made codesage.Repository, run codesage.Run, err error) {
	ctx, done := m.begin(ctx, "create_repository")
	defer func() { done(err) }()
	return m.Store.CreateRepository(ctx, r)
}

// CreateRun implements store.Runs.
func (m measured) CreateRun(ctx context.Context, n store.NewRun) (run codesage.Run, err error) {
	ctx, done := m.begin(ctx, "create_run")
	defer func() { done(err) }()
	return m.Store.CreateRun(ctx, n)
}

// ListRuns implements store.Runs.
func (m measured) ListRuns(ctx context.Context, id codesage.RepositoryID, limit int) (runs []codesage.Run, err error) {
	ctx, done := m.begin(ctx, "list_runs")
	defer func() { done(err) }()
	return m.Store.ListRuns(ctx, id, limit)
}

// Report implements store.Runs.
func (m measured) Report(ctx context.Context, run codesage.Run, p codesage.Progress) (err error) {
	ctx, done := m.begin(ctx, "report")
	defer func() { done(err) }()
	return m.Store.Report(ctx, run, p)
}

// File implements store.Reader.
func (m measured) File(ctx context.Context, s codesage.Snapshot, path string) (t store.Text, err error) {
	ctx, done := m.begin(ctx, "file")
	defer func() { done(err) }()
	return m.Store.File(ctx, s, path)
}

// ListFiles implements store.Reader.
func (m measured) ListFiles(ctx context.Context, s codesage.Snapshot, after string, limit int) (files []codesage.File, err error) {
	ctx, done := m.begin(ctx, "list_files")
	defer func() { done(err) }()
	return m.Store.ListFiles(ctx, s, after, limit)
}

// Texts implements store.Reader. What is measured includes what the caller does
// with the texts.
func (m measured) Texts(ctx context.Context, s codesage.Snapshot, after string, want func(codesage.File) bool, fn func(store.Text) error) (err error) {
	ctx, done := m.begin(ctx, "texts")
	defer func() { done(err) }()
	return m.Store.Texts(ctx, s, after, want, fn)
}

// ListEntities implements store.Reader.
func (m measured) ListEntities(ctx context.Context, s codesage.Snapshot, f store.EntityFilter) (found []store.Located, total int, err error) {
	ctx, done := m.begin(ctx, "list_entities")
	defer func() { done(err) }()
	return m.Store.ListEntities(ctx, s, f)
}

// FileEntities implements store.Reader.
func (m measured) FileEntities(ctx context.Context, s codesage.Snapshot, path string) (found []codesage.Entity, err error) {
	ctx, done := m.begin(ctx, "file_entities")
	defer func() { done(err) }()
	return m.Store.FileEntities(ctx, s, path)
}

// Analyze implements store.Reader.
func (m measured) Analyze(ctx context.Context, s codesage.Snapshot) (a store.Analysis, err error) {
	ctx, done := m.begin(ctx, "analyze")
	defer func() { done(err) }()
	return m.Store.Analyze(ctx, s)
}
