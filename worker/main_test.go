package worker_test

import (
	"os"
	"testing"

	"codesage/pipeline/parse/parsetest"
)

// TestMain lets the test binary be its own parse process.
func TestMain(m *testing.M) { os.Exit(parsetest.Main(m)) }
