package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // registers the driver

	"codesage"
	"codesage/migrations"
)

// checkTime bounds the check of a file's structure at start. A file that is too
// large for it is checked in part; damage further on is reported when met.
const checkTime = 500 * time.Millisecond

// Open opens the database file at path, which it creates when there is none.
// It checks the file for damage and brings an older schema up to date, after it
// has put a copy beside the file. A schema newer than this program's is an
// error. The caller must Close the store.
func Open(ctx context.Context, path string, log *slog.Logger) (*Store, error) {
	return open(ctx, path, log, migrations.SQLite())
}

func open(ctx context.Context, path string, log *slog.Logger, schema fs.FS) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	s := &Store{path: path, log: log}
	if s.writer, err = sql.Open("sqlite3", dsn(path, writing)); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	s.writer.SetMaxOpenConns(1)
	s.writer.SetMaxIdleConns(1)
	if s.reader, err = sql.Open("sqlite3", dsn(path, reading)); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(err, s.writer.Close()))
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	if err := s.prepare(ctx, schema); err != nil {
		return nil, errors.Join(s.explain(err), s.reader.Close(), s.writer.Close())
	}
	return s, nil
}

// prepare checks the file and its schema.
func (s *Store) prepare(ctx context.Context, schema fs.FS) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	err = s.check(ctx, conn)
	if err == nil {
		// Without a limit the log stays as large as it once was.
		_, err = conn.ExecContext(ctx, `PRAGMA journal_size_limit = 67108864`)
	}
	if err := errors.Join(err, conn.Close()); err != nil {
		return err
	}
	return s.migrate(ctx, schema)
}

// check looks for damage for as long as checkTime allows.
func (s *Store) check(ctx context.Context, conn *sql.Conn) error {
	checking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var answer string
	err := conn.QueryRowContext(checking, `PRAGMA quick_check(1)`).Scan(&answer)
	switch {
	case err == nil && answer != "ok":
		return damaged(s.path, errors.New(strings.ReplaceAll(answer, "\n", " ")))
	case err != nil && checking.Err() != nil:
		return ctx.Err() // nil when only the time for the check is over
	}
	return err
}

// checkFile finds a file that is no database, or has lost its end, before the
// driver touches it: opening it could change it.
func checkFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unavailable(err, "the database %s can't be opened: %v", path, errors.Unwrap(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return codesage.Errorf(codesage.KindInvalid, "the database %s is not a file", path)
	}
	if info.Size() == 0 {
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			// The driver would take the log for another file's and remove it.
			return damaged(path, errors.New("file is empty and its log is not"))
		}
		return nil
	}
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil {
		return damaged(path, errors.New("file is too short"))
	}
	if !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return damaged(path, errors.New("file is not a database"))
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	pages := int64(binary.BigEndian.Uint32(header[28:]))
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil // the log may hold the pages that are missing
	}
	if info.Size() < page*pages {
		return damaged(path, fmt.Errorf("file is cut off: %d of %d bytes", info.Size(), page*pages))
	}
	return nil
}

// The two uses of a connection.
const (
	writing = "_txlock=immediate&_cache_size=-16000&_auto_vacuum=incremental"
	reading = "_txlock=deferred&_cache_size=-8000&_query_only=true"
)

// dsn is the driver's name of the file.
func dsn(path, use string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_journal_mode=WAL&_synchronous=NORMAL" +
		"&_busy_timeout=5000&_foreign_keys=true&_stmt_cache_size=64&" + use}
	return u.String()
}
