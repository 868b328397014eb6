package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"codesage/api/client"
)

func listCommand(t terminal) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the repositories",
		GroupID: "client",
		Args:    noArguments,
		RunE: asking(t, func(ctx context.Context, server *client.Client, _ []string) error {
			all, err := server.Repositories(ctx)
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeJSON(t.out, all)
			case len(all) == 0:
				_, err := fmt.Fprintln(t.out, "Nothing is indexed yet; add something with `codesage add <url|folder>`.")
				return err
			}
			return writeRepositories(t.out, all)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeRepositories(out io.Writer, all []client.Repository) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSTATUS\tFILES\tENTITIES\tINDEXED")
	for _, r := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%d/%d\t%d\t%s\n", r.ID, r.Name, r.Status, r.ProcessedFiles, r.TotalFiles, r.TotalEntities, day(r.ProcessedAt))
	}
	return w.Flush()
}

func day(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format("2006-01-02 15:04")
}

// writeJSON prints a value as indented JSON.
func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
