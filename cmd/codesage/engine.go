package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"codesage"
	"codesage/search"
	"codesage/search/local"
)

// errNoSearch says that SEARCH_ENGINE asks for Algolia and its keys are missing.
var errNoSearch = codesage.Errorf(codesage.KindUnavailable,
	"Search is not configured on the server (ALGOLIA_APP_ID / ALGOLIA_ADMIN_API_KEY are missing).")

// noSearch is the engine of a server whose search is not configured: it says so.
type noSearch struct{}

func (noSearch) Search(context.Context, search.Query) (search.Result, error) {
	return search.Result{}, errNoSearch
}

func (noSearch) Suggest(context.Context, string, []codesage.Snapshot, int) ([]string, error) {
	return nil, errNoSearch
}

func (noSearch) Languages(context.Context, []codesage.Snapshot) ([]string, error) {
	return nil, errNoSearch
}

func (noSearch) Begin(context.Context, codesage.Repository, codesage.RunID, codesage.Run) (search.Writer, error) {
	return nil, errNoSearch
}

func (noSearch) Retain(context.Context, search.Keep) error { return nil }

func (noSearch) Ping(context.Context) error { return errNoSearch }

// withTexts is an engine for entities beside the local index of texts: what is
// swept is swept in both.
type withTexts struct {
	search.Engine
	texts *local.Index
}

// Retain implements search.Engine.
func (e withTexts) Retain(ctx context.Context, keep search.Keep) error {
	return errors.Join(e.texts.Retain(ctx, keep), e.Engine.Retain(ctx, keep))
}

// probeLife is how long Algolia's answer to a probe stands.
const probeLife = time.Minute

// billed is an engine that bills each question: probes, which come every few
// seconds, ask it only when it has not answered one for a while. A month of them
// is many times what a small plan has.
type billed struct {
	search.Engine

	mu       sync.Mutex
	answered time.Time
}

// Ping implements search.Engine.
func (e *billed) Ping(ctx context.Context) error {
	e.mu.Lock()
	fresh := time.Since(e.answered) < probeLife
	e.mu.Unlock()
	if fresh {
		return nil
	}
	err := e.Engine.Ping(ctx)
	if err == nil {
		e.mu.Lock()
		e.answered = time.Now()
		e.mu.Unlock()
	}
	return err
}

// checkLive fails when an attempt at a run has been taken over, or has ended.
func (p *parts) checkLive(ctx context.Context, run codesage.Run) error {
	now, err := p.store.Run(ctx, run.ID)
	if err != nil {
		return err
	}
	if now.Attempt != run.Attempt || now.Status != codesage.StatusProcessing {
		return codesage.Errorf(codesage.KindConflict, "attempt %d at run %d is no longer the live one", run.Attempt, run.ID)
	}
	return nil
}

// noSearchHosts refuses git repositories on a server whose search is not
// configured. Folders are indexed: the session tools need no engine.
type noSearchHosts struct{ gitHosts }

// Preflight refuses.
func (noSearchHosts) Preflight(context.Context, codesage.Repository) error {
	return codesage.Errorf(codesage.KindUnavailable,
		"Search indexing is not configured on the server (Algolia credentials are missing).")
}
