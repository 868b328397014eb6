package main

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// effort is how hard the test of a team is.
type effort struct {
	files  int           // in each repository
	rounds int           // how often each fault happens
	frozen time.Duration // how long a worker is frozen at most
}

// fewFiles is how many files a small repository has. Its two versions differ in
// their number.
const fewFiles = 58

// chosenEffort is what `make test` can afford, or more with CODESAGE_SOAK.
func chosenEffort() effort {
	if os.Getenv("CODESAGE_SOAK") != "" {
		return effort{files: 600, rounds: 6, frozen: 25 * time.Second}
	}
	return effort{files: fewFiles, rounds: 1, frozen: 2 * time.Second}
}

// TestATeamSurvivesKills indexes many repositories at once, and then their next
// version, while workers, Redis and PostgreSQL are killed and frozen, and each
// repository has a client that asks twenty times a second.
func TestATeamSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	e := chosenEffort()
	newCrowd(t, 30, e.files, localEngine).survive(e)
}

// Algolia's records can't be switched in one step, so that a search during a
// refresh finds some of the new ones. All else holds.
func TestATeamOnAlgoliaSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	newCrowd(t, 8, fewFiles, algoliaEngine).survive(chosenEffort()) // the fake looks at every record
}

// survive indexes both versions of the crowd while faults happen.
func (c *crowd) survive(e effort) {
	c.t.Helper()
	defer c.showLogs()
	seed := uint64(time.Now().UnixNano())
	c.t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for v := range versions {
		faults := c.faults(r, e)
		wave := len(c.members) // at once, and a refresh needs so little time that faults must come between
		if v > 0 {
			wave = (len(c.members) + len(faults) - 1) / len(faults)
		}
		var readers readers
		waiting := c.members
		for _, f := range faults {
			next := waiting[:min(wave, len(waiting))]
			waiting = waiting[len(next):]
			c.begin(v, next)
			readers = append(readers, c.watch(v, next)...)
			c.suffer(r, f)
		}
		began := time.Now()
		c.finish()
		c.t.Logf("version %d: all ended %.1f s after the last fault", v+1, time.Since(began).Seconds())
		readers.end(c.t)
		c.check(v)
	}
	for _, w := range c.workers {
		w.stop()
	}
}

// fault is what happens to a part of a team for a while.
type fault struct {
	name       string
	begin, end func()
	most       time.Duration
}

// faults lists what happens, in any order.
func (c *crowd) faults(r *rand.Rand, e effort) (all []fault) {
	killed := func() fault {
		i := r.IntN(len(c.workers))
		return fault{"a worker is killed", func() { c.workers[i].kill() }, func() { c.workers[i] = c.start("worker") }, time.Second}
	}
	frozen := func() fault {
		i := r.IntN(len(c.workers))
		return fault{"a worker freezes", func() { c.workers[i].freeze() }, func() { c.workers[i].thaw() }, e.frozen}
	}
	for range e.rounds {
		all = append(all, killed(), killed(), killed(), frozen(),
			fault{"Redis is killed", func() { c.redis.Crash(c.t) }, func() { c.redis.Restart(c.t) }, 2 * time.Second},
			fault{"Redis freezes", func() { c.redis.Freeze(c.t) }, func() { c.redis.Thaw(c.t) }, 3 * time.Second},
			fault{"PostgreSQL is killed", func() { c.out.begin(); c.postgres.Crash(c.t) }, func() { c.postgres.Restart(c.t); c.out.end() }, 3 * time.Second},
			fault{"PostgreSQL freezes", func() { c.out.begin(); c.postgres.Freeze(c.t) }, func() { c.postgres.Thaw(c.t); c.out.end() }, 3 * time.Second},
		)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// suffer lets a fault happen.
func (c *crowd) suffer(r *rand.Rand, f fault) {
	c.t.Helper()
	c.pause(r, time.Second)
	f.begin()
	began := time.Now()
	c.pause(r, f.most)
	f.end()
	c.t.Logf("%s, mended after %.1f s", f.name, time.Since(began).Seconds())
}

// pause waits for a moment that no condition tells.
func (c *crowd) pause(r *rand.Rand, most time.Duration) {
	select {
	case <-time.After(time.Duration(r.Int64N(int64(most)))):
	case <-c.t.Context().Done():
	}
}
