package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"codesage"
)

// keepBackups is how many copies from before a migration stay beside the file.
const keepBackups = 3

// backupTime is how the name of a copy says when it was made.
const backupTime = "20060102T150405.000000Z"

// migrate brings the schema up to date. It copies a database that has an older
// schema first.
func (s *Store) migrate(ctx context.Context, schema fs.FS) error {
	if err := s.refuseForeign(ctx, s.writer); err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.writer, schema, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the schema's version: %w", err)
	case current > target:
		return s.newerSchema(current, target)
	case current == target:
		return nil
	case current > 0:
		if err := s.backUp(ctx, current); err != nil {
			return err
		}
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema of %s from %d to %d: %w", s.path, current, target, err)
	}
	if current > 0 {
		s.log.Info("schema brought up to date", "from", current, "to", target)
	}
	return nil
}

// refuseForeign fails when the file has tables and none of them is ours.
func (s *Store) refuseForeign(ctx context.Context, db *sql.DB) error {
	var tables, ours int
	err := db.QueryRowContext(ctx, `
		SELECT COUNT(*), COALESCE(SUM(name = 'goose_db_version'), 0)
		FROM sqlite_schema
		WHERE type = 'table'`).Scan(&tables, &ours)
	if err == nil && tables > 0 && ours == 0 {
		err = codesage.Errorf(codesage.KindInvalid, "%s is a database of another program: name another data folder", s.path)
	}
	return err
}

func (s *Store) newerSchema(current, known int64) error {
	return codesage.Errorf(codesage.KindInvalid,
		"the database %s has schema %d and this program knows %d: use the newer program, or move the file away and start again to re-index",
		s.path, current, known)
}

// backUp copies the database beside itself, under a name with the version of
// its schema and the time, and removes all but the newest copies.
func (s *Store) backUp(ctx context.Context, version int64) error {
	copied := fmt.Sprintf("%s.v%d-%s.bak", s.path, version, now().Format(backupTime))
	if _, err := s.writer.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		err = s.explain(err)
		return unavailable(errors.Join(err, removeIfThere(copied)),
			"copy the database before its schema changes: %v", err)
	}
	s.log.Info("database copied before its schema changes", "copy", copied)
	backups := listBackups(s.path)
	for _, old := range backups[:max(0, len(backups)-keepBackups)] {
		if err := os.Remove(old); err != nil {
			s.log.Warn("remove an old copy of the database", "err", err)
		}
	}
	return nil
}

// listBackups returns the copies of a database, oldest first.
func listBackups(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	madeAt := map[string]time.Time{}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), filepath.Base(path)+".v")
		_, stamp, _ := strings.Cut(strings.TrimSuffix(rest, ".bak"), "-")
		if at, err := time.Parse(backupTime, stamp); ours && err == nil {
			madeAt[filepath.Join(filepath.Dir(path), e.Name())] = at
		}
	}
	return slices.SortedFunc(maps.Keys(madeAt), func(a, b string) int { return madeAt[a].Compare(madeAt[b]) })
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
