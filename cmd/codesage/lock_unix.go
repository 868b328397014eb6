//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes a lock that ends with the process.
func lockFile(f *os.File, kind lockKind) error {
	how := unix.LOCK_EX
	if kind == lockShared {
		how = unix.LOCK_SH
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
}
