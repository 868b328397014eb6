package cputest

import (
	"runtime"
	"testing"
	"time"
)

func TestWorkCountsAndWaitingDoesNot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	const enough = 20 * time.Millisecond
	if took := Of(func() {
		for began := used(); used()-began < enough; {
		}
	}); took < enough {
		t.Errorf("work of %v is counted as %v", enough, took)
	}
	const wait = time.Second
	if took := Of(func() { <-time.After(wait) }); took > wait/2 {
		t.Errorf("a wait of %v is counted as %v", wait, took)
	}
}
