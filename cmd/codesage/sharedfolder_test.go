package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codesage"
	"codesage/queue"
	"codesage/queue/redistest"
)

// newFolders returns what n processes see of their folders, over one Redis.
func newFolders(t *testing.T, server *redistest.Server, dirs ...string) []*sharedFolder {
	t.Helper()
	folders := make([]*sharedFolder, len(dirs))
	for i, dir := range dirs {
		rdb, err := queue.Connect(server.URL, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rdb.Close() })
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		folders[i] = &sharedFolder{
			redis: rdb, dir: dir, log: slog.New(slog.DiscardHandler),
			life: time.Minute, beat: 20 * time.Millisecond, wait: 100 * time.Millisecond, turn: 40 * time.Millisecond,
		}
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

// A worker does not begin before it has compared its folder, and who works
// already is in the right one.
func TestAWorkerThatWaitedForRedisComparesItsDataFolder(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	api := x.start("api")
	x.redis.Crash(t)
	same := x.launch("worker")
	env := x.env
	x.env = append(env[:len(env):len(env)], "CODESAGE_DATA_DIR="+filepath.Join(t.TempDir(), "other"))
	other := x.launch("worker")
	x.env = env
	for _, w := range []*server{same, other} {
		w.eventually("it says what it waits for", func() bool { return strings.Contains(w.log.text(), "waiting for Redis") })
	}
	x.redis.Restart(t)
	same.awaitReady()
	if code, text := other.exitCode(), other.log.text(); code != exitFailed || !strings.Contains(text, "do not share CODESAGE_DATA_DIR") {
		t.Errorf("code %d\n%s", code, text)
	}
	if parts := api.readyParts(); parts["data folder"] != "ok" {
		t.Errorf("the API that was there is not ready: %v", parts)
	}
	same.stop()
	api.stop()
}

func TestAWorkerThatWaitsForRedisEndsWhenItIsTold(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.redis.Crash(t)
	w := x.launch("worker")
	w.eventually("it says what it waits for", func() bool { return strings.Contains(w.log.text(), "waiting for Redis") })
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, text := w.exitCode(), w.log.text(); code != exitFailed || !strings.Contains(text, "codesage: interrupted") || strings.Contains(text, "panic") {
		t.Errorf("code %d\n%s", code, text)
	}
}

func TestARedisThatRefusesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	server := redistest.StartPrivate(t)
	server.URL = strings.Replace(server.URL, ":secret@", ":hunter2@", 1)
	f := newFolders(t, server, t.TempDir())[0]
	f.beat = time.Minute // one question, which has time for its answer
	if err := f.waitForRedis(t.Context()); codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), "REDIS_URL") {
		t.Errorf("got %v", err)
	}
}

// An API serves without Redis, and so may find out late that its folder is not
// the others'.
func TestAnAPIInAnotherDataFolderIsNotReady(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.redis.Crash(t)
	api := x.start("api")
	if parts := api.readyParts(); parts["data folder"] != "ok" || parts["queue"] == "ok" {
		t.Errorf("without Redis: %v", parts)
	}
	x.redis.Restart(t)
	rdb, err := queue.Connect(x.redis.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.Set(t.Context(), folderKey, "another", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	api.eventually("it is not ready", func() bool {
		parts := api.readyParts()
		return parts["data folder"] == "unavailable" && parts["store"] == "ok" && parts["queue"] == "ok"
	})
	if !strings.Contains(api.log.text(), "do not share CODESAGE_DATA_DIR") {
		t.Errorf("the log:\n%s", api.log.text())
	}
	if err := rdb.Del(t.Context(), folderKey).Err(); err != nil { // the others have ended
		t.Fatal(err)
	}
	api.eventually("it is ready again", func() bool { return api.readyParts()["data folder"] == "ok" })
	api.stop()
}

// An API serves without Redis, and its log tells why nothing is indexed.
func TestAnAPIWhoseRedisCantBeUsedTellsTheLog(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	host := queue.Host(x.redis.URL)
	for name, url := range map[string]string{
		"an unknown host":     "redis://bob:hunter2@redis.invalid:6379/0",
		"TLS at a plain port": "rediss://bob:hunter2@" + host + "/0",
	} {
		y := *x
		y.env = append(x.env[:len(x.env):len(x.env)], "REDIS_URL="+url)
		api := y.start("api")
		api.eventually(name+" is told", func() bool { return strings.Contains(api.log.text(), "Redis can't be used") })
		if text := api.log.text(); !strings.Contains(text, `"host":"`+queue.Host(url)+`"`) || strings.Contains(text, "hunter2") {
			t.Errorf("%s:\n%s", name, text)
		}
		api.stop()
	}
	api := x.start("api")
	x.redis.Crash(t)
	api.eventually("that Redis is gone is told", func() bool { return strings.Contains(api.log.text(), "Redis can't be used") })
	x.redis.Restart(t)
	api.eventually("that Redis is back is told", func() bool { return strings.Contains(api.log.text(), "Redis answers again") })
	api.stop()
}

func TestARedisThatIsAwayIsToldOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	f := &sharedFolder{host: "redis:6379", log: slog.New(slog.NewTextHandler(&log, nil))}
	ended, end := context.WithCancel(t.Context())
	end()
	f.note(ended, context.Canceled)
	disk := &fs.PathError{Op: "lstat", Path: "/x", Err: fs.ErrPermission}
	for range 2 {
		for _, err := range []error{nil, errOtherFolder, disk, io.EOF, io.ErrUnexpectedEOF, errOtherFolder, nil} {
			f.note(t.Context(), err)
		}
	}
	for text, want := range map[string]int{"level=WARN": 2, "err=EOF": 2, "answers again": 2, "host=redis:6379": 4, "\n": 4} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%q is told %d times, want %d:\n%s", text, got, want, &log)
		}
	}
}

// readyParts is what /readyz says of the parts.
func (s *server) readyParts() map[string]string {
	s.t.Helper()
	res, err := http.Get(s.url + "/readyz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Parts map[string]string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	return answer.Parts
}
