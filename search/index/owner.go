package index

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

const (
	// tempPrefix begins the names of unfinished files; the owner follows.
	tempPrefix = ".tmp-"

	lockExt = ".lock"
)

// An Owner is a writer of a folder. Any number of them may be at work in one
// folder, in any number of processes: each has a name of its own, which begins
// the names of the files that it makes, and holds the lock of a file of that
// name until it ends or its process dies. So Look can tell what ended writers
// left from what one that stands still may yet need. It is safe for concurrent
// use.
type Owner struct {
	dir, name string
	lock      *os.File
	segments  atomic.Uint64
}

// NewOwner returns a writer of a folder, which must exist. The error is
// fs.ErrNotExist when the folder is gone, or was swept at this very moment: the
// caller may try again. The caller ends the Owner.
func NewOwner(dir string) (*Owner, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	o := &Owner{dir: dir, name: hex.EncodeToString(id[:])}
	var err error
	if o.lock, err = createLocked(filepath.Join(dir, tempPrefix+o.name+lockExt), o.lockPath()); err != nil {
		return nil, fmt.Errorf("begin to write in %s: %w", dir, err)
	}
	return o, nil
}

// Name returns what the names of the owner's files begin with.
func (o *Owner) Name() string { return o.name }

// NewSegment returns a file name for a segment that is not used twice.
func (o *Owner) NewSegment() string {
	return o.name + "-" + strconv.FormatUint(o.segments.Add(1), 10) + SegmentExt
}

// End says that the owner has written its last. What it made belongs to the
// manifests that name it, and what none names is swept.
func (o *Owner) End() {
	os.Remove(o.lockPath()) // a sweep would remove it
	o.lock.Close()
}

func (o *Owner) lockPath() string { return filepath.Join(o.dir, o.name+lockExt) }

// ownerOf returns the name of the owner of a segment, a lock or a temporary file.
func ownerOf(name string) string {
	name = strings.TrimPrefix(name, tempPrefix)
	if end := strings.IndexAny(name, "-."); end >= 0 {
		return name[:end]
	}
	return name
}

// tempPattern is what os.CreateTemp names the temporary files of an owner by.
func tempPattern(owner string) string { return tempPrefix + owner + "-*" }

// lockName is the file of LockDir.
const lockName = "lock"

// A Lock is the lock of a folder: it spares callers work that one of them is
// enough for. Nothing in this package needs it.
type Lock struct{ f *os.File }

// LockDir takes the lock of a folder, which must exist, and returns ErrLocked
// when another process, or another part of this one, has it. The lock of a
// process that dies is free; that of one that stands still is not.
func LockDir(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return &Lock{f}, nil
}

// Unlock gives the lock back. The file stays: removing it would let two take
// the locks of two files of the same name.
func (l *Lock) Unlock() error { return l.f.Close() }
