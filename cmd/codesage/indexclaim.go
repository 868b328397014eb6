package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"codesage"
)

// How long a start waits for those that use the index for another database to
// end, and how often it looks.
const (
	claimWait = 15 * time.Second
	claimLook = 100 * time.Millisecond
)

// indexClaim keeps the local index for one database. Its files have names made of
// the ids of repositories and runs, which in another database are others'.
type indexClaim struct {
	dir      string
	file     string // not in dir, which people may remove
	identity string // of the database
	log      *slog.Logger
	wait     time.Duration
}

// newIndexClaim returns the claim on a data folder's index. Its file has the
// identity of the database whose index that is. All processes that use the index
// have a shared lock on it.
func newIndexClaim(dataDir, identity string, log *slog.Logger) *indexClaim {
	return &indexClaim{dir: indexDir(dataDir), file: filepath.Join(dataDir, "index.database"), identity: identity, log: log, wait: claimWait}
}

// take claims the index until the returned function is called. What is there of
// another database goes, once no process uses it; KindConflict when one still
// does after a while.
func (c *indexClaim) take(ctx context.Context) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	ticker := time.NewTicker(claimLook)
	defer ticker.Stop()
	for began := time.Now(); ; {
		f, err := c.try()
		if err != nil {
			return nil, err
		}
		if f != nil {
			return f.Close, nil
		}
		if time.Since(began) > c.wait {
			return nil, codesage.Errorf(codesage.KindConflict,
				"the search index in %s is in use for another database; give each CodeSage a CODESAGE_DATA_DIR of its own", c.dir)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

// try returns the locked file, or nil while the index is another database's.
func (c *indexClaim) try() (*os.File, error) {
	f, err := os.OpenFile(c.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	if lockFile(f, lockAlone) == nil { // nobody uses it
		if err := c.own(f); err != nil {
			return nil, errors.Join(fmt.Errorf("claim the search index: %w", err), f.Close())
		}
	}
	if lockFile(f, lockShared) != nil {
		return nil, f.Close()
	}
	// Between the locks another process may have been faster.
	if of, err := readClaim(f); err != nil || of != c.identity {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// own makes the index this database's. The caller has it alone.
func (c *indexClaim) own(f *os.File) error {
	of, err := readClaim(f)
	if err != nil || of == c.identity {
		return err
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	if of != "" {
		c.log.Warn("the search index was of another database and is built anew", "folder", c.dir)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(c.identity), 0); err != nil {
		return err
	}
	return f.Sync()
}

// maxIdentity bounds what is read of a claim.
const maxIdentity = 1 << 10

func readClaim(f *os.File) (identity string, err error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxIdentity))
	return string(text), err
}
