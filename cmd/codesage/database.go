package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"codesage"
	"codesage/config"
	"codesage/store"
	"codesage/store/postgres"
	"codesage/store/sqlite"
)

// How long a server that starts waits for its database, and how often it looks.
const (
	databaseWait = 60 * time.Second
	databaseLook = time.Second
)

// databaseFile is where SQLite keeps the store in a data folder.
func databaseFile(dataDir string) string { return filepath.Join(dataDir, "codesage.db") }

// openStore opens the database. It waits a while for a PostgreSQL that is not
// there yet: machines start in any order.
func openStore(ctx context.Context, c config.Config, log *slog.Logger) (store.Store, error) {
	if c.DatabaseURL == "" {
		return sqlite.Open(ctx, databaseFile(c.DataDir), log)
	}
	var s *postgres.Store
	err := untilThere(ctx, c, log, func() (err error) {
		s, err = postgres.Open(ctx, c.DatabaseURL, log)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// untilThere calls use, which needs a PostgreSQL, again and again while that is
// not there, for a while.
func untilThere(ctx context.Context, c config.Config, log *slog.Logger, use func() error) error {
	ticker := time.NewTicker(databaseLook)
	defer ticker.Stop()
	for began, w := time.Now(), (waiting{}); ; {
		err := use()
		if codesage.KindOf(err) != codesage.KindUnavailable {
			return err
		}
		w.tell(log, "waiting for the database", "host", postgres.Host(c.DatabaseURL), "err", err)
		if time.Since(began) > databaseWait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// waiting tells the log what a start waits for, at first and then now and then.
type waiting struct{ told time.Time }

// waitTold is how often the log is told that a start still waits.
const waitTold = 10 * time.Second

func (w *waiting) tell(log *slog.Logger, message string, args ...any) {
	if time.Since(w.told) >= waitTold {
		log.Warn(message, args...)
		w.told = time.Now()
	}
}

// migrate brings the schema up to date. It waits for a PostgreSQL as openStore
// does. SQLite does so when it is opened, so that its versions are not told.
func (s setup) migrate(ctx context.Context) (from, to int64, err error) {
	if s.config.DatabaseURL != "" {
		err = untilThere(ctx, s.config, s.log, func() (err error) {
			from, to, err = postgres.Migrate(ctx, s.config.DatabaseURL, s.log)
			return err
		})
		return from, to, err
	}
	dir, err := openDataDir(s.config.DataDir, lockAlone)
	if err != nil {
		return 0, 0, err
	}
	defer dir.close()
	return 0, 0, s.check(ctx, databaseFile(s.config.DataDir))
}

// check opens and closes an SQLite database, which finds damage and brings its
// schema up to date.
func (s setup) check(ctx context.Context, path string) error {
	database, err := sqlite.Open(ctx, path, s.log)
	if err != nil {
		return err
	}
	return database.Close()
}

// verifyDatabase reads an SQLite database from end to end, or asks a PostgreSQL
// once, and tells what it is. KindNotFound when there is none yet.
func verifyDatabase(ctx context.Context, c config.Config) (what string, err error) {
	if c.DatabaseURL == "" {
		path := databaseFile(c.DataDir)
		return path + " is whole", sqlite.Verify(ctx, path)
	}
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	s, err := postgres.Open(ctx, c.DatabaseURL, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer s.Close()
	if err := s.Ping(ctx); err != nil {
		return "", errors.New(codesage.Detail(err))
	}
	return fmt.Sprintf("PostgreSQL at %s answers and has this program's schema", postgres.Host(c.DatabaseURL)), nil
}

// backUp copies the SQLite database of a data folder to a new file.
func backUp(ctx context.Context, c config.Config, to string) error {
	return sqlite.Backup(ctx, databaseFile(c.DataDir), to)
}

// restore puts a copy of the database in the place of the one in the data
// folder, which is kept under the name that is returned. The search index goes:
// it may be of runs that the copy doesn't know. The caller has the folder's
// lock.
func (s setup) restore(ctx context.Context, from string) (replaced string, err error) {
	path := databaseFile(s.config.DataDir)
	fresh := path + ".restoring"
	if err := copyFile(from, fresh); err != nil {
		return "", err
	}
	if err := s.check(ctx, fresh); err != nil {
		return "", fmt.Errorf("read the copy: %w", errors.Join(err, os.Remove(fresh)))
	}
	if err := os.RemoveAll(indexDir(s.config.DataDir)); err != nil {
		return "", fmt.Errorf("remove the search index: %w", err)
	}
	// The database's log goes with it, or it would be read into the new one.
	to := path + ".replaced-" + time.Now().UTC().Format("20060102T150405Z")
	for _, suffix := range []string{"-shm", "-wal", ""} {
		err := os.Rename(path+suffix, to+suffix)
		if err == nil && suffix == "" {
			replaced = to
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("put the old database aside: %w", err)
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("put the copy in place: %w", err)
	}
	return replaced, nil
}

// copyFile copies a file's content to a file of the owner's.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoBackup(from)
	}
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write into the data folder: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return out.Sync()
}
