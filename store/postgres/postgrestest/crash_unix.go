//go:build unix

package postgrestest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Crash ends the private server as kill -9 does, its first process and all that
// it started. What was committed stays, when the URL has synchronous_commit=on.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	pids := s.signal(t, syscall.SIGKILL)
	s.end()
	for _, p := range pids {
		within(t, fmt.Sprintf("process %d of the server does not end", p), func() bool { return syscall.Kill(p, 0) != nil || isDead(p) })
	}
}

// within waits for a condition.
func within(t testing.TB, failure string, isTrue func() bool) {
	t.Helper()
	deadline := time.After(startTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !isTrue() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(failure)
		}
	}
}

// Freeze stops the private server as a paused machine is: it answers nothing, and
// its connections stay.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

// signal sends a signal to the server's first process and to all that it
// started, and returns them.
func (s *Server) signal(t testing.TB, signal syscall.Signal) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		t.Fatalf("find the server's process: %v", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatalf("find the server's process: %v", err)
	}
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no others meanwhile
	within(t, fmt.Sprintf("process %d of the server does not stop", pid), func() bool { return !isRunning(pid) })
	pids := append(children(pid), pid)
	for _, p := range pids {
		_ = syscall.Kill(p, signal)
	}
	return pids
}

// children lists the processes that a process started, where /proc tells. Others
// find out by themselves that the first one is gone.
func children(of int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		pid, parent, _ := readStat(path)
		if parent == of {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isRunning reports whether a process may be at work: a signal that stops it takes
// a moment. Where /proc does not tell, it is taken to be stopped.
func isRunning(pid int) bool {
	_, _, state := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && strings.Contains("RSD", state)
}

// isDead reports whether a process has ended and only its parent has not looked.
func isDead(pid int) bool {
	_, _, state := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return state == "Z"
}

func readStat(path string) (pid, parent int, state string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, ""
	}
	before, after, _ := strings.Cut(string(text), " (")
	after = after[strings.LastIndex(after, ")")+1:]
	_, _ = fmt.Sscan(before, &pid)
	_, _ = fmt.Sscan(after, &state, &parent)
	return pid, parent, state
}

// Standby makes the private server one that follows another and only reads, until
// pg_promote() ends that.
func (s *Server) Standby(t testing.TB) {
	t.Helper()
	s.Crash(t)
	if err := os.WriteFile(filepath.Join(s.data, "standby.signal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
}
