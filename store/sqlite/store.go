// Package sqlite keeps the store in one SQLite file, for a program that runs as
// one process. It has one connection that writes and a few that read: with the
// write-ahead log readers never wait for the writer, nor it for them.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"codesage"
	"codesage/store"
)

// readers is how many connections read at once. A reader costs its page cache
// of 8 MB, and more than a few share two or four cores badly.
const readers = 8

// Store is a store.Store in a SQLite file.
type Store struct {
	path   string
	log    *slog.Logger
	writer *sql.DB
	reader *sql.DB

	mu     sync.Mutex
	calls  sync.WaitGroup // calls under way; Add only with mu held and closed false
	closed bool
}

var _ store.Store = (*Store)(nil)

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `
			SELECT COUNT(*)
			FROM repositories
			WHERE id = 0`).Scan(&n)
	})
}

// Identity implements store.Store. A copy of the file has the same.
func (s *Store) Identity(ctx context.Context) (id string, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM identity`).Scan(&id)
	})
	return id, err
}

// Now implements store.Store. It is this machine's clock that sets times.
func (s *Store) Now(context.Context) (time.Time, error) { return now(), nil }

// Close waits for calls that are under way and closes the database. Later calls
// fail with KindUnavailable.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	readErr := s.reader.Close() // first, so that the writer is the last one and folds the log in
	if err := s.writer.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return readErr
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

// write runs fn in a transaction of the one writer and commits when fn returns
// nil. Waiting for the writer ends with ctx. Once begun it is not interrupted:
// the context that fn gets is never done, which also spares the driver a
// goroutine a statement. A long fn must look at the outer context itself.
func (s *Store) write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer conn.Close()
	inner := context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(inner, nil)
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback()
	if err := fn(inner, tx); err != nil {
		return s.explain(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.explain(tx.Commit())
}

// read runs fn in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback()
	if err := fn(ctx, tx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // an interrupted statement has an error of its own
		}
		return s.explain(err)
	}
	return nil
}

// now is the time as the database keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// micros is a time as a column has it; 0 is none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros is the inverse of micros.
func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// changed reports whether a statement changed any row.
func changed(done sql.Result) bool {
	n, err := done.RowsAffected()
	return err == nil && n > 0
}
