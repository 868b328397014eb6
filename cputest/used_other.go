//go:build !linux

package cputest

import "time"

var start = time.Now()

func used() time.Duration { return time.Since(start) }
