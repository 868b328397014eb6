package index

import (
	"os"
	"syscall"
)

// isLocal is MNT_LOCAL of sys/mount.h.
const isLocal = 0x00001000

// isRemote reports whether a file is on a file system of another machine or of a
// program: a mapping of it can fail while it is read.
func isRemote(f *os.File) bool {
	var st syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &st) == nil && st.Flags&isLocal == 0
}
