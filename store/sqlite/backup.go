package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"codesage"
)

// Backup copies the database file at path, as it is at one moment, to a new
// file, which is whole and durable when there is no error. Programs that use the
// database may go on. KindNotFound when there is no database, KindExists when
// there is a file at to.
func Backup(ctx context.Context, path, to string) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return codesage.Errorf(codesage.KindExists, "%s exists already; name a new file", to)
	}
	db, err := openAside(path, "rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	partial := to + ".partial"
	if err := removeIfThere(partial); err != nil {
		return fmt.Errorf("remove an unfinished copy: %w", err)
	}
	if err := copyInto(ctx, db, partial); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", path, err), removeIfThere(partial))
	}
	if err := os.Rename(partial, to); err != nil {
		return fmt.Errorf("name the copy: %w", err)
	}
	return syncFile(filepath.Dir(to))
}

// openAside opens a database that other programs may be using. KindNotFound when
// there is none.
func openAside(path, mode string) (*sql.DB, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, codesage.Errorf(codesage.KindNotFound, "there is no database %s", path)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_busy_timeout=5000&mode=" + mode}
	db, err := sql.Open("sqlite3", u.String())
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

// copyInto writes the database to a new file that only its owner may read.
func copyInto(ctx context.Context, db *sql.DB, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return err
	}
	return syncFile(to)
}

// syncFile makes a file's content, or the names in a folder, durable.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
