//go:build unix

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// One worker that hangs is not hidden by another of the same machine, nor does
// one that died make the machine ill.
func TestTheHealthOfAWorkerIsItsOwn(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	check := func() output { return command{args: []string{"health", "worker"}, env: x.env}.run(t) }
	if out := check(); out.code != exitFailed || !strings.Contains(out.stderr, "no worker runs on") {
		t.Errorf("without workers: code %d, %s", out.code, out.stderr)
	}
	one, two := x.start("worker"), x.start("worker")
	one.eventually("both are well", func() bool { return check().code == exitOK })
	if err := one.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var out output
	two.eventually("the one that hangs is told", func() bool {
		out = check()
		return out.code == exitFailed
	})
	if !strings.Contains(out.stderr, "worker "+strconv.Itoa(one.cmd.Process.Pid)+" of ") {
		t.Errorf("got %s", out.stderr)
	}
	one.kill()
	two.eventually("the other is well", func() bool { return check().code == exitOK })
	data := dataOf(x.env)
	x.start("worker").stop()
	entries, err := os.ReadDir(workersDir(data))
	if err != nil || len(entries) != 1 {
		t.Errorf("one worker runs, and there are %v, %v", entries, err)
	}
	two.stop()
	if out := check(); out.code != exitFailed {
		t.Errorf("after the last has ended: code %d, %s", out.code, out.stderr)
	}
}

// dataOf is the data folder of an environment.
func dataOf(env settings) string {
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, "CODESAGE_DATA_DIR="); ok {
			return dir
		}
	}
	return ""
}
