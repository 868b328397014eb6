package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"codesage/pipeline/parse"
)

// mainMark makes the test binary be codesage itself, so that tests start the
// true program as a process without building it.
const mainMark = "CODESAGE_TEST_MAIN"

func TestMain(m *testing.M) {
	// The server starts its parse processes with an environment of their own.
	if os.Getenv(mainMark) != "" || len(os.Args) > 1 && os.Args[1] == parse.WorkerCommand {
		main()
	}
	os.Exit(runTests(m))
}

// programVariable names the program that tests start instead of their own
// binary.
const programVariable = "CODESAGE_TEST_PROGRAM"

// runTests runs the tests. A binary with the race detector in it is too slow and
// too large for processes that index whole trees: they run the plain program,
// which the packages' own tests check for races.
func runTests(m *testing.M) int {
	if !raceDetector {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "codesage-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "codesage")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Setenv(programVariable, path)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
