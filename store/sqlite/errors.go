package sqlite

import (
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"codesage"
)

// explain gives an error of the driver its kind, and words for those that a
// person can do something about. Others pass as they are.
func (s *Store) explain(err error) error {
	var e sqlite3.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return unavailable(err, "the disk that holds the database %s is full: free some space and try again", s.path)
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return unavailable(err, "the database %s can't be written: check the rights on the file and on its folder", s.path)
	case sqlite3.ErrCantOpen:
		return unavailable(err, "the database %s can't be opened: check that its folder exists and can be written", s.path)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return unavailable(err, "the database %s is in use by another program: stop it, or try again", s.path)
	case sqlite3.ErrIoErr:
		return unavailable(err, "the disk that holds the database %s failed (%v)", s.path, err)
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		return damaged(s.path, err)
	}
	return err
}

// unavailable is a KindUnavailable with words for people and a cause for the log.
func unavailable(cause error, format string, args ...any) error {
	return &codesage.Error{Kind: codesage.KindUnavailable, Message: fmt.Sprintf(format, args...), Err: cause}
}

// damaged says what to do about a file that can't be read as a database.
func damaged(path string, cause error) error {
	advice := "move it away and start again to re-index"
	if backups := listBackups(path); len(backups) > 0 {
		advice += ", or restore the backup " + backups[len(backups)-1]
	}
	return &codesage.Error{
		Kind:    codesage.KindInternal,
		Message: fmt.Sprintf("the database %s is damaged (%v): %s", path, cause, advice),
		Err:     cause,
	}
}
