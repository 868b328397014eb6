package watch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"codesage"
)

func TestAnEditStartsARun(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "in/b.go")
	h := newHouse(t, Options{})
	id := h.watched(dir)
	steps := []struct {
		name string
		do   func() error
	}{
		{"write", func() error { return os.WriteFile(dir+"/a.go", []byte("new"), 0o644) }},
		{"write below", func() error { return os.WriteFile(dir+"/in/b.go", []byte("new"), 0o644) }},
		{"save by rename", func() error {
			write(t, dir, ".a.go.tmp", "newer")
			return os.Rename(dir+"/.a.go.tmp", dir+"/a.go")
		}},
		{"new folders with a file", func() error { write(t, dir, "x/y/z/c.go", "c"); return nil }},
		{"write in the new folders", func() error { return os.WriteFile(dir+"/x/y/z/c.go", []byte("d"), 0o644) }},
		{"rename a folder", func() error { return os.Rename(dir+"/x/y", dir+"/x/w") }},
		{"write in the renamed folder", func() error { return os.WriteFile(dir+"/x/w/z/c.go", []byte("e"), 0o644) }},
		{"move a folder in", func() error { return os.Rename(oldTree(t, "q/r/s.go")+"/q", dir+"/q") }},
		{"write in the moved folder", func() error { return os.WriteFile(dir+"/q/r/s.go", []byte("e"), 0o644) }},
		{"delete a file", func() error { return os.Remove(dir + "/a.go") }},
		{"delete a folder", func() error { return os.RemoveAll(dir + "/x") }},
		{"make it again", func() error { write(t, dir, "x/w/z/c.go", "again"); return nil }},
		{"write in it", func() error { return os.WriteFile(dir+"/x/w/z/c.go", []byte("more"), 0o644) }},
	}
	for i, s := range steps {
		must(t, s.do())
		h.refreshed(id, i+1)
		t.Log(s.name)
	}
}

func TestWhatChangedWhileNobodyWatchedStartsARun(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		t.Run("the store's clock is ahead by "+ahead.String(), func(t *testing.T) {
			t.Parallel()
			changed, same := oldTree(t, "a.go"), oldTree(t, "a.go", "in/b.go")
			h := newHouse(t, Options{})
			h.watcher.o.Store = shifted{h.store, ahead}
			a, b := h.add("changed", changed), h.add("same", same)
			later := time.Now().Add(time.Minute)
			must(t, os.Chtimes(changed+"/a.go", later, later))
			minutesAgo := time.Now().Add(-2 * time.Minute) // before it was indexed
			must(t, os.Chtimes(same+"/a.go", minutesAgo, minutesAgo))
			h.start()
			h.refreshed(a, 1)
			h.until("both are watched", func() bool { return h.log.count("the folder is watched") == 2 })
			must(t, os.Remove(same+"/in/b.go"))
			h.refreshed(b, 1)
		})
	}
}

// shifted is a store whose clock is ahead of this machine's.
type shifted struct {
	lister
	ahead time.Duration
}

func (s shifted) Now(ctx context.Context) (time.Time, error) {
	now, err := s.lister.Now(ctx)
	return now.Add(s.ahead), err
}

func (s shifted) ListRepositories(ctx context.Context) ([]codesage.Repository, error) {
	all, err := s.lister.ListRepositories(ctx)
	for i := range all {
		for _, run := range []**codesage.Run{&all[i].Latest, &all[i].Published} {
			moved := **run
			moved.StartedAt = moved.StartedAt.Add(s.ahead)
			*run = &moved
		}
	}
	return all, err
}

func TestAChangeDuringARunStartsOneMoreAfterIt(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go")
	h := newHouse(t, Options{})
	id := h.watched(dir)
	h.queue.hold(true)
	write(t, dir, "a.go", "1")
	h.refreshed(id, 1)
	run, err := h.store.StartRun(t.Context(), h.latest(id).ID, 0)
	must(t, err)
	for i := range 20 {
		write(t, dir, fmt.Sprintf("b%d.go", i), "2")
	}
	h.queue.hold(false)
	must(t, h.queue.publish(t.Context(), run))
	h.refreshed(id, 2)
	write(t, dir, "a.go", "3")
	h.refreshed(id, 3)
}

func TestARunThatWaitsIsEnough(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go")
	h := newHouse(t, Options{Debounce: 5 * time.Millisecond})
	id := h.add("app", dir)
	h.queue.hold(true)
	_, waiting, err := h.catalog.Reprocess(t.Context(), id, codesage.TriggerReprocess, false)
	must(t, err)
	f := newFolder(h.watcher, codesage.Repository{ID: id, Path: dir}, time.Now())
	if got := f.start(t.Context()); got != started {
		t.Errorf("with a run that waits: %v, want started", got)
	}
	_, err = h.store.StartRun(t.Context(), waiting.ID, 0)
	must(t, err)
	if got := f.start(t.Context()); got != busy {
		t.Errorf("with a run at work: %v, want busy", got)
	}
	if got := h.refreshes(id); got != 0 {
		t.Errorf("%d runs were started, want 0", got)
	}
}

func TestACheckoutIsOneRefresh(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := oldTree(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	for _, branch := range []string{"main", "other"} {
		for i := range 200 {
			write(t, dir, fmt.Sprintf("pkg%d/%s/file%d.go", i%20, branch, i), branch)
		}
		git("add", ".")
		git("commit", "-q", "-m", branch)
		if branch == "main" {
			git("checkout", "-q", "-b", "other")
		}
	}
	began := time.Now()
	git("checkout", "-q", "main")
	git("checkout", "-q", "other")
	pause := 2 * time.Since(began) // longer than one in the midst of a checkout, also on a busy machine
	age(t, dir)
	h := newHouse(t, Options{Debounce: max(pause, 400*time.Millisecond)})
	id := h.watched(dir)
	git("checkout", "-q", "main")
	h.refreshed(id, 1)
	write(t, dir, "pkg0/main/file0.go", "edited")
	h.refreshed(id, 2)
	git("commit", "-q", "-a", "-m", "the commit of the index has changed")
	h.refreshed(id, 3)
}

func TestFoldersComeAndGo(t *testing.T) {
	t.Parallel()
	first, second, third := oldTree(t, "a.go"), oldTree(t, "a.go"), oldTree(t, "a.go")
	h := newHouse(t, Options{})
	h.start()
	watched := func(n int) {
		t.Helper()
		h.until(fmt.Sprintf("%d folders were watched", n), func() bool { return h.log.count("the folder is watched") == n })
	}
	a := h.add("a", first)
	watched(1)
	b := h.add("b", second)
	watched(2)
	write(t, first, "a.go", "1")
	write(t, second, "a.go", "1")
	h.refreshed(a, 1)
	h.refreshed(b, 1)
	h.until("the refresh has ended", func() bool { run := h.latest(a); return !run.Going() })
	h.add("a", third)
	watched(3)
	write(t, third, "a.go", "1")
	h.refreshed(a, 2)
	must(t, h.catalog.Remove(t.Context(), a))
	must(t, h.catalog.Remove(t.Context(), b))
	h.until("all watches and instances are given back", func() bool {
		return h.watcher.watches.free() == h.watcher.o.Limit && h.watcher.instances.free() == h.watcher.o.Instances
	})
}

func TestAFolderThatVanishesIsSaidOnceAndFollowedAgain(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "app/a.go", "app/in/b.go") + "/app"
	h := newHouse(t, Options{})
	id := h.watched(dir)
	must(t, os.Rename(dir, dir+"2"))
	h.until("the end is said", func() bool { return h.log.count("the folder is gone") == 1 })
	write(t, dir+"2", "a.go", "unseen")
	must(t, os.Rename(dir+"2", dir))
	h.refreshed(id, 1)
	write(t, dir, "in/b.go", "seen")
	h.refreshed(id, 2)
	must(t, os.Rename(dir, dir+"3"))
	must(t, os.CopyFS(dir, os.DirFS(dir+"3")))
	h.until("another folder in its place is seen", func() bool { return h.refreshes(id) >= 3 })
	h.until("its run is over", func() bool { return h.latest(id).Status == codesage.StatusCompleted })
	n := h.refreshes(id)
	write(t, dir, "in/b.go", "in the new one")
	h.refreshed(id, n+1)
	if got := h.log.count("level=WARN"); got > 2 {
		t.Errorf("%d warnings, want one for each time that the folder was gone", got)
	}
}

func TestAFolderThatNeverWasIndexedIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go")
	h := newHouse(t, Options{})
	h.queue.hold(true)
	id := h.add("app", dir)
	_, err := h.catalog.Cancel(t.Context(), id)
	must(t, err)
	f := newFolder(h.watcher, codesage.Repository{ID: id, Path: dir}, time.Now())
	if f.start(t.Context()); h.refreshes(id) != 0 {
		t.Error("a run was started of a folder whose first run was cancelled")
	}
}

func TestATreeBeyondTheLimitIsScanned(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go", "in/b.go", "ignored/c.log", ".gitignore")
	write(t, dir, ".gitignore", "*.log\n")
	age(t, dir)
	h := newHouse(t, Options{Limit: 1})
	id := h.add("app", dir)
	h.start()
	h.until("it is said", func() bool { return h.log.count("can't be watched and is scanned") == 1 })
	h.until("it is scanned", func() bool { return h.log.count("the folder was scanned") >= 2 })
	if h.log.count("fs.inotify.max_user_watches") == 0 {
		t.Error("the log does not say what to do")
	}
	write(t, dir, "in/b.go", "changed")
	h.refreshed(id, 1)
	scans := h.log.count("the folder was scanned")
	write(t, dir, "ignored/c.log", "of no interest")
	h.until("it is scanned again", func() bool { return h.log.count("the folder was scanned") >= scans+3 })
	must(t, os.Remove(filepath.Join(dir, "a.go")))
	h.refreshed(id, 2)
	if got := h.log.count("can't be watched"); got != 1 {
		t.Errorf("it is said %d times, want once", got)
	}
}

func TestAScannedTreeIsWatchedWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	first, second := oldTree(t, "a.go"), oldTree(t, "a.go")
	h := newHouse(t, Options{Instances: 1})
	a := h.watched(first)
	b := h.add("second", second)
	h.until("the second is scanned", func() bool { return h.log.count("can't be watched and is scanned") == 1 })
	must(t, h.catalog.Remove(t.Context(), a))
	h.until("the second is watched", func() bool { return h.log.count("the folder is watched again") == 1 })
	write(t, second, "a.go", "changed")
	h.refreshed(b, 1)
}

func TestAFolderThatMayNotBeReadIsNot(t *testing.T) {
	t.Parallel()
	dir := oldTree(t, "a.go")
	asked := make(chan struct{}, 1000)
	h := newHouse(t, Options{CheckRoot: func(string) (string, error) {
		asked <- struct{}{}
		return "", codesage.Errorf(codesage.KindDenied, "outside")
	}})
	h.add("app", dir)
	h.start()
	for range 3 {
		<-asked
	}
	if got := h.log.count("level=WARN"); got != 1 {
		t.Errorf("%d warnings, want 1", got)
	}
	if h.log.count("the folder is watched") != 0 {
		t.Error("it is watched")
	}
}

func TestARunOfAnotherFolderHidesNoChange(t *testing.T) {
	t.Parallel()
	dir, other := oldTree(t, "a.go"), oldTree(t, "b.go")
	h := newHouse(t, Options{})
	id := h.add("app", dir)
	h.queue.hold(true)
	h.add("app", other) // waits, and is cancelled
	later := time.Now().Add(time.Minute)
	must(t, os.Chtimes(dir+"/a.go", later, later))
	h.start()
	h.until("the folder is watched", func() bool { return h.log.count("the folder is watched") == 1 })
	if n := h.refreshes(id); n != 0 {
		t.Errorf("%d runs were started beside the one that waits", n)
	}
	h.queue.hold(false)
	_, err := h.catalog.Cancel(t.Context(), id)
	must(t, err)
	h.refreshed(id, 1)
	if run := h.latest(id); run.Path != dir {
		t.Errorf("the refresh read %s, want %s", run.Path, dir)
	}
}
