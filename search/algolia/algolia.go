// Package algolia searches entities in an index of Algolia's service. It
// implements search.Engine and is the only package that knows the client.
//
// One index holds the records of all repositories. Algolia has one version of a
// record and can't switch a run's records in one step, so two promises of the
// contract are weaker here:
//
//   - A run that was committed is seen by every snapshot of its repository. The
//     changed records are written first and the stale ones deleted last, so that
//     nothing is missing in between.
//   - A writer holds its changes back until Commit as long as they fit into
//     Config.HoldBytes. Beyond that it sends as it goes, and searches see the
//     changes earlier.
//
// A writer that is given up after it began to send, or a process that dies
// there, leaves records of a run that was never published, some of them in the
// place of published ones. The next Begin finds them by their run: it has the
// base written anew through Config.Rebuild and goes on from there. Records of a
// repository that no longer exists are removed by Retain.
//
// The service cannot tell a late writer from the one that took its run over. A
// writer asks Config.Check before it sends changes, so an attempt that stood still
// and was overtaken meanwhile sends nothing more. It may still stand still between
// the question and the request: what it sends then may stand in the place of the
// other attempt's records until their files change or the repository is indexed
// anew by force.
package algolia

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	client "github.com/algolia/algoliasearch-client-go/v3/algolia/search"

	"codesage"
	"codesage/search"
	"codesage/trace"
)

var _ search.Engine = (*Engine)(nil)

// Config says where the index is. AppID, AdminKey and IndexName are required.
type Config struct {
	AppID     string
	AdminKey  string // may search, browse, write, delete and change settings
	IndexName string // letters, digits, - _ and dots

	// Hosts replace Algolia's own. They are asked in this order, by https.
	Hosts []string

	// Log gets what is asked again and what is cleaned up. Nil discards.
	Log *slog.Logger

	// HTTP sends the requests. Nil means a client with this package's time-outs.
	// Redirects are never followed: they would carry the key elsewhere.
	HTTP *http.Client

	// Rebuild writes the records of a published snapshot anew from the store:
	// Begin with base 0 and the snapshot's own run, a Put for every file, Commit,
	// all with the context that it is given.
	// Begin calls it when the records of its base are missing or mixed with those
	// of a run that was never published. Nil means that only surplus records can
	// be removed.
	Rebuild func(ctx context.Context, s codesage.Snapshot) error

	// Check fails when an attempt at a run is not, or not known to be, the one that
	// may publish it. Writers ask before each request that changes records: that of
	// a rebuild asks about the attempt whose Begin has it made. Nil means not to ask.
	Check func(ctx context.Context, run codesage.Run) error

	// HoldBytes is how much a writer holds back until Commit. Zero means 16 MiB.
	HoldBytes int

	// LockWait is how long Begin waits for another writer of the same repository
	// in this process. Zero means 10 s.
	LockWait time.Duration

	// Sleep waits before a question is asked again, and returns early with the
	// context's error. Nil waits for real; tests need not.
	Sleep func(ctx context.Context, d time.Duration) error
}

const (
	defaultHoldBytes = 16 << 20
	defaultLockWait  = 10 * time.Second
)

// Engine is safe for concurrent use. It has nothing to close.
type Engine struct {
	c      Config
	client *client.Client
	index  *client.Index

	settling chan struct{} // held while settings are compared
	isSet    bool

	mu      sync.Mutex
	writers map[codesage.RepositoryID]lock
}

// Open returns the engine of an index and brings the index's settings up to
// date. A service that is away, or whose quota is used up, is no error: the
// settings are applied before the first write. KindInvalid when the configuration can't be right, KindDenied
// when the service refuses the key.
func Open(ctx context.Context, c Config) (*Engine, error) {
	e, err := newEngine(c)
	if err != nil {
		return nil, err
	}
	first, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	if err := e.settle(first, triesOfSearch); err != nil {
		told := unwritable(err)
		if ctx.Err() != nil || errors.Is(told, codesage.ErrDenied) {
			return nil, told
		}
		trace.Log(ctx, e.c.Log).Warn("algolia settings are not applied yet", "err", err)
	}
	return e, nil
}

// Probe asks the service, with the key, for the index's settings and for a search,
// and changes nothing. KindInvalid when the configuration can't be right,
// KindDenied when the service refuses the key, KindTooLarge when its quota is used
// up, KindUnavailable when it does not answer or something else does; the cause
// says what.
func Probe(ctx context.Context, c Config) error {
	e, err := newEngine(c)
	if err != nil {
		return err
	}
	if _, err := e.readSettings(ctx, 1); err != nil {
		return unwritable(err)
	}
	if _, err := e.post(ctx, "query", 1, newQuestion("", "")); err != nil {
		return unwritable(err)
	}
	return nil
}

// newEngine returns an engine that has not asked anything yet.
func newEngine(c Config) (*Engine, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.HoldBytes <= 0 {
		c.HoldBytes = defaultHoldBytes
	}
	if c.LockWait <= 0 {
		c.LockWait = defaultLockWait
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	cl := client.NewClientWithConfig(client.Configuration{
		AppID: c.AppID, APIKey: c.AdminKey, Hosts: c.Hosts,
		Requester:    newRequester(c.HTTP),
		ReadTimeout:  readTimeout,
		WriteTimeout: writeTimeout,
	})
	return &Engine{
		c: c, client: cl, index: cl.InitIndex(c.IndexName),
		settling: make(chan struct{}, 1),
		writers:  map[codesage.RepositoryID]lock{},
	}, nil
}

// check tells what is wrong without repeating a secret.
func (c Config) check() error {
	isName := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	isOdd := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case c.AppID == "" || strings.ContainsFunc(c.AppID, func(r rune) bool { return !isName(r) }):
		return codesage.Errorf(codesage.KindInvalid, "algolia: the application id %q is not one", c.AppID)
	case c.AdminKey == "" || strings.ContainsFunc(c.AdminKey, isOdd):
		return codesage.Errorf(codesage.KindInvalid, "algolia: the admin key is missing or has odd characters")
	case c.IndexName == "" || strings.ContainsFunc(c.IndexName, func(r rune) bool { return !isName(r) }):
		return codesage.Errorf(codesage.KindInvalid, "algolia: the index name %q may hold letters, digits, - _ and dots only", c.IndexName)
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsFunc(h, func(r rune) bool { return !isName(r) && r != ':' && r != '[' && r != ']' }) {
			return codesage.Errorf(codesage.KindInvalid, "algolia: the host %q is not a name or name:port", h)
		}
	}
	return nil
}

// A lock is held by who has put its token in.
type lock chan struct{}

func (l lock) try() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l lock) wait(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) release() { <-l }

// writerLock returns the lock of a repository's writers in this process.
func (e *Engine) writerLock(repo codesage.RepositoryID) lock {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.writers[repo]
	if !ok {
		l = make(lock, 1)
		e.writers[repo] = l
	}
	return l
}
