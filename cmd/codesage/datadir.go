package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codesage"
)

// dataDir is the folder of one server, or of the processes of a team's.
type dataDir struct {
	path string
	lock *os.File
}

// lockKind says with whom a process shares its data folder.
type lockKind int

// The kinds of lock: SQLite is for one process, a team's processes share all.
const (
	lockAlone lockKind = iota
	lockShared
)

// openDataDir makes the folder if it is missing and takes it for this process,
// so that no other server writes to a database that is this one's. From then on
// this process makes its files for its user alone.
func openDataDir(path string, kind lockKind) (*dataDir, error) {
	privateFiles()
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w; set CODESAGE_DATA_DIR to a folder that can be written", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the data folder: %w; set CODESAGE_DATA_DIR to a folder that can be written", err)
	}
	if err := lockFile(lock, kind); err != nil {
		_ = lock.Close()
		return nil, codesage.Errorf(codesage.KindConflict,
			"another codesage server is using the data folder %s; stop it, or set CODESAGE_DATA_DIR to another folder", path)
	}
	return &dataDir{path: path, lock: lock}, nil
}

// writeKey leaves the server's key for the bridge and the command line of this
// user, or removes what an earlier start left when there is none.
func writeKey(dataDir, key string) error {
	path := keyFile(dataDir)
	if key == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the old key file: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(path+".new", []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	return nil
}

// keyFile is where a server leaves its key in its data folder.
func keyFile(dataDir string) string { return filepath.Join(dataDir, "api_key") }

// openToOthers reports whether the folder lets other users of the machine in:
// it may have been there before, and is left as it is.
func (d *dataDir) openToOthers() bool {
	info, err := os.Stat(d.path)
	return err == nil && isOpenToOthers(info)
}

func (d *dataDir) close() { _ = d.lock.Close() }
