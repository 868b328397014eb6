package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"codesage"
)

// smallDisk mounts a file system of a size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("can't mount a small disk here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestARunThatNeedsMoreDiskThanThereIsFails(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "24m")
	folder := t.TempDir()
	newTree(41, 300, 1).write(t, folder)
	s := serverAt(t, filepath.Join(disk, "data"))
	got := s.command("add", folder, "--session", "tight")
	lines := got.faults()
	last := lines[len(lines)-1]
	if got.code != exitFailed || !strings.HasPrefix(last, "codesage: index tight: the disk of the data folder has ") || !strings.HasSuffix(last, " MB; free some space and reprocess") {
		t.Errorf("exit code %d, %q", got.code, last)
	}
	if repo, run := s.finish(1); repo.Status != codesage.StatusFailed || run.Error == "" {
		t.Errorf("the repository is %s, the run says %q", repo.Status, run.Error)
	}
}

// TestATeamsRunThatNeedsMoreDiskThanThereIsFails: a full disk is no part that is
// away for a while, after which a run is tried again.
func TestATeamsRunThatNeedsMoreDiskThanThereIsFails(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "24m")
	folder := t.TempDir()
	newTree(41, 300, 1).write(t, folder)
	x := newTeam(t, "CODESAGE_DATA_DIR="+filepath.Join(disk, "data"))
	api := x.start("api")
	x.start("worker")
	repo, run := api.finish(api.add(folder, "tight").ID)
	if repo.Status != codesage.StatusFailed || run.Attempt != 1 || !strings.HasPrefix(run.Error, "the disk of the data folder has ") {
		t.Errorf("the repository is %s, attempt %d says %q", repo.Status, run.Attempt, run.Error)
	}
}

// fill takes all space that a disk has left, and returns what gives it back.
func fill(t *testing.T, disk string) (release func()) {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return func() { _ = os.Remove(path) }
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestADiskThatFillsUpDuringARefreshLosesNothing(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "100m")
	folder := t.TempDir()
	newTree(crashSeed, 2000, 1).write(t, folder)
	s := serverAt(t, filepath.Join(disk, "data"))
	repo, _ := s.index(folder, "crash")
	ask := questions("crash", anyPath(newTree(crashSeed, 2000, 1)))
	old := readState(t, s, "crash", ask)
	newTree(crashSeed, 2000, 2).write(t, folder)
	s.add(folder, "crash")
	s.eventually("the refresh has begun", func() bool { return s.newest(repo.ID).Phase != codesage.PhaseWaiting })
	release := fill(t, disk)
	s.eventually("the server has noticed", func() bool {
		run := s.newest(repo.ID)
		return !run.Going() || strings.Contains(s.log.text(), "full")
	})
	t.Logf("the run is %s: %s", s.newest(repo.ID).Status, s.newest(repo.ID).Error)
	if s.newest(repo.ID).Status != codesage.StatusCompleted {
		for i, q := range ask { // readers still get what was published
			if answer, err := call(s.api, q.tool, q.args); err != nil || resultOf(q, answer) != old.answers[i] {
				t.Errorf("%s: %v %s %.200s", q.tool, err, answer.Error, answer.Result)
			}
		}
	}
	release()
	if _, run := s.finish(repo.ID); run.Status == codesage.StatusFailed {
		if !strings.Contains(run.Error, "full") {
			t.Errorf("the run failed with %q", run.Error)
		}
		s.index(folder, "crash")
	}
	fresh := newServer(t)
	again, _ := fresh.index(folder, "crash")
	checkSame(t, tellEverything(t, s, repo.ID), tellEverything(t, fresh, again.ID))
}
