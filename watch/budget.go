package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	mostWatches   = 50_000 // a watch costs the kernel about a kilobyte, and us half of one
	mostInstances = 64
	mostFiles     = 4_000 // where each watched file costs a file descriptor
)

// DefaultLimit is how many watches one process takes at most: half of what the
// system grants a user, and no more than 50,000. On systems whose watches are
// open files it is 4,000, and files count too.
func DefaultLimit() int {
	if filesCount() {
		return mostFiles
	}
	return min(mostWatches, half("max_user_watches", mostWatches))
}

// DefaultInstances is how many trees are watched at the same time at most: half
// of what the system grants a user, and no more than 64.
func DefaultInstances() int {
	return min(mostInstances, half("max_user_instances", mostInstances))
}

// filesCount reports whether watching a directory opens every file in it.
func filesCount() bool {
	switch runtime.GOOS {
	case "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
		return true
	}
	return false
}

// half returns half of a limit of inotify, at least 1; standard where the system
// has no such limit.
func half(name string, standard int) int {
	text, err := os.ReadFile(filepath.Join("/proc/sys/fs/inotify", name))
	if err != nil {
		return standard
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return standard
	}
	return max(n/2, 1)
}

// budget counts what may still be taken of something. It is safe for concurrent
// use.
type budget struct {
	mu   sync.Mutex
	left int
}

func newBudget(n int) *budget { return &budget{left: n} }

// take takes n, or nothing when there is less.
func (b *budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// give gives n back.
func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// free is how many are left.
func (b *budget) free() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}
