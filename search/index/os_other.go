//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package index

import "os"

// mapFile reads the file: this system has no mapping that the package knows.
func mapFile(f *os.File, size int) ([]byte, func() error, error) { return readFile(f, size) }

// lockFile does nothing: here the caller has to see to it that an index has one
// writer.
func lockFile(*os.File) error { return nil }

// syncDir does nothing: such systems do not sync folders.
func syncDir(string) error { return nil }
