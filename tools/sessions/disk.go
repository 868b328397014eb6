package sessions

import (
	"crypto/sha1" // the hash of git blobs
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"codesage"
)

// state is how an indexed file compares with what is on disk now.
type state int

const (
	unchanged state = iota // also when disk can't tell
	changed
	gone
)

// changedNote is the line that an answer carries about a file that changed.
const changedNote = "**Note:** file changed since indexing; re-index to refresh."

// compareBudget is how many bytes one call reads to compare files with what was
// indexed. When it is spent only sizes are compared.
const compareBudget = 64 << 20

// A disk looks at the files of a session as they are now. It never follows a
// link out of the folder and reads no more than compareBudget.
type disk struct {
	root    *os.Root
	missing bool // the folder is gone
	left    int64
	known   map[string]state
	folders map[string]bool // whether a path in the root is a folder, and no link to one
}

// disk opens the folder of a session; for a git repository there is nothing to
// compare with. The caller closes it.
func (x session) disk() *disk {
	d := &disk{left: compareBudget, known: map[string]state{}, folders: map[string]bool{".": true}}
	if x.Source != codesage.SourceFolder {
		return d
	}
	root, err := os.OpenRoot(x.Repository.Path)
	if err != nil {
		d.missing = unreachable(err)
		return d
	}
	d.root = root
	return d
}

func (d *disk) close() {
	if d.root != nil {
		_ = d.root.Close()
	}
}

// isGone reports whether a file is there no more: neither is one whose folder
// has become a link, since links are never followed.
func (d *disk) isGone(file string) bool {
	if d.root == nil {
		return d.missing
	}
	if !d.isFolder(path.Dir(file)) {
		return true
	}
	_, err := d.root.Lstat(filepath.FromSlash(file))
	return unreachable(err)
}

// isFolder reports whether a path and all above it are folders; also when disk
// can't tell.
func (d *disk) isFolder(dir string) bool {
	is, known := d.folders[dir]
	if !known {
		if is = d.isFolder(path.Dir(dir)); is {
			info, err := d.root.Lstat(filepath.FromSlash(dir))
			is = err == nil && info.IsDir() || err != nil && !unreachable(err)
		}
		d.folders[dir] = is
	}
	return is
}

// unreachable reports whether an error says that nothing is at a path. Without
// the permission to look, or on a disk that fails, something may be.
func unreachable(err error) bool {
	var errno syscall.Errno
	if err == nil || errors.Is(err, fs.ErrNotExist) || !errors.As(err, &errno) { // os.Root has words of its own for what leads out of it
		return err != nil
	}
	return errno == syscall.ENOTDIR || errno == syscall.ELOOP || errno == syscall.ENAMETOOLONG
}

// state compares a file with what was indexed.
func (d *disk) state(f codesage.File) state {
	switch known, ok := d.known[f.Path]; {
	case ok:
		return known
	case d.isGone(f.Path):
		return gone
	case d.root == nil:
		return unchanged
	}
	d.known[f.Path] = d.compare(f)
	return d.known[f.Path]
}

func (d *disk) compare(f codesage.File) state {
	name := filepath.FromSlash(f.Path)
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return unchanged
	case !info.Mode().IsRegular() || info.Size() != f.Size:
		return changed
	case info.Size() > d.left:
		return unchanged
	}
	d.left -= info.Size()
	if hash, err := d.hash(name, info.Size()); err != nil || hash == f.Hash {
		return unchanged
	}
	return changed
}

// hash returns the git blob hash of a regular file of a size.
func (d *disk) hash(name string, size int64) (string, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO in its place must not hang
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("open %s: not a file any more", name)
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.CopyN(h, f, size); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
