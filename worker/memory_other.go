//go:build !unix

package worker

// peakMemory is not known here.
func peakMemory() int64 { return 0 }
