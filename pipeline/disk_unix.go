//go:build unix

package pipeline

import "golang.org/x/sys/unix"

// freeDisk returns the bytes that this process may still write on a folder's
// disk.
func freeDisk(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
