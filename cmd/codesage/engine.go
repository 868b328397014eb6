package main

import (
	"context"
	"errors"

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
