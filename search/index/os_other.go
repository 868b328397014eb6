//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package index

import (
	"errors"
	"io/fs"
	"os"
)

// mapFile reads the file: this system has no mapping that the package knows.
func mapFile(f *os.File, size int) ([]byte, func() error, error) { return readFile(f, size) }

// createLocked creates a file. Holding it open is the lock: here an open file
// can't be removed.
func createLocked(_, path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// isLocked reports whether a file is there and open; one that is not open goes.
func isLocked(path string) (bool, error) {
	err := os.Remove(path)
	return err != nil && !errors.Is(err, fs.ErrNotExist), nil
}

// lockFile does nothing: here callers do the same work twice.
func lockFile(*os.File) error { return nil }

// syncDir does nothing: such systems do not sync folders.
func syncDir(string) error { return nil }
