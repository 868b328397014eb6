package metrics

import (
	"context"
	"time"

	"codesage"
	"codesage/search"
	"codesage/trace"
)

// Engine returns an engine whose questions are measured and traced. Writing is
// part of a run's phases.
func (s *Set) Engine(e search.Engine) search.Engine { return engine{e, s} }

type engine struct {
	search.Engine
	set *Set
}

// Search implements search.Engine.
func (e engine) Search(ctx context.Context, q search.Query) (r search.Result, err error) {
	ctx, done := e.set.Searching(ctx, "search")
	defer func() { done(err) }()
	return e.Engine.Search(ctx, q)
}

// Suggest implements search.Engine.
func (e engine) Suggest(ctx context.Context, text string, scope []codesage.Snapshot, limit int) (names []string, err error) {
	ctx, done := e.set.Searching(ctx, "suggest")
	defer func() { done(err) }()
	return e.Engine.Suggest(ctx, text, scope, limit)
}

// Languages implements search.Engine.
func (e engine) Languages(ctx context.Context, scope []codesage.Snapshot) (labels []string, err error) {
	ctx, done := e.set.Searching(ctx, "languages")
	defer func() { done(err) }()
	return e.Engine.Languages(ctx, scope)
}

// Searching begins an operation of search, whose name must be of a fixed set.
// The caller ends it with its error.
func (s *Set) Searching(ctx context.Context, operation string) (_ context.Context, done func(error)) {
	ctx, span := trace.Start(ctx, "search "+operation)
	began := time.Now()
	return ctx, func(err error) {
		observe(s.search, operation, began, err)
		span.End(err)
	}
}
