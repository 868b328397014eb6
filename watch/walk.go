package watch

import (
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"hash/fnv"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// walk goes through the directories that the rules let in.
type walk struct {
	rules    *rules
	enter    func(dir string, entries func() int) error // before a directory is read; may be nil
	leaveOut func(dir string)                           // for each directory that is not entered; may be nil
	since    time.Time                                  // files are looked at until one is newer; zero = not at all
	digest   hash.Hash64                                // takes in all files with sizes and times; may be nil

	newest time.Time // of the files and directories that were looked at
	files  int       // that the rules take
	dirs   int       // that were read
}

// dir walks a directory, given by its path in the tree. Directories below it
// that are gone by then, or can't be read, are left out; errors are those of the
// directory itself, of enter and of ctx.
func (w *walk) dir(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	full := w.rules.full(dir)
	if w.enter != nil {
		if err := w.enter(dir, func() int { return countEntries(full) }); err != nil {
			return err
		}
	}
	entries, err := readDir(full, dir == "")
	if err != nil {
		return limited(err)
	}
	w.dirs++
	w.rules.enter(dir)
	w.note(dir+"/", func() (fs.FileInfo, error) { return os.Lstat(full) })
	var below []string
	for _, e := range entries {
		switch {
		case e.IsDir() && w.rules.entersDir(dir, e.Name()):
			below = append(below, join(dir, e.Name()))
		case e.IsDir():
			if w.leaveOut != nil {
				w.leaveOut(join(dir, e.Name()))
			}
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			if w.rules.takes(dir, e.Name()) {
				w.files++
				w.note(join(dir, e.Name()), e.Info)
			}
		}
	}
	for _, sub := range below {
		if err := w.dir(ctx, sub); err != nil && (ctx.Err() != nil || errors.Is(err, errLimit)) {
			return err
		}
	}
	return nil
}

// note looks at a file or a directory.
func (w *walk) note(path string, stat func() (fs.FileInfo, error)) {
	if w.digest == nil && (w.since.IsZero() || w.newest.After(w.since)) {
		return
	}
	info, err := stat()
	if err != nil {
		return
	}
	if t := info.ModTime(); t.After(w.newest) {
		w.newest = t
	}
	if w.digest == nil || info.IsDir() {
		return // the time of a directory changes with files that don't count
	}
	_, _ = w.digest.Write([]byte(path))
	var numbers [24]byte
	binary.LittleEndian.PutUint64(numbers[0:], uint64(info.Size()))
	binary.LittleEndian.PutUint64(numbers[8:], uint64(info.ModTime().UnixNano()))
	binary.LittleEndian.PutUint64(numbers[16:], uint64(info.Mode()))
	_, _ = w.digest.Write(numbers[:])
}

// view is what a scan saw of a tree.
type view struct {
	digest uint64 // of all files with their sizes and times
	newest time.Time
	dirs   int
}

// scan looks at every file of a tree. The error is that of the root.
func scan(ctx context.Context, r *rules) (view, error) {
	r.forget()
	w := walk{rules: r, digest: fnv.New64a()}
	err := w.dir(ctx, "")
	return view{w.digest.Sum64(), w.newest, w.dirs}, err
}

// readDir returns the entries of a directory in the order of their names. Only
// the root may be a link.
func readDir(path string, root bool) ([]fs.DirEntry, error) {
	flags := os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NONBLOCK
	if !root {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// countEntries counts the entries of a directory.
func countEntries(path string) int {
	entries, _ := readDir(path, true)
	return len(entries)
}
