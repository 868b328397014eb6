// Package postgres keeps the store in PostgreSQL, for api and worker processes
// that share it.
//
// A repository's row is the lock of its runs: what changes a run's status or a
// pointer locks the row for itself, and each call of a run's writer shares it
// while it makes sure that the run is live. So a run is never overtaken in the
// middle of a call. A process that stands still in the middle of one does not keep
// the lock: see session.go.
package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"codesage"
	"codesage/store"
)

// Store is a store.Store in a PostgreSQL database.
type Store struct {
	log  *slog.Logger
	pool *pgxpool.Pool

	identity atomic.Pointer[string] // of the database that was opened

	mu     sync.Mutex
	calls  sync.WaitGroup // calls under way; Add only with mu held and closed false
	closed bool
}

var _ store.Store = (*Store)(nil)

// Open connects to the database at url. A schema that is not this program's is
// an error that says what to do: Open never changes it. The caller must Close
// the store.
func Open(ctx context.Context, url string, log *slog.Logger) (*Store, error) {
	c, err := parse(url, nil)
	if err != nil {
		return nil, err
	}
	s := &Store{log: log}
	c.AfterConnect = s.recognize
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, explainStart(err)
	}
	if err := s.begin(ctx); err != nil {
		s.pool.Close()
		return nil, explainStart(err)
	}
	return s, nil
}

// begin checks the schema and notes the database's identity.
func (s *Store) begin(ctx context.Context) error {
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	id, err := s.Identity(ctx)
	if err != nil {
		return err
	}
	s.identity.Store(&id)
	return nil
}

// recognize refuses a connection to another database than the one that was opened,
// whose ids mean something else: it has been restored from a copy, say.
func (s *Store) recognize(ctx context.Context, conn *pgx.Conn) error {
	opened := s.identity.Load()
	if opened == nil {
		return nil // Open has just begun
	}
	var id string
	if err := conn.QueryRow(ctx, selectIdentity).Scan(&id); err != nil {
		return err
	}
	if id != *opened {
		return codesage.Errorf(codesage.KindUnavailable, "the database is not the one that this server opened; restart the server")
	}
	return nil
}

// Ping reports whether the database answers and takes writes: it is asked for what a
// write needs, of a row that is never there.
func (s *Store) Ping(ctx context.Context) error {
	return s.in(ctx, writing, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			SELECT 1
			FROM repositories
			WHERE id = 0
			`+string(exclusive))
		return err
	})
}

// Identity implements store.Store. A copy within the server has another number, and
// one in another server another number of that.
func (s *Store) Identity(ctx context.Context) (id string, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, selectIdentity).Scan(&id)
	})
	return id, err
}

const selectIdentity = `
	SELECT i.id || '-' || d.oid || '-' || c.system_identifier
	FROM identity i, pg_database d, pg_control_system() c
	WHERE d.datname = current_database()`

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	})
	return now.UTC(), err
}

// Close waits for calls that are under way and closes the connections. Later
// calls fail with KindUnavailable.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	s.pool.Close()
	return nil
}

// enter announces a call; the caller must call leave at its end.
func (s *Store) enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, codesage.Errorf(codesage.KindUnavailable, "the database is closed")
	}
	s.calls.Add(1)
	return s.calls.Done, nil
}

// writing is the transaction of what changes rows: what waited for another's change
// goes on from it, whatever the role's default is.
var writing = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// write runs fn in a transaction and commits when fn returns nil. It runs it anew
// when another transaction holds for long what it needs.
func (s *Store) write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return retryLocked(ctx, s.pool, s.log, func() error { return s.in(ctx, writing, fn) })
}

// read runs fn in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.in(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

func (s *Store) in(ctx context.Context, o pgx.TxOptions, fn func(tx pgx.Tx) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := pgx.BeginTxFunc(ctx, s.pool, o, fn); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // an interrupted statement has an error of its own
		}
		if hasCode(err, onlyReads) {
			s.pool.Reset() // it may be a setting that sessions begin with
		}
		return explain(err)
	}
	return nil
}

// changed reports whether a statement changed any row.
func changed(done pgconn.CommandTag) bool { return done.RowsAffected() > 0 }

// rowLock is how a transaction locks a repository's row.
type rowLock string

const (
	shared    rowLock = "FOR SHARE"
	exclusive rowLock = "FOR NO KEY UPDATE"
)

// lockRepository locks the row of a repository; KindNotFound when it is not
// there.
func lockRepository(ctx context.Context, tx pgx.Tx, id codesage.RepositoryID, l rowLock) error {
	done, err := tx.Exec(ctx, `
		SELECT 1
		FROM repositories
		WHERE id = $1 AND NOT deleted
		`+string(l), id)
	if err == nil && !changed(done) {
		err = noRepository(id)
	}
	return err
}

func noRepository(id codesage.RepositoryID) error {
	return codesage.Errorf(codesage.KindNotFound, "repository %d not found", id)
}

// int64s is a list of ids as a statement takes it.
func int64s[ID ~int64](ids []ID) []int64 {
	list := make([]int64, len(ids))
	for i, id := range ids {
		list[i] = int64(id)
	}
	return list
}

// selectIDs returns the one column of a query.
func selectIDs[ID ~int64](ctx context.Context, tx pgx.Tx, query string, args ...any) ([]ID, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("select ids: %w", err)
	}
	typed := make([]ID, len(ids))
	for i, id := range ids {
		typed[i] = ID(id)
	}
	return typed, nil
}
