package git

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codesage"
	"codesage/pipeline/source"
)

// Limits of a tree. A name or path beyond them is one that no file system
// holds.
const (
	maxName      = 255
	maxPath      = 4096
	maxTreeBytes = 16 << 20 // of the folders that are open at the same time
	maxShown     = 200      // of a path that is reported as skipped
)

// What a Git LFS pointer looks like.
const (
	lfsPrefix  = "version https://git-lfs.github.com/spec/v1\n"
	lfsMaxSize = 1024
)

var errTreeSize = fmt.Errorf("it has too many files (limit %d, and %d MB of paths)", MaxEntries, MaxPathBytes>>20)

// walk is one pass over a tree. A folder may stand in a tree any number of
// times, so a few objects can make a tree without end: entries are counted, and
// so are the bytes of their paths and of the folders that are open.
type walk struct {
	c       *checkout
	file    func(source.File) error
	skip    func(codesage.Skip) error
	entries int
	paths   int
	open    int64
}

// List implements source.Checkout. Submodules, links and LFS pointers are
// skips; so is a file or folder whose name is not a plain UTF-8 name.
func (c *checkout) List(ctx context.Context, file func(source.File) error, skip func(codesage.Skip) error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return errClosed
	}
	w := &walk{c: c, file: file, skip: skip}
	return w.folder(ctx, "", c.tree)
}

// folder lists one folder in the byte order of paths. Its depth is bounded by
// the length of a path.
func (w *walk) folder(ctx context.Context, prefix string, hash plumbing.Hash) error {
	entries, size, err := w.decode(hash)
	if err != nil {
		return err
	}
	w.open += size
	defer func() { w.open -= size }()
	last := ""
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.paths += len(prefix) + len(e.Name); w.paths > MaxPathBytes {
			return w.fault(errTreeSize)
		}
		path := prefix + e.Name
		if !validName(e.Name) || len(path) > maxPath || sortName(e) == last {
			err = w.skip(codesage.Skip{Path: shown(path), Reason: codesage.SkipPath})
		} else {
			last = sortName(e)
			err = w.entry(ctx, path, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entry lists one entry with a good name.
func (w *walk) entry(ctx context.Context, path string, e object.TreeEntry) error {
	switch e.Mode {
	case filemode.Dir:
		return w.folder(ctx, path+"/", e.Hash)
	case filemode.Symlink:
		return w.skip(codesage.Skip{Path: path, Reason: codesage.SkipSymlink})
	case filemode.Regular, filemode.Executable:
		return w.blob(path, e.Hash)
	}
	return w.skip(codesage.Skip{Path: path, Reason: codesage.SkipSubmodule})
}

// blob lists one file.
func (w *walk) blob(path string, hash plumbing.Hash) error {
	e, ok := w.c.objects.find(hash, plumbing.BlobObject)
	if !ok {
		return w.skip(codesage.Skip{Path: path, Reason: codesage.SkipUnreadable})
	}
	if e.size >= int64(len(lfsPrefix)) && e.size <= lfsMaxSize {
		head, err := w.c.objects.read(e, int64(len(lfsPrefix)))
		if err != nil {
			return err
		}
		if string(head) == lfsPrefix {
			return w.skip(codesage.Skip{Path: path, Reason: codesage.SkipLFS})
		}
	}
	name := hash.String()
	return w.file(source.File{Path: path, Size: e.size, Hash: name, Stamp: name})
}

// decode returns the entries of a folder in the order of their paths, which a
// hostile host need not have kept, and the size of the folder's object.
func (w *walk) decode(hash plumbing.Hash) ([]object.TreeEntry, int64, error) {
	e, ok := w.c.objects.find(hash, plumbing.TreeObject)
	if !ok {
		return nil, 0, w.fault(errIncomplete)
	}
	if w.open+e.size > maxTreeBytes {
		return nil, 0, w.fault(errTreeSize)
	}
	data, err := w.c.objects.read(e, e.size)
	if err != nil {
		return nil, 0, err
	}
	var tree object.Tree
	if err := tree.Decode(encoded(plumbing.TreeObject, data)); err != nil {
		return nil, 0, w.fault(fmt.Errorf("%w: folder: %w", errMalformed, err))
	}
	if w.entries += len(tree.Entries); w.entries > MaxEntries {
		return nil, 0, w.fault(errTreeSize)
	}
	slices.SortStableFunc(tree.Entries, func(a, b object.TreeEntry) int {
		return strings.Compare(sortName(a), sortName(b))
	})
	return tree.Entries, e.size, nil
}

// fault is the error for a tree that can't be listed.
func (w *walk) fault(err error) error {
	kind, message := codesage.KindUnavailable, "commit %s can't be read: %v"
	if errors.Is(err, errTreeSize) {
		kind, message = codesage.KindTooLarge, "commit %s can't be indexed: %v"
	}
	return &codesage.Error{Kind: kind, Message: fmt.Sprintf(message, w.c.commit, err), Err: err}
}

// sortName is the name by which git orders entries: it makes the order of a
// walk the byte order of the paths.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// validName reports whether a name is a plain name of one file or folder on
// every system that has long names: valid UTF-8 without separators and control
// characters, not ".", ".." or ".git".
func validName(name string) bool {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return false
	}
	if name == "." || name == ".." || strings.EqualFold(name, ".git") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) })
}

// shown returns a path that is not plain in a form that can be printed and
// stored. A path that had to be changed for it ends in a hash, so that no two are
// shown alike.
func shown(path string) string {
	quoted := strconv.Quote(path)
	quoted = quoted[1 : len(quoted)-1]
	if runes := []rune(quoted); len(runes) > maxShown {
		quoted = string(runes[:maxShown]) + "…"
	}
	if quoted == path {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s#%x", quoted, sum[:4])
}
