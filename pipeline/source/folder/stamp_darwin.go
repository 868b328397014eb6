package folder

import (
	"io/fs"
	"syscall"
	"time"
)

// statStamp returns size, times, inode and device of a file, or empty when its
// inode changed after racy.
func statStamp(info fs.FileInfo, racy time.Time) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	changed := time.Unix(st.Ctimespec.Unix())
	if !changed.Before(racy) {
		return ""
	}
	return joinStamp(info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), int64(st.Ino), int64(st.Dev))
}
