package index

import (
	"os"
	"syscall"
)

// remoteTypes are the file systems, by the number that statfs(2) gives, whose
// files are elsewhere.
var remoteTypes = map[uint32]string{
	0x00006969: "nfs",
	0x0000517B: "smb",
	0xFF534D42: "cifs",
	0xFE534D42: "smb2",
	0x01021997: "9p",
	0x65735546: "fuse",
	0x00C36400: "ceph",
	0x5346414F: "afs",
	0x6B414653: "kafs",
	0x73757245: "coda",
	0x01161970: "gfs2",
	0x7461636F: "ocfs2",
}

// isRemote reports whether a file is on a file system of another machine or of a
// program. A page of it that is needed can fail to come, which a reader of a
// mapping meets as a fault, and another machine may take the file away.
func isRemote(f *os.File) bool {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return false
	}
	_, remote := remoteTypes[uint32(st.Type)]
	return remote
}
