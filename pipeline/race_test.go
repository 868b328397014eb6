//go:build race

package pipeline_test

// raceEnabled tells that the race detector is compiled in.
const raceEnabled = true
