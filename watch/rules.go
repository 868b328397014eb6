package watch

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"codesage"
	"codesage/pipeline/decode"
	"codesage/pipeline/source/ignore"
	"codesage/pipeline/source/pattern"
)

const (
	ignoreMax = 4 << 20 // bytes of an ignore file that count
	maxDepth  = 255     // of directories; the source goes no deeper
)

// rules say which entries of a tree the folder source lists: they are its rules.
// They stand in one directory at a time, like a walk, and read the ignore files
// on the way there; so they hold no more than those of one path.
type rules struct {
	root    string
	include pattern.Set
	exclude pattern.Set
	except  map[string]bool
	match   *ignore.Matcher
	at      []string // the directory, part by part; meaningless while match is nil
}

// newRules returns the rules of a repository's folder.
func newRules(r codesage.Repository, except map[string]bool) (*rules, error) {
	include, err := pattern.CompileSet(r.Options.Include)
	if err != nil {
		return nil, fmt.Errorf("include patterns: %w", err)
	}
	exclude, err := pattern.CompileSet(pattern.Excludes(r.Options.Exclude))
	if err != nil {
		return nil, fmt.Errorf("exclude patterns: %w", err)
	}
	return &rules{root: r.Path, include: include, exclude: exclude, except: except}, nil
}

// forget lets the ignore files be read again.
func (r *rules) forget() { r.match = nil }

// enter goes to a directory, given by its path in the tree; "" is the root.
func (r *rules) enter(dir string) {
	var parts []string
	if dir != "" {
		parts = strings.Split(dir, "/")
	}
	if r.match == nil {
		r.match = ignore.New(readIgnore(filepath.Join(r.root, ".git", "info", "exclude")))
		r.match.Push("", readIgnore(filepath.Join(r.root, ".gitignore")))
		r.at = nil
	}
	same := 0
	for same < len(parts) && same < len(r.at) && parts[same] == r.at[same] {
		same++
	}
	for range len(r.at) - same {
		r.match.Pop()
	}
	r.at = append(slices.Clip(r.at[:same]), parts[same:]...)
	for i := same; i < len(parts); i++ {
		r.match.Push(parts[i], readIgnore(filepath.Join(r.root, filepath.Join(parts[:i+1]...), ".gitignore")))
	}
}

// entersDir reports whether a directory in the current one is walked.
func (r *rules) entersDir(dir, name string) bool {
	path := join(dir, name)
	return !strings.HasPrefix(name, ".") && len(r.at) < maxDepth-1 && !r.except[r.full(path)] &&
		!r.match.Ignored(name, true) && !r.exclude.MatchTree(path)
}

// takes reports whether a file in the current directory is indexed, or counted
// as skipped, unless its name alone says that it holds no text.
func (r *rules) takes(dir, name string) bool {
	path := join(dir, name)
	switch {
	case name == ".git", decode.BinaryName(name), swapFile(name), r.except[r.full(path)]:
		return false
	case r.match.Ignored(name, false), r.exclude.Match(path):
		return false
	}
	return len(r.include) == 0 || r.include.Match(path) || r.include.Match(name) ||
		r.include.Match(strings.TrimSuffix(r.root, "/")+"/"+path)
}

// swapFile reports whether a name is that of a swap file, which vi writes while
// somebody types.
func swapFile(name string) bool {
	ext := filepath.Ext(name)
	return strings.HasPrefix(name, ".") && len(ext) == 4 && strings.HasPrefix(ext, ".sw")
}

// full is the path of an entry outside the tree.
func (r *rules) full(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }

// join is the path of an entry of a directory; "" is the root.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// readIgnore returns the text of an ignore file; nil when there is none. Like
// git it follows no link.
func readIgnore(path string) []byte {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, ignoreMax))
	if err != nil {
		return nil
	}
	return text
}
