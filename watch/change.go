package watch

import "time"

// Waits between tries to start a run.
const (
	busyPause    = 250 * time.Millisecond // while another run is going
	firstPause   = 10 * time.Second       // after a failure; they double
	longestPause = 5 * time.Minute
)

// outcome says what came of the try to start a run.
type outcome int

const (
	started outcome = iota // a run will see the change
	busy                   // a run is going that may have missed it
	failed
)

// change is what is known of changes for which no run was started yet. Its timer
// runs whenever there is one.
type change struct {
	debounce, maxDelay time.Duration

	timer       *time.Timer
	waiting     bool
	first, last time.Time
	notBefore   time.Time
	pause       time.Duration // after the last failure
}

func newChange(o Options) change {
	c := change{debounce: o.Debounce, maxDelay: o.MaxDelay, timer: time.NewTimer(time.Hour)}
	c.timer.Stop()
	return c
}

// note takes in a change.
func (c *change) note(now time.Time) {
	c.last = now
	if c.waiting {
		return
	}
	c.waiting, c.first = true, now
	c.timer.Reset(c.debounce)
}

// clear forgets the changes.
func (c *change) clear() {
	c.waiting = false
	c.timer.Stop()
}

// waits reports whether there is a change.
func (c *change) waits() bool { return c.waiting }

// ripe reports whether a run is to be started now; if not, and there is a change,
// the timer tells when to ask again.
func (c *change) ripe(now time.Time) bool {
	if !c.waiting {
		return false
	}
	at := c.last.Add(c.debounce)
	if latest := c.first.Add(c.maxDelay); latest.Before(at) {
		at = latest
	}
	if c.notBefore.After(at) {
		at = c.notBefore
	}
	if now.Before(at) {
		c.timer.Reset(at.Sub(now))
		return false
	}
	return true
}

// tried takes in what came of a try to start a run.
func (c *change) tried(o outcome, now time.Time) {
	switch o {
	case started:
		c.clear()
		c.pause = 0
	case busy:
		c.timer.Reset(min(c.debounce, busyPause))
	case failed:
		c.pause = min(max(2*c.pause, firstPause), longestPause)
		c.notBefore = now.Add(c.pause)
		c.timer.Reset(c.pause)
	}
}
