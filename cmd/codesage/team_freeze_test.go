package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
	"codesage/search/index"
)

// freeze stops a process as a paused machine is: its connections and its locks
// stay, and it does nothing.
func (s *server) freeze() { s.signal(syscall.SIGSTOP) }

// thaw lets a frozen process go on.
func (s *server) thaw() { s.signal(syscall.SIGCONT) }

func (s *server) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// Two of three workers freeze in the middle of first runs, and again of refreshes.
// The third one ends their runs as it would those of dead workers, and what froze
// changes nothing when it thaws.
func TestAFrozenWorkerDelaysNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	c := newCrowd(t, 8, 700, localEngine)
	defer c.showLogs()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var frozen []*server
	for v := range versions {
		c.begin(v, c.members)
		readers := c.watch(v, c.members)
		frozen = c.freezeTwo(r, c.calm[v]/8)
		began := time.Now()
		runs := c.finish()
		t.Logf("version %d: all ended %.1f s after two workers froze", v+1, time.Since(began).Seconds())
		if !slices.ContainsFunc(runs, isTakenOver) {
			t.Error("no run was taken over: the workers froze too late")
		}
		c.check(v)
		for _, w := range frozen {
			w.thaw()
		}
		for _, w := range frozen {
			w.eventually("a thawed worker gives up the runs that others took over", func() bool { return len(w.underWay()) == 0 })
		}
		c.check(v)
		readers.end(t)
	}
	c.checkThawed(frozen)
}

// isTakenOver reports whether a run was begun by another worker.
func isTakenOver(run client.Run) bool {
	return run.Attempt > 1 || run.Trigger == codesage.TriggerResume
}

// freezeTwo freezes two workers that have runs, each within a time.
func (c *crowd) freezeTwo(r *rand.Rand, within time.Duration) (frozen []*server) {
	c.t.Helper()
	for len(frozen) < 2 {
		var w *server
		c.apis[0].eventually("a worker has a run", func() bool {
			w = c.workers[r.IntN(len(c.workers))]
			return !slices.Contains(frozen, w) && len(w.underWay()) > 0
		})
		c.pause(r, within)
		w.freeze()
		going := 0
		for _, id := range w.underWay() {
			if run := c.run(id); run.Going() {
				going++
				c.t.Logf("a worker froze with run %d in phase %s, text %d, %d of %d", id, run.Phase, run.TextFiles, run.ProcessedFiles, run.TotalFiles)
			}
		}
		if going == 0 {
			w.thaw() // they have just ended
			continue
		}
		frozen = append(frozen, w)
	}
	return frozen
}

// run returns a run of the crowd.
func (c *crowd) run(id codesage.RunID) client.Run {
	c.t.Helper()
	for _, m := range c.members {
		if run := m.api.newest(m.id); run.ID == id {
			return run
		}
	}
	return client.Run{}
}

// underWay lists the runs that a worker's log has the beginning of and not the
// end.
func (s *server) underWay() (runs []codesage.RunID) {
	going := map[string]codesage.RunID{}
	for line := range strings.Lines(s.log.text()) {
		var said struct {
			Msg     string
			Run     codesage.RunID
			Attempt int
		}
		if json.Unmarshal([]byte(line), &said) != nil || said.Run == 0 {
			continue
		}
		attempt := fmt.Sprint(said.Run, " ", said.Attempt)
		switch word, _, _ := strings.Cut(said.Msg, ":"); word {
		case "run started":
			going[attempt] = said.Run
		case "run completed", "run stopped", "run failed", "run handed back":
			delete(going, attempt)
		}
	}
	return slices.Collect(maps.Values(going))
}

// checkThawed checks that workers that were frozen go on, leave nothing behind and
// have nothing to complain of.
func (c *crowd) checkThawed(frozen []*server) {
	c.t.Helper()
	for _, w := range c.workers {
		if !slices.Contains(frozen, w) {
			w.stop()
		}
	}
	folder := c.t.TempDir()
	newTree(7, 20, 1).write(c.t, folder)
	if _, run := c.apis[0].index(folder, "late"); run.Status != codesage.StatusCompleted {
		c.t.Errorf("a thawed worker's run ended as %s: %s", run.Status, run.Error)
	}
	sweeper := c.start("worker") // one that begins sweeps at once
	if !await(func() bool { return len(c.leftovers()) == 0 }, sweeper.exited) {
		c.t.Errorf("of what was done in vain there is left %q", c.leftovers())
	}
	for _, w := range c.workers {
		for line := range strings.Lines(w.log.text()) {
			// A warning that the database has ended the connections of one that stood
			// still is right.
			if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"msg":"run failed"`) {
				c.t.Errorf("a worker complained: %s", line)
			}
		}
	}
}

// leftovers lists the files of the index from which no run is read that a reader
// has seen.
func (c *crowd) leftovers() (left []string) {
	c.t.Helper()
	for _, m := range c.members {
		runs, err := m.api.api.Runs(context.Background(), m.id)
		if err != nil {
			c.t.Fatal(err)
		}
		var seen []codesage.RunID
		for i, run := range runs { // newest first
			isText := i > 0 && runs[i-1].Trigger == codesage.TriggerResume
			if run.Status == codesage.StatusCompleted || isText {
				seen = append(seen, run.ID)
			}
		}
		parts, err := filepath.Glob(filepath.Join(c.data, "index", fmt.Sprint(m.id), "*"))
		if err != nil || len(parts) != 2 {
			c.t.Fatalf("the index of %s has parts %q, %v", m.name, parts, err)
		}
		for _, dir := range parts {
			left = append(left, unneeded(c.t, dir, seen)...)
		}
	}
	return left
}

// unneeded lists the files of a folder of the index from which none of the runs is
// read.
func unneeded(t testing.TB, dir string, runs []codesage.RunID) (left []string) {
	t.Helper()
	var needed []string
	for _, run := range runs {
		manifests, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("run-%d-*", run)))
		if err != nil {
			t.Fatal(err)
		}
		if len(manifests) == 0 {
			continue // it published its text only
		}
		last := filepath.Base(slices.MaxFunc(manifests, func(a, b string) int { // of the attempts
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		}))
		m, err := index.ReadManifest(dir, last)
		if err != nil {
			t.Fatal(err)
		}
		needed = append(needed, last)
		for _, s := range m.Segments {
			needed = append(needed, s.Name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(needed, e.Name()) {
			left = append(left, filepath.Join(dir, e.Name()))
		}
	}
	return left
}
