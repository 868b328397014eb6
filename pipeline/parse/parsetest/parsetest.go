// Package parsetest gives tests their parse processes.
package parsetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"codesage/pipeline/parse"
)

// commandVariable passes the parse program from Main to the tests.
const commandVariable = "CODESAGE_TEST_PARSE_COMMAND"

// Main is the body of a TestMain: it runs the tests, or is the parse process of
// one of them, and returns the exit code.
//
// Under the race detector the parse processes run the program itself, built
// without it: a process with the detector's memory passes the limit of its own
// after each file and is replaced.
func Main(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == parse.WorkerCommand {
		if err := parse.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	if !raceEnabled {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "codesage-parsetest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the parse program:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "codesage")
	if out, err := exec.Command("go", "build", "-o", program, "codesage/cmd/codesage").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the parse program: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv(commandVariable, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Command is the Command of a parse.Config. Main must have been called.
func Command() []string {
	if program := os.Getenv(commandVariable); program != "" {
		return []string{program, parse.WorkerCommand}
	}
	return nil // the test binary itself
}
