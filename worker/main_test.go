package worker_test

import (
	"fmt"
	"os"
	"testing"

	"codesage/pipeline/parse"
)

// TestMain lets the test binary be its own parse process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "parse-worker" {
		if err := parse.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
