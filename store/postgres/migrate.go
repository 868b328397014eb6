package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"codesage"
	"codesage/migrations"
)

// How often, in seconds, and how many times Migrate asks for the lock that
// another program's migration holds.
const (
	lockEvery = 1
	lockTries = 300
)

// migrateSettings are those of the sessions of Migrate: a process that holds the
// lock of migrations and stands still loses it.
var migrateSettings = map[string]string{"idle_session_timeout": "30s"}

// Migrate brings the schema of the database at url up to date and returns its
// version before and after. Programs that do so at once wait for each other.
func Migrate(ctx context.Context, url string, log *slog.Logger) (from, to int64, err error) {
	c, err := parse(url, migrateSettings)
	if err != nil {
		return 0, 0, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return 0, 0, explainStart(err)
	}
	defer pool.Close()
	if err := checkServer(ctx, pool); err != nil {
		return 0, 0, explainStart(err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
	if err != nil {
		return 0, 0, fmt.Errorf("make the lock of migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.Postgres(),
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, 0, fmt.Errorf("read migrations: %w", err)
	}
	from, target, err := p.GetVersions(ctx)
	if err != nil {
		return 0, 0, explainStart(fmt.Errorf("read the schema's version: %w", err))
	}
	if from > target {
		return from, from, newerSchema(from, target)
	}
	err = retryLocked(ctx, pool, log, func() error {
		_, err := p.Up(ctx)
		return err
	})
	if err != nil {
		return from, from, explainStart(fmt.Errorf("bring the schema from %d to %d: %w", from, target, err))
	}
	return from, target, nil
}

// checkServer fails unless the database can hold every text, and its sessions have
// the settings that they were started with.
func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	var encoding, setting, source string
	err := pool.QueryRow(ctx, `
		SELECT current_setting('server_encoding'), name, source
		FROM pg_settings
		WHERE name = 'idle_in_transaction_session_timeout'`).Scan(&encoding, &setting, &source)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return codesage.Errorf(codesage.KindInvalid, "the database has encoding %s: make it anew with ENCODING 'UTF8'", encoding)
	case source != "client":
		return codesage.Errorf(codesage.KindInvalid, "%s", notPooled(setting+" did not reach PostgreSQL"))
	}
	return nil
}

// checkSchema fails unless the database has this program's schema.
func (s *Store) checkSchema(ctx context.Context) error {
	if err := checkServer(ctx, s.pool); err != nil {
		return err
	}
	var current int64
	err := s.pool.QueryRow(ctx, `
		SELECT COALESCE(MAX(version_id), 0)
		FROM goose_db_version
		WHERE is_applied`).Scan(&current)
	if hasCode(err, "42P01") { // no such table
		err = nil
	}
	if err != nil {
		return err
	}
	known, err := migrations.Newest(migrations.Postgres())
	switch {
	case err != nil:
		return err
	case current < known:
		return codesage.Errorf(codesage.KindInvalid,
			"the database has schema %d and this program needs %d: run `codesage migrate`", current, known)
	case current > known:
		return newerSchema(current, known)
	}
	return nil
}

func newerSchema(current, known int64) error {
	return codesage.Errorf(codesage.KindInvalid,
		"the database has schema %d and this program knows %d: use the newer program", current, known)
}
