package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// mostUnwatched is how many directories that are not entered a tree remembers.
const mostUnwatched = 10_000

// errLimit is the error of a tree that needs more watches than there are.
var errLimit = errors.New("no watches left")

// tree watches the directories of one folder. It belongs to one goroutine.
type tree struct {
	rules   *rules
	notify  *fsnotify.Watcher
	watches *budget
	files   bool // files take watches too

	taken     int             // of watches
	dirs      map[string]bool // paths of directories: true = watched, false = seen and not entered
	unwatched int             // of the latter

	// stale is set when the tree may not be watched as it should: notifications
	// were lost, rules changed, or a directory has another path now. Who owns the
	// tree then makes a new one and takes everything for changed.
	stale bool
}

// openTree watches a folder. newest is the time of the latest change that the
// walk saw; when it is after since the walk may have stopped to look. Errors:
// errLimit, or that of the root.
func openTree(ctx context.Context, r *rules, watches *budget, since time.Time) (t *tree, newest time.Time, err error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, newest, limited(err)
	}
	t = &tree{rules: r, notify: notify, watches: watches, files: filesCount(), dirs: map[string]bool{}}
	r.forget()
	w := walk{rules: r, enter: t.add, leaveOut: t.leaveOut, since: since}
	if err = w.dir(ctx, ""); err == nil {
		err = t.addGit()
	}
	if err != nil {
		t.close()
		return nil, newest, err
	}
	return t, w.newest, nil
}

// close ends the watching and gives the watches back.
func (t *tree) close() {
	_ = t.notify.Close()
	t.watches.give(t.taken)
	t.taken = 0
}

// limited makes errLimit of the errors by which systems refuse another watch.
func limited(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("%w: %w", errLimit, err)
	}
	return err
}

// add watches a directory of the tree.
func (t *tree) add(dir string, entries func() int) error {
	if t.dirs[dir] {
		return limited(t.notify.Add(t.rules.full(dir))) // it may be another one by that name
	}
	if err := t.watch(dir, entries); err != nil {
		return err
	}
	t.dirs[dir] = true
	return nil
}

// watch takes a watch for a path.
func (t *tree) watch(path string, entries func() int) error {
	need := 1
	if t.files {
		need += entries()
	}
	if !t.watches.take(need) {
		return errLimit
	}
	t.taken += need
	err := t.notify.Add(t.rules.full(path))
	if err != nil {
		t.watches.give(need)
		t.taken -= need
	}
	return limited(err)
}

// leaveOut remembers a directory that is not watched, so that its end is not
// taken for that of a file.
func (t *tree) leaveOut(dir string) {
	if _, known := t.dirs[dir]; !known && t.unwatched < mostUnwatched {
		t.dirs[dir] = false
		t.unwatched++
	}
}

// gitFiles are the files of a git directory that decide what is indexed, or
// which commit it is of, and the folders that they lie in.
var gitFiles = map[string]bool{".git/HEAD": true, ".git/logs/HEAD": true, ".git/info/exclude": true}

var gitFolders = []string{".git", ".git/logs", ".git/info"}

// addGit watches what decides in the folder's git directory, if it has one.
func (t *tree) addGit() error {
	for _, dir := range gitFolders {
		info, err := os.Lstat(t.rules.full(dir))
		if err != nil || !info.IsDir() {
			continue
		}
		if err := t.watch(dir, func() int { return 0 }); errors.Is(err, errLimit) {
			return err
		}
	}
	return nil
}

// happened takes in a notification and reports whether what is indexed may have
// changed by it. gone is set when the root itself is no longer there.
func (t *tree) happened(ctx context.Context, e fsnotify.Event) (changed, gone bool, err error) {
	rel, ok := t.rel(e.Name)
	if !ok {
		return false, e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename), nil
	}
	dir, name := split(rel)
	switch {
	case e.Op == fsnotify.Chmod:
		return false, false, nil
	case dir == ".git" || strings.HasPrefix(dir, ".git/"):
		return t.gitHappened(rel, e), false, nil
	case !t.dirs[dir]:
		return true, false, nil // a directory that went while its notifications waited
	case name == ".gitignore", rel == ".git" && !e.Has(fsnotify.Write):
		t.stale = true
		return true, false, nil
	}
	t.rules.enter(dir)
	switch {
	case e.Has(fsnotify.Create):
		changed, err = t.created(ctx, dir, name)
	case e.Has(fsnotify.Write):
		_, isDir := t.dirs[rel]
		changed = !isDir && t.rules.takes(dir, name)
	default:
		changed = t.removed(dir, name, e.Has(fsnotify.Rename))
	}
	return changed, false, err
}

// created takes in that an entry is there now. A directory is watched with all
// below it, and what it holds by then is a change.
func (t *tree) created(ctx context.Context, dir, name string) (changed bool, err error) {
	path := join(dir, name)
	info, err := os.Lstat(t.rules.full(path))
	switch {
	case err != nil:
		return t.rules.takes(dir, name), nil //nolint:nilerr // gone again
	case info.Mode().IsRegular(), info.Mode()&fs.ModeSymlink != 0:
		return t.rules.takes(dir, name), nil
	case !info.IsDir():
		return false, nil
	case !t.rules.entersDir(dir, name):
		t.leaveOut(path)
		return false, nil
	}
	if entered, known := t.dirs[path]; known && !entered {
		delete(t.dirs, path)
		t.unwatched--
	}
	w := walk{rules: t.rules, enter: t.add, leaveOut: t.leaveOut}
	err = w.dir(ctx, path)
	if !errors.Is(err, errLimit) && ctx.Err() == nil {
		err = nil // it went meanwhile
	}
	return w.files > 0, err
}

// removed takes in that an entry is gone.
func (t *tree) removed(dir, name string, moved bool) (changed bool) {
	path := join(dir, name)
	entered, known := t.dirs[path]
	switch {
	case !known:
		return t.rules.takes(dir, name)
	case !entered:
		delete(t.dirs, path)
		t.unwatched--
		return false
	case moved:
		// The system goes on to watch it where it is now, under its old name.
		t.stale = true
		return true
	}
	delete(t.dirs, path)
	if !t.files {
		t.taken--
		t.watches.give(1)
	}
	return false // it was empty by then
}

// gitHappened takes in a notification from the git directory.
func (t *tree) gitHappened(rel string, e fsnotify.Event) (changed bool) {
	if rel == ".git/info/exclude" || e.Has(fsnotify.Create) && (rel == ".git/info" || rel == ".git/logs") {
		t.stale = true
		return true
	}
	return gitFiles[rel] && !e.Has(fsnotify.Remove) && (e.Has(fsnotify.Create) || e.Has(fsnotify.Write))
}

// rel is a notification's path in the tree; ok is false for the root itself.
func (t *tree) rel(path string) (rel string, ok bool) {
	rel, ok = strings.CutPrefix(path, strings.TrimSuffix(t.rules.root, "/")+string(filepath.Separator))
	return filepath.ToSlash(rel), ok && rel != ""
}

// split cuts a path into its directory, "" for the root, and its name.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
