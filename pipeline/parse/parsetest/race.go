//go:build race

package parsetest

const raceEnabled = true
