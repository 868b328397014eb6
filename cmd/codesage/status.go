package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api/client"
)

func statusCommand(t terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "status <name>",
		Short:   "Tell how a repository stands",
		GroupID: "client",
		Args:    oneRepository,
		RunE: askingAbout(t, func(ctx context.Context, server *client.Client, repo client.Repository) error {
			runs, err := server.Runs(ctx, repo.ID)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(t.out, struct {
					client.Repository
					Runs []client.Run `json:"runs"`
				}{repo, runs})
			}
			writeStatus(t.out, repo, runs)
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeStatus(out io.Writer, repo client.Repository, runs []client.Run) {
	fmt.Fprintf(out, "%s (id %d, session %s): %s\n", repo.Name, repo.ID, repo.Session, repo.Status)
	if repo.URL != "" {
		fmt.Fprintf(out, "  url        %s\n", repo.URL)
	}
	if repo.Branch != "" {
		fmt.Fprintf(out, "  branch     %s\n", repo.Branch)
	}
	if repo.CommitSHA != "" {
		fmt.Fprintf(out, "  commit     %s\n", repo.CommitSHA)
	}
	fmt.Fprintf(out, "  files      %d of %d\n  entities   %d\n", repo.ProcessedFiles, repo.TotalFiles, repo.TotalEntities)
	if repo.Language != "" {
		fmt.Fprintf(out, "  language   %s\n", repo.Language)
	}
	if repo.Framework != "" {
		fmt.Fprintf(out, "  framework  %s\n", repo.Framework)
	}
	if repo.ErrorMessage != "" {
		fmt.Fprintf(out, "  message    %s\n", repo.ErrorMessage)
	}
	for _, run := range runs[:min(len(runs), 5)] {
		fmt.Fprintf(out, "  run %d: %s %s, %d files, %d kept, %d parsed, %.1f s%s\n",
			run.ID, run.Trigger, run.Status, run.TotalFiles, run.KeptFiles, run.ParsedFiles, run.Seconds, skipWords(run.Skipped))
	}
}

func skipWords(skipped map[codesage.SkipReason]int) string {
	text := ""
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		text += fmt.Sprintf(", %s %d", reason, skipped[reason])
	}
	return text
}
