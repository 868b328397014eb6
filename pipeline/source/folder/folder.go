// Package folder is the source of local folders. It reads the tree in place and
// never follows a link, opens a device or leaves the folder, whatever changes on
// disk meanwhile. It never runs git.
package folder

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/pattern"
)

// Options are the choices of a Source.
type Options struct {
	// Roots are the folders below which a repository must lie. Fetch checks it
	// again, since a folder may have been moved away and a link put in its place
	// after it was added. Nil means that the caller vouches for every path.
	Roots []string

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Source reads local folders. It is safe for concurrent use.
type Source struct {
	roots []string
	now   func() time.Time
}

// New returns a Source.
func New(o Options) *Source {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Source{roots: o.Roots, now: o.Now}
}

// Fetch opens a folder. Errors: KindNotFound when it is gone, KindInvalid when
// it is not a folder or a pattern is bad, KindDenied when it can't be read or
// lies outside the allowed roots.
func (s *Source) Fetch(ctx context.Context, repo codesage.Repository) (source.Checkout, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir := repo.Path
	if s.roots != nil {
		real, err := CheckRoot(dir, s.roots)
		if err != nil {
			return nil, err
		}
		dir = real
	} else if err := checkFolder(dir); err != nil {
		return nil, err
	}
	include, exclude, err := compile(repo.Options)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, pathError(dir, err)
	}
	c := &checkout{root: root, dir: strings.TrimSuffix(dir, "/"), include: include, exclude: exclude, commit: headCommit(dir), now: s.now}
	if err := c.readable(); err != nil {
		root.Close()
		return nil, pathError(dir, err)
	}
	return c, nil
}

// compile reads the patterns of a repository. Without exclude patterns the
// default ones hold.
func compile(o codesage.IndexOptions) (include, exclude pattern.Set, err error) {
	if include, err = compileSet("include", o.Include); err != nil {
		return nil, nil, err
	}
	exclude, err = compileSet("exclude", pattern.Excludes(o.Exclude))
	return include, exclude, err
}

func compileSet(which string, patterns []string) (pattern.Set, error) {
	set, err := pattern.CompileSet(patterns)
	var bad *pattern.Error
	if errors.As(err, &bad) {
		return nil, codesage.Errorf(codesage.KindInvalid, "Invalid %s pattern '%s': %w", which, bad.Pattern, err)
	}
	return set, err
}

// checkout is an open folder.
type checkout struct {
	root    *os.Root
	dir     string // absolute, for patterns that name the whole path
	include pattern.Set
	exclude pattern.Set
	commit  string
	now     func() time.Time
	close   sync.Once
}

// Commit returns the commit at HEAD of the git work tree that the folder is, or
// lies in; empty outside git and before the first commit.
func (c *checkout) Commit() string { return c.commit }

// Close closes the folder.
func (c *checkout) Close() (err error) {
	c.close.Do(func() { err = c.root.Close() })
	return err
}

// Check implements source.Checkout. A folder that was deleted, moved away or
// replaced by another is KindNotFound, one that can't be read any more is
// KindDenied.
func (c *checkout) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := cmp.Or(c.dir, "/")
	opened, err := c.root.Stat(".")
	if err != nil {
		return pathError(dir, err)
	}
	there, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &codesage.Error{Kind: codesage.KindNotFound, Message: "The folder vanished while it was indexed: " + dir, Err: err}
	case err != nil:
		return pathError(dir, err)
	case !os.SameFile(opened, there):
		return codesage.Errorf(codesage.KindNotFound, "Another folder took the place of this one while it was indexed: %s", dir)
	}
	if err := c.readable(); err != nil {
		return pathError(dir, err)
	}
	return nil
}

// readable reports why the folder can't be listed.
func (c *checkout) readable() error {
	f, err := c.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.ReadDir(1); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// readTries is how often a file is opened that is replaced at that very moment.
const readTries = 3

// readStep is how much is read before the context is looked at again.
const readStep = 1 << 20

// Read returns the bytes of a listed file, at most limit of them. A file that
// has gone, or that is no regular file any more, is KindNotFound; one that can't
// be opened or read is KindDenied; KindUnavailable means that the system is out
// of file descriptors.
func (c *checkout) Read(ctx context.Context, f source.File, limit int64) (data []byte, tooLarge bool, err error) {
	file, size, err := c.open(f.Path)
	for try := 1; try < readTries && errors.Is(err, errReplaced); try++ {
		file, size, err = c.open(f.Path)
	}
	if err != nil {
		return nil, false, fileError(f.Path, err)
	}
	defer file.Close()
	data, err = readSome(ctx, file, min(size, limit)+1, limit+1)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return nil, false, fileError(f.Path, err)
	case int64(len(data)) > limit:
		return data[:limit], true, nil
	}
	return data, false, nil
}

// open opens a file of the tree.
func (c *checkout) open(name string) (*os.File, int64, error) {
	dir, done, err := c.enter(name)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	return openRegular(dir, path.Base(name))
}

// readSome reads to the end of r, or limit bytes.
func readSome(ctx context.Context, r io.Reader, guess, limit int64) ([]byte, error) {
	data := make([]byte, 0, max(guess, 1))
	for int64(len(data)) < limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		room := data[len(data):cap(data)]
		room = room[:min(int64(len(room)), readStep, limit-int64(len(data)))]
		n, err := r.Read(room)
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

var (
	errLink     = errors.New("a symbolic link")
	errSpecial  = errors.New("not a regular file")
	errReplaced = errors.New("replaced while it was opened")
)

// enter opens the directory of a path, one part after the other, and refuses
// links on the way. done closes it.
func (c *checkout) enter(name string) (dir *os.Root, done func(), err error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return nil, nil, errSpecial
	}
	dir = c.root
	done = func() {
		if dir != c.root {
			dir.Close()
		}
	}
	parent := path.Dir(name)
	if parent == "." {
		return dir, done, nil
	}
	for part := range strings.SplitSeq(parent, "/") {
		sub, err := openDir(dir, part)
		done()
		if err != nil {
			return nil, nil, err
		}
		dir = sub
	}
	return dir, done, nil
}

// openDir opens a directory of dir, which must be one and not a link.
func openDir(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !before.IsDir():
		return nil, errSpecial
	}
	// The dot makes the open fail, and not wait, when a FIFO has taken the
	// directory's place.
	sub, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	if after, err := sub.Stat("."); err != nil || !os.SameFile(before, after) {
		sub.Close()
		return nil, errReplaced
	}
	return sub, nil
}

// openRegular opens a file of dir, which must be a regular file and not a link.
func openRegular(dir *os.Root, name string) (f *os.File, size int64, err error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, 0, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, 0, errLink
	case !before.Mode().IsRegular():
		return nil, 0, errSpecial
	}
	f, err = dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, 0, errReplaced
	}
	return f, after.Size(), nil
}

// fileError gives the error of a read its kind.
func fileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errLink), errors.Is(err, errSpecial), errors.Is(err, syscall.ENOTDIR):
		return &codesage.Error{Kind: codesage.KindNotFound, Message: "read " + name + ": the file has gone", Err: err}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return codesage.Errorf(codesage.KindUnavailable, "read %s: %w", name, err)
	}
	return &codesage.Error{Kind: codesage.KindDenied, Message: "read " + name + ": the file can't be read", Err: err}
}
