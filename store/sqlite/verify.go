package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strings"

	"codesage/migrations"
)

// Verify reads the database file at path from end to end and looks for damage,
// and for a schema that this program can't bring up to date. It changes no data,
// and programs that use the database may go on. KindNotFound when there is no
// database.
func Verify(ctx context.Context, path string) (err error) {
	mode := "ro"
	if !isThere(path+"-wal") && !isThere(path+"-shm") {
		mode += "&immutable=1" // nobody has it open, and reading leaves no file behind
	}
	db, err := openAside(path, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s := Store{path: path}
	var answer string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&answer); err != nil {
		return s.explain(err)
	}
	if answer != "ok" {
		return damaged(path, errors.New(strings.ReplaceAll(answer, "\n", " ")))
	}
	return s.explain(s.verifySchema(ctx, db))
}

// verifySchema fails when the schema is another program's or a newer one's.
func (s *Store) verifySchema(ctx context.Context, db *sql.DB) error {
	if err := s.refuseForeign(ctx, db); err != nil {
		return err
	}
	var current int64
	err := db.QueryRowContext(ctx, `
		SELECT COALESCE(MAX(version_id), 0)
		FROM goose_db_version
		WHERE is_applied`).Scan(&current)
	if err != nil {
		return err
	}
	known, err := migrations.Newest(migrations.SQLite())
	if err == nil && current > known {
		err = s.newerSchema(current, known)
	}
	return err
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
