package main

import (
	"os"
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
	os.Exit(m.Run())
}
