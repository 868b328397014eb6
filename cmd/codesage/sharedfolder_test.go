package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage/queue"
	"codesage/queue/redistest"
)

// newFolders returns what n processes see of their folders, over one Redis.
func newFolders(t *testing.T, server *redistest.Server, dirs ...string) []sharedFolder {
	t.Helper()
	folders := make([]sharedFolder, len(dirs))
	for i, dir := range dirs {
		rdb, err := queue.Connect(server.URL, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rdb.Close() })
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		folders[i] = sharedFolder{rdb, dir, slog.New(slog.DiscardHandler), time.Minute, 20 * time.Millisecond, 100 * time.Millisecond}
	}
	return folders
}

func TestOnlyProcessesOfOneFolderWorkTogether(t *testing.T) {
	t.Parallel()
	server := redistest.StartPrivate(t)
	here, there := t.TempDir(), t.TempDir()
	f := newFolders(t, server, here, here, there)
	for range 3 {
		var all sync.WaitGroup
		for range 8 { // whoever is first
			for _, mine := range f[:2] {
				all.Go(func() {
					if err := mine.check(t.Context()); err != nil {
						t.Errorf("the folder that is shared: %v", err)
					}
				})
			}
		}
		all.Wait()
		if err := f[2].check(t.Context()); !errors.Is(err, errOtherFolder) {
			t.Errorf("another folder: %v", err)
		}
		if _, err := f[2].watch(t.Context()); !errors.Is(err, errOtherFolder) {
			t.Errorf("to start with another folder: %v", err)
		}
		if err := f[0].redis.FlushDB(t.Context()).Err(); err != nil { // Redis comes back empty
			t.Fatal(err)
		}
	}
	if err := f[2].check(t.Context()); err != nil {
		t.Errorf("after all others have ended: %v", err)
	}
	if err := f[0].check(t.Context()); !errors.Is(err, errOtherFolder) {
		t.Errorf("who comes too late: %v", err)
	}
}

// A copy of a folder is not that folder, and one that was moved is.
func TestAFolderMayBeMovedAndNotCopied(t *testing.T) {
	t.Parallel()
	server := redistest.StartPrivate(t)
	home := t.TempDir()
	before, after := filepath.Join(home, "before"), filepath.Join(home, "after")
	f := newFolders(t, server, before)
	if err := f[0].check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, "copy"), os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(before, after); err != nil {
		t.Fatal(err)
	}
	moved := newFolders(t, server, after, filepath.Join(home, "copy"))
	if err := moved[0].check(t.Context()); err != nil {
		t.Errorf("moved: %v", err)
	}
	if err := moved[0].redis.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(moved[0].check(t.Context()), moved[0].check(t.Context())); err != nil {
		t.Errorf("moved, and all begin anew: %v", err)
	}
	if err := moved[1].check(t.Context()); !errors.Is(err, errOtherFolder) {
		t.Errorf("copied: %v", err)
	}
	if left, err := os.ReadDir(after); err != nil || len(left) != 1 {
		t.Errorf("tokens %v, %v", left, err)
	}
}

func TestAWorkerWithAnotherDataFolderDoesNotStart(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	api := x.start("api")
	other := append(x.env[:len(x.env):len(x.env)], "CODESAGE_DATA_DIR="+filepath.Join(t.TempDir(), "other"))
	out := command{args: []string{"worker"}, env: other}.run(t)
	if faults := out.faults(); out.code != exitFailed || len(faults) != 1 || !strings.Contains(faults[0], "do not share CODESAGE_DATA_DIR") {
		t.Errorf("code %d, %q\n%s", out.code, faults, out.stderr)
	}
	api.stop()
	x.env = other
	x.start("worker").stop() // the other's folder is the team's once nobody uses the first
}
