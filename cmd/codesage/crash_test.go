package main

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
)

const (
	crashFiles = 1500
	crashSeed  = 11
	crashes    = 10
)

// moment is when a server is killed: once a run is so far into a phase, and a
// little later.
type moment struct {
	phase codesage.Phase
	share float64 // of the files of that phase
	later time.Duration
}

// order is how phases follow each other.
var order = map[codesage.Phase]int{
	codesage.PhaseWaiting: 0, codesage.PhaseFetch: 1, codesage.PhaseList: 2,
	codesage.PhaseText: 3, codesage.PhaseSymbols: 4, codesage.PhasePublish: 5,
}

// randomMoments spreads moments over all phases.
func randomMoments(r *rand.Rand) []moment {
	phases := []codesage.Phase{
		codesage.PhaseWaiting, codesage.PhaseList, codesage.PhaseText, codesage.PhaseText,
		codesage.PhaseSymbols, codesage.PhaseSymbols, codesage.PhaseSymbols, codesage.PhaseSymbols,
		codesage.PhaseSymbols, codesage.PhasePublish,
	}
	moments := make([]moment, crashes)
	for i, phase := range phases {
		moments[i] = moment{phase, r.Float64(), time.Duration(r.Int64N(int64(120 * time.Millisecond)))}
	}
	r.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	return moments
}

// earlier is a moment before this one, which came too late.
func (m moment) earlier() moment {
	if m.phase == codesage.PhasePublish {
		return moment{codesage.PhaseSymbols, 0.95, 0}
	}
	return moment{m.phase, m.share / 2, m.later / 4}
}

// reached reports whether a run is as far as that.
func (m moment) reached(run client.Run) bool {
	if order[run.Phase] != order[m.phase] {
		return order[run.Phase] > order[m.phase]
	}
	done := run.ProcessedFiles
	if run.Phase == codesage.PhaseText {
		done = run.TextFiles
	}
	return run.TotalFiles == 0 || float64(done) >= m.share*float64(run.TotalFiles)
}

// wait waits for the moment and reports whether it came before the run's end.
func (m moment) wait(s *server, id codesage.RepositoryID) (at client.Run, came bool) {
	s.eventually("the moment to kill has come", func() bool {
		at = s.newest(id)
		return !at.Going() || m.reached(at)
	})
	late := time.After(m.later)
	s.eventually("the run is a little further", func() bool {
		at = s.newest(id)
		select {
		case <-late:
			return true
		default:
			return !at.Going()
		}
	})
	return at, at.Going()
}

func TestAFirstRunSurvivesTenKills(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := newTree(crashSeed, crashFiles, 1)
	files.write(t, folder)
	calm := newServer(t)
	repo, run := calm.index(folder, "crash")
	t.Logf("undisturbed: %d files, %d entities in %.1f s", run.TotalFiles, run.TotalEntities, run.Seconds)
	ask := append(questions("crash", anyPath(files)), everywhere)
	survive(t, trial{
		ask: ask, old: unindexed, new: readState(t, calm, "crash", ask),
		want: tellEverything(t, calm, repo.ID),
		begin: func(t *testing.T) (*server, codesage.RepositoryID) {
			s := newServer(t)
			return s, s.add(folder, "crash").ID
		},
	})
}

func TestARefreshSurvivesTenKills(t *testing.T) {
	t.Parallel()
	before, after := newTree(crashSeed, crashFiles, 1), newTree(crashSeed, crashFiles, 2)
	folder, path := t.TempDir(), sharedPath(before, after)
	before.write(t, folder)
	calm := newServer(t)
	repo, _ := calm.index(folder, "crash")
	ask := append(questions("crash", path), everywhere)
	old := readState(t, calm, "crash", ask)
	calm.stop()
	base := calm.data
	calm = serverAt(t, copyOf(t, base))
	after.write(t, folder)
	_, run := calm.index(folder, "crash")
	t.Logf("undisturbed: %d files, %d kept, %d parsed in %.1f s", run.TotalFiles, run.KeptFiles, run.ParsedFiles, run.Seconds)
	if run.KeptFiles == 0 || run.ParsedFiles == 0 {
		t.Errorf("the refresh kept %d and parsed %d", run.KeptFiles, run.ParsedFiles)
	}
	survive(t, trial{
		ask: ask, old: old, new: readState(t, calm, "crash", ask),
		want: tellEverything(t, calm, repo.ID),
		begin: func(t *testing.T) (*server, codesage.RepositoryID) {
			s := serverAt(t, copyOf(t, base))
			return s, s.add(folder, "crash").ID
		},
	})
}

// everywhere is asked of all repositories, which are one.
var everywhere = question{tool: "search_code", args: args{"query": "invoice token", "limit": 50}}

// trial is a run that is killed and must not show it.
type trial struct {
	ask      []question
	old, new state
	want     everything
	begin    func(*testing.T) (*server, codesage.RepositoryID) // starts the run on a new data folder
}

// survive kills servers at ten moments of a run, starts each again on what it
// left, and checks what readers see meanwhile and what there is at the end. A
// run that completes before its moment is checked, and another begins.
func survive(t *testing.T, x trial) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	moments := randomMoments(rand.New(rand.NewPCG(seed, 0)))
	for lives := 0; len(moments) > 0; lives++ {
		if lives == 4*crashes {
			t.Fatalf("%d moments were never met", len(moments))
		}
		s, id := x.begin(t)
		r := (&reader{name: "crash", ask: x.ask, old: x.old, new: x.new}).watch(s)
		for len(moments) > 0 {
			at, came := moments[0].wait(s, id)
			if !came {
				moments[0] = moments[0].earlier()
				break
			}
			s.kill()
			t.Logf("killed in attempt %d of run %d, phase %s, text %d, %d of %d", at.Attempt, at.ID, at.Phase, at.TextFiles, at.ProcessedFiles, at.TotalFiles)
			moments = moments[1:]
			s.start()
			r.api.Store(s.api)
		}
		if repo, run := s.finish(id); repo.Status != codesage.StatusCompleted || run.Status != codesage.StatusCompleted {
			t.Fatalf("ended as %s, run as %s: %s", repo.Status, run.Status, run.Error)
		}
		r.end(t)
		t.Logf("a reader asked %d times", r.asked)
		checkSame(t, tellEverything(t, s, id), x.want)
		if t.Failed() {
			t.Fatal(s.log.text())
		}
		s.stop()
	}
}

// anyPath is a file that tells the version.
func anyPath(f tree) string { return sharedPath(f, f) }

// sharedPath is a file of two trees whose text differs, unless they are one.
func sharedPath(a, b tree) string {
	best := ""
	for path, text := range a {
		other, both := b[path]
		differs := other != text || len(a) == len(b)
		if both && differs && filepath.Ext(path) == ".go" && (best == "" || path < best) {
			best = path
		}
	}
	return best
}
