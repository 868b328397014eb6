//go:build race

package memorytest

// raceEnabled tells that the race detector is compiled in.
const raceEnabled = true
