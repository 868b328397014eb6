package watch

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"codesage/pipeline/parse"
)

// TestMain lets the test binary be its own parse process, and fails when a test
// leaves a goroutine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "parse-worker" {
		if err := parse.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
