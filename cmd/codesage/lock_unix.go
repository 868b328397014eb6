//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// privateFiles keeps what this process makes from now on, the database's own
// files too, for its user alone: source code of private repositories lies there.
func privateFiles() { unix.Umask(0o077) }

// isOpenToOthers reports whether other users of the machine may enter a folder.
func isOpenToOthers(folder os.FileInfo) bool { return folder.Mode().Perm()&0o077 != 0 }

// lockFile takes a lock that ends with the process.
func lockFile(f *os.File, kind lockKind) error {
	how := unix.LOCK_EX
	if kind == lockShared {
		how = unix.LOCK_SH
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
}
