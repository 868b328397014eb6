package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func reprocessCommand(t terminal) *cobra.Command {
	var noWait bool
	c := &cobra.Command{
		Use:     "reprocess <name>",
		Short:   "Refresh a repository",
		GroupID: "client",
		Args:    arguments(1, "the name, session or id of one repository"),
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := dial(t)
			if err != nil {
				return err
			}
			defer server.Close()
			repo, err := find(cmd.Context(), server, args[0])
			if err != nil {
				return err
			}
			if repo, err = server.Reprocess(cmd.Context(), repo.ID); err != nil {
				return explain(server, err)
			}
			if noWait {
				_, err := fmt.Fprintf(t.out, "%s is being refreshed\n", repo.Name)
				return err
			}
			return follow(cmd.Context(), t, server, repo)
		},
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "return once the run waits in the queue")
	return c
}

func removeCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "remove <name>",
		Short:   "Remove a repository and its index; the source itself stays",
		GroupID: "client",
		Args:    arguments(1, "the name, session or id of one repository"),
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := dial(t)
			if err != nil {
				return err
			}
			defer server.Close()
			repo, err := find(cmd.Context(), server, args[0])
			if err != nil {
				return err
			}
			if err := server.Remove(cmd.Context(), repo.ID); err != nil {
				return explain(server, err)
			}
			_, err = fmt.Fprintf(t.out, "%s is removed\n", repo.Name)
			return err
		},
	}
}
