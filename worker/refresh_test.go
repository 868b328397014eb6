package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"codesage"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a few repositories, their hosts and the catalog.
type world struct {
	mu      sync.Mutex
	repos   []codesage.Repository
	heads   map[codesage.RepositoryID]string
	broken  map[codesage.RepositoryID]error
	asked   []codesage.RepositoryID
	started []codesage.RepositoryID
	during  func() // called while a host is asked
	flying  int
	most    int
	now     time.Time
	claims  map[string]time.Time // when they end
}

func (w *world) Claim(_ context.Context, what string, life time.Duration) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.Before(w.claims[what]) {
		return false, nil
	}
	w.claims[what] = w.now.Add(life)
	return true, nil
}

func (w *world) Now(context.Context) (time.Time, error) { return w.now, nil }

func (w *world) ListRepositories(context.Context) ([]codesage.Repository, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.repos), nil
}

func (w *world) Head(_ context.Context, r codesage.Repository) (string, error) {
	w.mu.Lock()
	w.flying++
	w.most = max(w.most, w.flying)
	w.asked = append(w.asked, r.ID)
	head, err, during := w.heads[r.ID], w.broken[r.ID], w.during
	w.mu.Unlock()
	if during != nil {
		during()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying--
	return head, err
}

func (w *world) Reprocess(_ context.Context, id codesage.RepositoryID, t codesage.Trigger, force bool) (codesage.Repository, codesage.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t != codesage.TriggerRefresh || force {
		panic("a check starts a plain refresh")
	}
	w.started = append(w.started, id)
	return codesage.Repository{ID: id}, codesage.Run{}, nil
}

// took returns what was asked and started since the last call.
func (w *world) took() (asked, started []codesage.RepositoryID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked, started = w.asked, w.started
	slices.Sort(asked)
	w.asked, w.started = nil, nil
	return asked, started
}

// add adds an indexed repository at commit "a".
func (w *world) add(id codesage.RepositoryID, host string) *codesage.Repository {
	run := &codesage.Run{ID: codesage.RunID(id), Status: codesage.StatusCompleted, Commit: "a", FinishedAt: noon}
	w.repos = append(w.repos, codesage.Repository{
		ID: id, Name: fmt.Sprint(host, "/r", id), Source: codesage.SourceGit, URL: fmt.Sprintf("https://%s/o/r%d", host, id), Latest: run, Published: run,
	})
	w.heads[id] = "a"
	return &w.repos[len(w.repos)-1]
}

func newWorld(interval time.Duration) (*world, *Refresher) {
	w := &world{heads: map[codesage.RepositoryID]string{}, broken: map[codesage.RepositoryID]error{}, claims: map[string]time.Time{}}
	return w, w.refresher(interval)
}

// refresher returns that of one worker.
func (w *world) refresher(interval time.Duration) *Refresher {
	return NewRefresher(RefresherOptions{Store: w, Heads: w, Catalog: w, Claims: w, Interval: interval, Log: slog.New(slog.DiscardHandler)})
}

func round(t *testing.T, r *Refresher, now time.Time) {
	t.Helper()
	r.o.Store.(*world).now = now
	if err := r.round(t.Context(), now.Add(-30*24*time.Hour)); err != nil { // the clocks need not agree
		t.Fatal(err)
	}
}

func TestEachRepositoryIsCheckedOnceInAnInterval(t *testing.T) {
	t.Parallel()
	w, r := newWorld(time.Hour)
	for id := range codesage.RepositoryID(40) {
		w.add(id+1, fmt.Sprintf("h%d.example.org", id%7))
	}
	w.repos = append(w.repos, codesage.Repository{ID: 99, Source: codesage.SourceFolder, Latest: &codesage.Run{}})
	busiest, counts := 0, map[codesage.RepositoryID]int{}
	for minute := range 3 * 60 {
		round(t, r, noon.Add(time.Duration(minute)*time.Minute))
		asked, started := w.took()
		busiest = max(busiest, len(asked))
		for _, id := range asked {
			counts[id]++
		}
		if len(started) > 0 {
			t.Fatalf("started %v though nothing moved", started)
		}
	}
	for id := range codesage.RepositoryID(40) {
		if n := counts[id+1]; n < 2 || n > 3 {
			t.Errorf("repository %d was checked %d times in three intervals", id+1, n)
		}
	}
	if counts[99] > 0 {
		t.Error("a folder has no host")
	}
	if busiest > 4 {
		t.Errorf("%d of 40 checks in one minute of an hour: they are not spread out", busiest)
	}
	if w.most > checksAtOnce {
		t.Errorf("%d checks at the same time", w.most)
	}
}

func TestTheWorkersOfATeamCheckEachRepositoryOnce(t *testing.T) {
	t.Parallel()
	w, first := newWorld(time.Hour)
	for id := range codesage.RepositoryID(20) {
		w.add(id+1, fmt.Sprintf("h%d.example.org", id%7))
	}
	team := map[int]*Refresher{0: first, 17: w.refresher(time.Hour), 49: w.refresher(time.Hour)} // by the minute of their start
	counts := map[codesage.RepositoryID]int{}
	for minute := range 10 * 60 {
		for start, r := range team {
			if minute >= start {
				round(t, r, noon.Add(time.Duration(minute)*time.Minute))
			}
		}
		asked, _ := w.took()
		for _, id := range asked {
			counts[id]++
		}
	}
	for id := range codesage.RepositoryID(20) {
		if n := counts[id+1]; n < 8 || n > 12 {
			t.Errorf("repository %d was checked %d times in ten intervals", id+1, n)
		}
	}
	end := noon.Add(10 * time.Hour)
	for _, r := range team { // each has had a run of it
		r.Soon(3)
		round(t, r, end)
	}
	asked, _ := w.took()
	if n := len(slices.DeleteFunc(asked, func(id codesage.RepositoryID) bool { return id != 3 })); n != len(team) {
		t.Errorf("%d checks of the %d that runs asked for", n, len(team))
	}
}

func TestOnlyAMovedHeadStartsARun(t *testing.T) {
	t.Parallel()
	failed := func(commit string, at time.Time) *codesage.Run {
		return &codesage.Run{ID: 9, Status: codesage.StatusFailed, Commit: commit, FinishedAt: at}
	}
	published := &codesage.Run{ID: 1, Status: codesage.StatusCompleted, Commit: "a"}
	for _, tc := range []struct {
		name              string
		latest, published *codesage.Run
		head              string
		wait              time.Duration
		moved             bool
	}{
		{"still there", published, published, "a", 0, false},
		{"moved", published, published, "b", 0, true},
		{"failed at that commit", failed("b", noon.Add(-time.Minute)), published, "b", 59 * time.Minute, false},
		{"failed long ago", failed("b", noon.Add(-time.Hour)), published, "b", 0, true},
		{"failed before it knew the commit", failed("", noon), published, "b", time.Hour, false},
		{"moved on after it failed", failed("b", noon), published, "c", 0, true},
		{"forced back after it failed", failed("b", noon), published, "a", 0, false},
		{"never indexed, failed now", failed("b", noon), nil, "b", time.Hour, false},
		{"never indexed, moved", failed("b", noon), nil, "c", 0, true},
	} {
		wait, moved := hasMoved(codesage.Repository{Latest: tc.latest, Published: tc.published}, tc.head, noon)
		if wait != tc.wait || moved != tc.moved {
			t.Errorf("%s: %v, %v; want %v, %v", tc.name, wait, moved, tc.wait, tc.moved)
		}
	}
}

func TestAGoingRunIsCheckedWhenItEnds(t *testing.T) {
	t.Parallel()
	w, r := newWorld(0)
	repo := w.add(1, "h.example.org")
	repo.Latest = &codesage.Run{ID: 2, Status: codesage.StatusProcessing}
	w.heads[1] = "b"
	r.Soon(1)
	round(t, r, noon)
	if asked, _ := w.took(); len(asked) > 0 {
		t.Error("a repository was checked while its run was going")
	}
	repo.Latest = repo.Published
	round(t, r, noon.Add(time.Second))
	if _, started := w.took(); len(started) != 1 {
		t.Errorf("started %v: the push during the run is lost", started)
	}
	w.heads[1] = "a"
	round(t, r, noon.Add(time.Hour))
	if asked, _ := w.took(); len(asked) > 0 {
		t.Error("without an interval a repository is checked only when asked for")
	}
}

func TestACheckThatIsAskedForDuringACheckIsMade(t *testing.T) {
	t.Parallel()
	w, r := newWorld(0)
	w.add(1, "h.example.org")
	r.Soon(1)
	w.during = func() { w.during = nil; w.heads[1] = "b"; r.Soon(1) }
	round(t, r, noon)
	w.took()
	round(t, r, noon.Add(time.Second))
	if _, started := w.took(); len(started) != 1 {
		t.Errorf("started %v", started)
	}
}

func TestWithoutAnIntervalTheStartChecksOnce(t *testing.T) {
	t.Parallel()
	w, r := newWorld(0)
	w.add(1, "h.example.org")
	w.add(2, "i.example.org")
	w.heads[2] = "b"
	round(t, r, noon)
	w.took()
	round(t, r, noon.Add(startSpread))
	asked, started := w.took()
	if !slices.Equal(asked, []codesage.RepositoryID{1, 2}) || !slices.Equal(started, []codesage.RepositoryID{2}) {
		t.Errorf("asked %v, started %v", asked, started)
	}
	w.add(3, "h.example.org")
	for minute := range 100 {
		round(t, r, noon.Add(time.Hour+time.Duration(minute)*time.Minute))
	}
	if asked, _ := w.took(); len(asked) > 0 {
		t.Errorf("asked %v later", asked)
	}
}

func TestAFailingHostIsAskedEverLessOften(t *testing.T) {
	t.Parallel()
	w, r := newWorld(time.Minute)
	for id := codesage.RepositoryID(1); id <= 5; id++ {
		w.add(id, "away.example.org")
		w.broken[id] = codesage.Errorf(codesage.KindUnavailable, "Could not reach away.example.org; try again.")
	}
	w.add(6, "there.example.org")
	w.add(7, "there.example.org")
	w.broken[7] = codesage.Errorf(codesage.KindNotFound, "gone")
	var failing, good, gone int
	for minute := range 24 * 60 {
		round(t, r, noon.Add(time.Duration(minute)*time.Minute))
		asked, _ := w.took()
		for _, id := range asked {
			switch {
			case id <= 5:
				failing++
			case id == 6:
				good++
			default:
				gone++
			}
		}
	}
	if failing > 20 || gone > 20 {
		t.Errorf("in a day a host that is away was asked %d times, and for a repository that is gone %d times", failing, gone)
	}
	if good < 23*60 {
		t.Errorf("a good repository was checked %d times", good)
	}
	clear(w.broken)
	w.heads[3] = "b"
	for minute := range 2 * int(longestWait/time.Minute) {
		round(t, r, noon.Add(24*time.Hour+time.Duration(minute)*time.Minute))
	}
	asked, started := w.took()
	if len(asked) < 1000 || !slices.Contains(started, 3) {
		t.Errorf("after the host came back: %d checks, started %v", len(asked), started)
	}
}

func TestAnUrgentCheckOfAFailingHostIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, r := newWorld(24 * time.Hour)
	w.add(1, "h.example.org")
	w.heads[1] = "b"
	w.broken[1] = codesage.Errorf(codesage.KindTimeout, "slow")
	r.Soon(1)
	round(t, r, noon)
	clear(w.broken)
	round(t, r, noon.Add(firstWait))
	if _, started := w.took(); len(started) != 1 {
		t.Error("a push during a run waits for the next interval")
	}
}

func TestADeletedRepositoryIsForgotten(t *testing.T) {
	t.Parallel()
	w, r := newWorld(time.Minute)
	w.add(1, "h.example.org")
	r.Soon(1)
	w.during = func() { w.repos = nil }
	round(t, r, noon)
	round(t, r, noon.Add(time.Hour))
	if len(r.plan.entries) != 0 {
		t.Errorf("%d entries are left", len(r.plan.entries))
	}
}

func TestTheRefresherStopsWithItsContext(t *testing.T) {
	t.Parallel()
	w, r := newWorld(0)
	w.add(1, "h.example.org")
	w.heads[1] = "b"
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{}, 1)
	w.during = func() { asked <- struct{}{} }
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.Soon(1)
	<-asked
	cancel()
	<-ended
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
