package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// workersDir is where in a data folder each worker has a file, by the name
// HOST@PID-RANDOM, on which it holds a lock as long as it lives. So a check can
// tell which workers of a machine run, and those that died leave no trace.
func workersDir(dataDir string) string { return filepath.Join(dataDir, "workers") }

// markWorker makes the file of this process and removes those of dead ones. The
// returned function removes it.
func markWorker(dataDir string) (unmark func(), err error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the name of this machine: %w", err)
	}
	dir := workersDir(dataDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of workers: %w", err)
	}
	marks, err := readMarks(dataDir)
	if err != nil {
		return nil, err
	}
	for _, m := range marks {
		if m.isDead() {
			_ = os.Remove(m.path) // another worker may have been faster
		}
	}
	// A file is locked before it has its name: one that has it and no lock is dead.
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return nil, fmt.Errorf("mark this worker: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s@%d%s", host, os.Getpid(), strings.TrimPrefix(filepath.Base(f.Name()), ".new")))
	if err := errors.Join(lockFile(f, lockAlone), os.Rename(f.Name(), path)); err != nil {
		return nil, fmt.Errorf("mark this worker: %w", errors.Join(err, f.Close(), os.Remove(f.Name())))
	}
	return func() {
		_ = os.Remove(path)
		_ = f.Close()
	}, nil
}

// markedWorkers lists the processes of a machine's workers that run.
func markedWorkers(dataDir, host string) (pids []int, err error) {
	marks, err := readMarks(dataDir)
	for _, m := range marks {
		if m.host == host && !m.isDead() {
			pids = append(pids, m.pid)
		}
	}
	return pids, err
}

// mark is a worker's file.
type mark struct {
	path, host string
	pid        int
}

// readMarks reads the names of the workers' files.
func readMarks(dataDir string) (marks []mark, err error) {
	dir := workersDir(dataDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the folder of workers: %w", err)
	}
	for _, e := range entries {
		at := max(strings.LastIndexByte(e.Name(), '@'), 0)
		number, _, _ := strings.Cut(e.Name()[at:], "-")
		if pid, err := strconv.Atoi(strings.TrimPrefix(number, "@")); err == nil {
			marks = append(marks, mark{filepath.Join(dir, e.Name()), e.Name()[:at], pid})
		}
	}
	return marks, nil
}

// isDead reports whether the process has ended: nobody has the lock.
func (m mark) isDead() bool {
	f, err := os.OpenFile(m.path, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return lockFile(f, lockShared) == nil
}
