package folder

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// The bounds of what is read of a git directory.
const (
	refFileMax    = 4 << 10
	packedRefsMax = 64 << 20
	refDepth      = 5
)

var commitHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// headCommit returns the commit at HEAD of the work tree that dir is in; empty
// when there is none, or it can't be told.
func headCommit(dir string) string {
	git := gitDir(dir)
	if git == "" {
		return ""
	}
	common := git
	if s := readSmall(filepath.Join(git, "commondir")); s != "" {
		common = resolve(git, s)
	}
	name := "HEAD"
	for range refDepth {
		var text string
		if name == "HEAD" {
			text = readSmall(filepath.Join(git, name))
		} else if text = readSmall(filepath.Join(git, filepath.FromSlash(name))); text == "" {
			text = readSmall(filepath.Join(common, filepath.FromSlash(name)))
		}
		target, symbolic := strings.CutPrefix(text, "ref:")
		switch {
		case commitHash.MatchString(text):
			return text
		case symbolic:
			name = strings.TrimSpace(target)
			if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) {
				return ""
			}
		default:
			return packedRef(filepath.Join(common, "packed-refs"), name)
		}
	}
	return ""
}

// gitDir returns the git directory of the work tree that dir is in.
func gitDir(dir string) string {
	for {
		dotGit := filepath.Join(dir, ".git")
		if info, err := os.Stat(dotGit); err == nil {
			if info.IsDir() {
				if readSmall(filepath.Join(dotGit, "HEAD")) != "" {
					return dotGit
				}
			} else if target, ok := strings.CutPrefix(readSmall(dotGit), "gitdir:"); ok {
				return resolve(dir, strings.TrimSpace(target))
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readSmall returns the text of a small regular file without white space around
// it; empty when there is none.
func readSmall(path string) string {
	f := openPlain(path)
	if f == nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, refFileMax))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// openPlain opens a regular file, or returns nil.
func openPlain(path string) *os.File {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeType != 0 {
		f.Close()
		return nil
	}
	return f
}

// packedRef finds a reference in a packed-refs file.
func packedRef(path, name string) string {
	f := openPlain(path)
	if f == nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, packedRefsMax))
	for lines.Scan() {
		hash, ref, ok := strings.Cut(lines.Text(), " ")
		if ok && ref == name && commitHash.MatchString(hash) {
			return hash
		}
	}
	return ""
}
