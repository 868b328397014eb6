// Command codesage is the whole program: server, workers, MCP bridge and
// command line. `codesage help` lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, terminal{os.Stdin, os.Stdout, os.Stderr, os.Getenv}, os.Args[1:])
	stop()
	os.Exit(code)
}

// terminal is what a command reads and writes.
type terminal struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
}

// usageError is a fault of the command line itself.
type usageError struct{ error }

// run executes one command line and returns its exit code.
func run(ctx context.Context, t terminal, args []string) int {
	root := newRoot(t)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		fmt.Fprintln(t.err, "codesage: interrupted")
		return exitFailed
	}
	fmt.Fprintln(t.err, "codesage:", err)
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(t.err, "Run `codesage help` for the commands and their flags.")
		return exitUsage
	}
	return exitFailed
}

// newRoot returns the tree of commands.
func newRoot(t terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "codesage",
		Short: "A self-hosted code index for coding assistants",
		Long: "CodeSage indexes git repositories and local folders, and answers coding\n" +
			"assistants over MCP: ranked search, definitions, files, patterns, references.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddGroup(
		&cobra.Group{ID: "server", Title: "Run:"},
		&cobra.Group{ID: "client", Title: "Use a running server:"},
	)
	for _, c := range []*cobra.Command{
		serveCommand(t), apiCommand(t), workerCommand(t), migrateCommand(t), healthCommand(t), doctorCommand(t),
		backupCommand(t), restoreCommand(t), bridgeCommand(t), parseWorkerCommand(t),
		addCommand(t), listCommand(t), statusCommand(t), searchCommand(t), reprocessCommand(t), removeCommand(t), benchCommand(t), installCommand(t),
	} {
		root.AddCommand(c)
	}
	root.AddCommand(versionCommand(t))
	root.SetHelpCommand(helpCommand(t))
	return root
}

// arguments checks that there is an argument and at most as many as given, -1
// for any number; a wrong number is a usage error.
func arguments(most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= 1 && (most < 0 || len(args) <= most) {
			return nil
		}
		return usageError{fmt.Errorf("%s takes %s (got %d arguments)", cmd.CommandPath(), what, len(args))}
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return usageError{fmt.Errorf("%s takes no arguments (got %q)", cmd.CommandPath(), args[0])}
	}
	return usageError{fmt.Errorf("unknown command %q", args[0])}
}
