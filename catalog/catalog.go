// Package catalog is what the server does with repositories: find one by what a
// caller typed, add a URL or a folder, refresh, cancel and remove. Tools and
// HTTP handlers share it, so both say the same in the same words.
package catalog

import (
	"context"
	"log/slog"

	"codesage"
	"codesage/store"
	"codesage/trace"
)

// queue is told that a run waits or should stop. It is a hint: the store's rows
// are the truth, and a sweep finds what the queue lost.
type queue interface {
	Enqueue(ctx context.Context, run codesage.Run) error
	Cancel(ctx context.Context, run codesage.RunID) error
}

// Options are what a Catalog needs.
type Options struct {
	Store store.Store
	Queue queue
	Log   *slog.Logger // nil = nothing is logged

	// CheckRoot makes a folder's path absolute and free of links, and refuses one
	// that is missing, no folder, unreadable or outside the allowed roots.
	CheckRoot func(path string) (string, error)

	// Hosts knows git hosts. Nil when git repositories can't be added.
	Hosts hosts
}

// hosts reads git URLs and asks the hosts about them.
type hosts interface {
	// Parse makes a repository of what a caller typed, or refuses it before
	// anything is sent.
	Parse(url, branch string) (codesage.Repository, error)

	// Preflight checks with the host that the repository can be indexed.
	Preflight(ctx context.Context, repo codesage.Repository) error

	// Head returns the commit that the repository's branch is at.
	Head(ctx context.Context, repo codesage.Repository) (commit string, err error)
}

// Catalog is safe for concurrent use.
type Catalog struct {
	store     store.Store
	queue     queue
	log       *slog.Logger
	checkRoot func(path string) (string, error)
	hosts     hosts
}

// New returns a Catalog.
func New(o Options) *Catalog {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Catalog{store: o.Store, queue: o.Queue, log: o.Log, checkRoot: o.CheckRoot, hosts: o.Hosts}
}

// enqueue tells the queue of a run. A queue that is away is no failure: the
// sweep enqueues whatever the store says is unfinished.
func (c *Catalog) enqueue(ctx context.Context, run codesage.Run) {
	ctx, span := trace.Start(ctx, "enqueue", trace.Int("codesage.run", run.ID))
	err := c.queue.Enqueue(ctx, run)
	span.End(err)
	if err != nil {
		trace.Log(ctx, c.log).Warn("enqueue run; the sweep will try again", "run", run.ID, "err", err)
	}
}

// changed logs in one line what was changed, by whom, and with which request.
func (c *Catalog) changed(ctx context.Context, what string, repo codesage.Repository, attrs ...any) {
	attrs = append([]any{"repository", repo.ID, "name", repo.Name}, attrs...)
	c.log.Info(what, append(attrs, trace.OriginOf(ctx).LogAttrs()...)...)
}
