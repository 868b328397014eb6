package watch

import (
	"testing"
	"time"
)

func TestARunStartsAfterTheLastChangeOrTheLongestDelay(t *testing.T) {
	t.Parallel()
	c := newChange(Options{Debounce: 2 * time.Second, MaxDelay: 30 * time.Second})
	defer c.timer.Stop()
	begin := time.Now()
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	if c.ripe(at(0)) {
		t.Error("ripe without a change")
	}
	c.note(at(0))
	c.note(at(1.5))
	if c.ripe(at(2)) {
		t.Error("ripe while changes come")
	}
	if !c.ripe(at(3.5)) {
		t.Error("not ripe 2 s after the last change")
	}
	c.tried(started, at(3.5))
	if c.waits() || c.ripe(at(100)) {
		t.Error("a change is left after a run was started")
	}
	for s := 200.0; s < 230; s++ {
		c.note(at(s))
		if c.ripe(at(s)) {
			t.Fatalf("ripe after %v s of changes", s-200)
		}
	}
	c.note(at(230))
	if !c.ripe(at(230)) {
		t.Error("not ripe after 30 s of changes")
	}
}

func TestAFailedStartIsTriedEverLater(t *testing.T) {
	t.Parallel()
	c := newChange(Options{Debounce: 2 * time.Second, MaxDelay: 30 * time.Second})
	defer c.timer.Stop()
	now := time.Now()
	c.note(now)
	now = now.Add(c.debounce)
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		c.tried(failed, now)
		c.note(now) // more changes don't hurry it
		if want *= time.Second; c.ripe(now.Add(want-time.Millisecond)) || !c.ripe(now.Add(want)) {
			t.Errorf("not tried again after exactly %v", want)
		}
		now = now.Add(want)
	}
	c.tried(started, now)
	c.note(now)
	if !c.ripe(now.Add(300 * time.Second)) {
		t.Error("a success does not end the waits")
	}
	c.tried(failed, now)
	if c.pause != firstPause {
		t.Errorf("the first wait after a success is %v", c.pause)
	}
}
