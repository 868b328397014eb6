// Package cputest measures what tests cost, for bounds that hold on a busy
// machine too.
package cputest

import (
	"runtime"
	"time"
)

// Of returns for how long a processor was at work on fn itself: not on what it
// waits for, nor on goroutines that it starts. Where the system does not tell, it
// is the time that passed.
func Of(fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := used()
	fn()
	return used() - began
}
