package folder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/ignore"
)

// The bounds of a tree. What lies beyond them is skipped by its name: it is
// longer than systems take, or nests deeper than any project does.
const (
	maxPath   = 4096
	maxDepth  = 255
	ignoreMax = 4 << 20 // bytes of an ignore file
)

// List walks the folder. See source.Checkout. Links are reported as skipped,
// and so are directories that can't be read and names that are not valid; other
// things that are no files (sockets, FIFOs, devices) are not reported. Memory is
// bounded by the names of the directories on the way down.
func (c *checkout) List(ctx context.Context, file func(source.File) error, skip func(codesage.Skip) error) error {
	w := walk{
		checkout: c,
		ctx:      ctx,
		file:     file,
		skip:     skip,
		ignore:   ignore.New(c.exclusions()),
		racy:     c.now().Add(-tick),
	}
	return w.walkDir(c.root, "", "")
}

// exclusions returns the text of the folder's .git/info/exclude.
func (c *checkout) exclusions() []byte {
	dir, done, err := c.enter(".git/info/exclude")
	if err != nil {
		return nil
	}
	defer done()
	return readIgnore(dir, "exclude")
}

// readIgnore returns the text of an ignore file; nil when there is none.
func readIgnore(dir *os.Root, name string) []byte {
	f, size, err := openRegular(dir, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := readSome(context.Background(), f, min(size, ignoreMax)+1, ignoreMax)
	if err != nil {
		return nil
	}
	return data
}

// walk is one listing.
type walk struct {
	*checkout
	ctx    context.Context
	file   func(source.File) error
	skip   func(codesage.Skip) error
	ignore *ignore.Matcher
	racy   time.Time // what was changed since may change again unseen
	depth  int
}

// walkDir walks one open directory: name is its own name and prefix its path with a
// slash at the end, both empty for the root.
func (w *walk) walkDir(dir *os.Root, name, prefix string) error {
	entries, err := readDir(dir)
	switch {
	case err != nil && prefix == "":
		return pathError(w.dir, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return w.report(strings.TrimSuffix(prefix, "/"), codesage.SkipUnreadable)
	}
	w.ignore.Push(name, ignoreText(dir, entries))
	defer w.ignore.Pop()
	w.depth++
	defer func() { w.depth-- }()
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(dir, prefix, e); err != nil {
			return err
		}
	}
	return nil
}

// entry is a name in a directory.
type entry struct {
	name string
	info fs.FileInfo
}

// readDir returns the entries of a directory in the order that their paths have:
// a directory sorts as if its name ended in a slash. Entries that vanish
// meanwhile are left out.
func readDir(dir *os.Root) ([]entry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		if info, err := dir.Lstat(name); err == nil {
			entries = append(entries, entry{name, info})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key(), b.key()) })
	return entries, nil
}

func (e *entry) key() string {
	if e.info.IsDir() {
		return e.name + "/"
	}
	return e.name
}

// ignoreText returns the rules of a directory. Git does not follow a link to
// find them.
func ignoreText(dir *os.Root, entries []entry) []byte {
	for i := range entries {
		if entries[i].name == ".gitignore" && entries[i].info.Mode().IsRegular() {
			return readIgnore(dir, ".gitignore")
		}
	}
	return nil
}

// entry reports one entry, or walks it.
func (w *walk) entry(dir *os.Root, prefix string, e entry) error {
	path, mode := prefix+e.name, e.info.Mode()
	switch {
	case mode.IsDir() && strings.HasPrefix(e.name, "."), e.name == ".git":
		return nil
	case !mode.IsDir() && !mode.IsRegular() && mode&fs.ModeSymlink == 0:
		return nil
	case w.ignore.Ignored(e.name, mode.IsDir()):
		return nil
	case mode.IsDir() && w.exclude.MatchTree(path):
		return nil
	case !mode.IsDir() && !w.wanted(path, e.name):
		return nil
	case !validName(path) || w.depth >= maxDepth:
		return w.report(path, codesage.SkipPath)
	case mode&fs.ModeSymlink != 0:
		if w.exclude.MatchTree(path) {
			return nil
		}
		return w.report(path, codesage.SkipSymlink)
	case mode.IsDir():
		return w.enterDir(dir, path, e.name)
	}
	return w.file(source.File{Path: path, Size: e.info.Size(), Stamp: w.stamp(e.info)})
}

// enterDir walks a directory of dir.
func (w *walk) enterDir(dir *os.Root, path, name string) error {
	sub, err := openDir(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return codesage.Errorf(codesage.KindUnavailable, "list %s: %w", path, err)
	case err != nil:
		return w.report(path, codesage.SkipUnreadable)
	}
	defer sub.Close()
	return w.walkDir(sub, name, path+"/")
}

// wanted reports whether the patterns let a file through. Include patterns may
// name the whole path, the path in the folder or the bare name.
func (w *walk) wanted(path, name string) bool {
	if w.exclude.Match(path) {
		return false
	}
	return len(w.include) == 0 || w.include.Match(path) || w.include.Match(name) || w.include.Match(w.dir+"/"+path)
}

// report hands out a skipped path, made valid UTF-8 so that it can be shown.
func (w *walk) report(path string, reason codesage.SkipReason) error {
	return w.skip(codesage.Skip{Path: strings.ToValidUTF8(path, "\uFFFD"), Reason: reason})
}

// validName reports whether a path can be stored and shown: UTF-8, without
// control characters and of a length that systems take.
func validName(path string) bool {
	return len(path) <= maxPath && utf8.ValidString(path) &&
		!strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7F })
}

// stamp returns what tells that a file is unchanged; empty when the file may
// still change without a new time.
func (w *walk) stamp(info fs.FileInfo) string {
	if !info.ModTime().Before(w.racy) {
		return ""
	}
	return statStamp(info, w.racy)
}
