//go:build unix

package worker

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakMemory is the largest resident size that this process has had, in bytes.
func peakMemory() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss << 10 // kilobytes elsewhere
}
