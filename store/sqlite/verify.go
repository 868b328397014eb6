package sqlite

import (
	"context"
	"errors"
	"strings"
)

// Verify reads the database file at path from end to end and looks for damage.
// It changes nothing, and programs that use the database may go on. KindNotFound
// when there is no database.
func Verify(ctx context.Context, path string) (err error) {
	db, err := openAside(path, "ro")
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
	return nil
}
