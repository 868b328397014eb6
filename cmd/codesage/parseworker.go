package main

import (
	"github.com/spf13/cobra"

	"codesage/pipeline/parse"
)

// parseWorkerCommand is the child process in which files are parsed. The server
// starts it; nobody else does.
func parseWorkerCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "parse-worker",
		Hidden: true,
		Args:   noArguments,
		RunE:   func(*cobra.Command, []string) error { return parse.Worker(t.in, t.out) },
	}
}
