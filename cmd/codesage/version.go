package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"codesage/config"
)

// version is set by the Makefile; a plain `go build` leaves it to the module's.
var version = ""

// versionText returns the program's version.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

func versionCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(t.out, "codesage %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func helpCommand(t terminal) *cobra.Command {
	help := &cobra.Command{
		Use:   "help [command]",
		Short: "Help on a command, or on the configuration: help config",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{fmt.Errorf("no help for %q", strings.Join(args, " "))}
			}
			return target.Help()
		},
	}
	help.AddCommand(&cobra.Command{
		Use:   "config",
		Short: "Every variable of the configuration, with its default",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return config.Print(t.out) },
	})
	return help
}
