package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"codesage/pipeline/parse"
)

// children are the parse processes of a process.
func children(pid int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended just now
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) && fields[0] != "Z" && isParser(id) {
			found = append(found, id)
		}
	}
	return found
}

// isParser reports whether a process is a parse process.
func isParser(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	arguments := strings.Split(string(line), "\x00")
	return err == nil && len(arguments) > 1 && arguments[1] == parse.WorkerCommand
}

// peak is the largest resident size that a process has had, in bytes; 0 when
// it is gone.
func peak(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

func TestNoParseProcessOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	newTree(9, 1500, 1).write(t, folder)
	writeFiles(t, folder, map[string]string{"busy.lua": strings.Repeat("'", 90_000)})
	s := newServer(t, "PARSE_PROCESSES=2")
	s.add(folder, "orphans")
	var parsers []int
	s.eventually("two parse processes are at work", func() bool {
		parsers = children(s.cmd.Process.Pid)
		return len(parsers) >= 2
	})
	s.kill()
	if !await(func() bool {
		for _, pid := range parsers {
			if isParser(pid) {
				return false
			}
		}
		return true
	}, nil) {
		t.Errorf("of the parse processes %v some are still there", parsers)
	}
}

func TestNoParseProcessOutlivesAStoppedServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"busy.lua": strings.Repeat("'", 90_000), "busy.sh": slowScript})
	s := newServer(t, "PARSE_PROCESSES=2")
	s.add(folder, "orphans")
	var parsers []int
	s.eventually("two parse processes are at work", func() bool {
		parsers = children(s.cmd.Process.Pid)
		return len(parsers) >= 2
	})
	s.stop()
	for _, pid := range parsers {
		if isParser(pid) {
			t.Errorf("parse process %d is still there", pid)
		}
	}
}
