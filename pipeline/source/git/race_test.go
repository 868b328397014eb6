//go:build race

package git

// raceEnabled tells that the race detector is compiled in.
const raceEnabled = true
