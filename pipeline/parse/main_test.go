package parse

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary be its own parse process, and a program that is
// busy parsing until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case WorkerCommand:
			if err := Worker(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		case "parse-parent":
			_, _ = NewPool(Config{Processes: 1}).Parse(context.Background(), "lua", "busy.lua", []byte(busy))
			return
		}
	}
	os.Exit(m.Run())
}
