package cputest

import (
	"time"

	"golang.org/x/sys/unix"
)

// used is the processor time of this thread so far.
func used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
