//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package index

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// mapFile returns the content of a file, which must not change, and a function
// that lets go of it. A file that is not on this machine is read into memory.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	if isRemote(f) {
		return readFile(f, size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}

// createLocked creates a file under a temporary name and gives it its name when
// it is locked: nobody sees it unlocked before its owner has ended.
func createLocked(temp, path string) (*os.File, error) {
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = lockFile(f); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		f.Close()
		os.Remove(temp)
		return nil, err
	}
	return f, nil
}

// isLocked reports whether a file is there and somebody has its lock. Asking
// takes a lock that others who ask can share.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, os.NewSyscallError("flock", err)
}

// lockFile takes the exclusive lock of an open file without waiting. The system
// gives it up when the process ends.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return os.NewSyscallError("flock", err)
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
