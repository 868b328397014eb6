package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"codesage/api/client"
)

func reprocessCommand(t terminal) *cobra.Command {
	var noWait bool
	c := &cobra.Command{
		Use:     "reprocess <name>",
		Short:   "Refresh a repository",
		GroupID: "client",
		Args:    oneRepository,
		RunE: askingAbout(t, func(ctx context.Context, server *client.Client, repo client.Repository) error {
			repo, err := server.Reprocess(ctx, repo.ID)
			if err != nil {
				return err
			}
			if noWait {
				_, err := fmt.Fprintf(t.out, "%s is being refreshed\n", repo.Name)
				return err
			}
			return follow(ctx, t, server, repo)
		}),
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "return once the run waits in the queue")
	return c
}

func removeCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "remove <name>",
		Short:   "Remove a repository and its index; the source itself stays",
		GroupID: "client",
		Args:    oneRepository,
		RunE: askingAbout(t, func(ctx context.Context, server *client.Client, repo client.Repository) error {
			if err := server.Remove(ctx, repo.ID); err != nil {
				return err
			}
			_, err := fmt.Fprintf(t.out, "%s is removed\n", repo.Name)
			return err
		}),
	}
}
