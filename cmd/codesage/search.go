package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"codesage/api/client"
	"codesage/tools"
)

func searchCommand(t terminal) *cobra.Command {
	var repository, language, entityType string
	var limit int
	var asJSON bool
	c := &cobra.Command{
		Use:     "search <words>",
		Short:   "Search functions, classes, sections and blocks",
		GroupID: "client",
		Args:    arguments(-1, "the words to search"),
		RunE: asking(t, func(ctx context.Context, server *client.Client, args []string) error {
			wanted := map[string]any{"query": strings.Join(args, " "), "limit": limit}
			for name, value := range map[string]string{"repository": repository, "language": language, "entity_type": entityType} {
				if value != "" {
					wanted[name] = value
				}
			}
			raw, err := json.Marshal(wanted)
			if err != nil {
				return err
			}
			answer, err := server.CallTool(ctx, client.Call{Tool: "search_code", Arguments: raw})
			switch {
			case err != nil:
				return err
			case answer.IsError:
				return errors.New(answer.Error)
			case asJSON:
				return writeJSON(t.out, answer.Result)
			}
			return writeHits(t.out, answer.Result)
		}),
	}
	c.Flags().StringVar(&repository, "repository", "", "search this repository only")
	c.Flags().StringVar(&language, "language", "", "a language label such as go or python")
	c.Flags().StringVar(&entityType, "type", "", "function, class, import, doc_section or terraform_block")
	c.Flags().IntVar(&limit, "limit", 10, "hits to print, 1 to 50")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// writeHits prints hits as path:line, what it is, and its signature. They are
// other people's text, which must not command the terminal.
func writeHits(out io.Writer, raw json.RawMessage) error {
	var found struct {
		TotalHits int `json:"total_hits"`
		Results   []struct {
			FilePath    string  `json:"file_path"`
			LineStart   int     `json:"line_start"`
			Description string  `json:"description"`
			Signature   *string `json:"signature"`
		} `json:"results"`
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	fmt.Fprintf(out, "%d hits\n", found.TotalHits)
	for _, r := range found.Results {
		fmt.Fprintf(out, "%s:%d  %s\n", tools.OneLine(r.FilePath), r.LineStart, tools.OneLine(r.Description))
		if r.Signature != nil {
			fmt.Fprintf(out, "    %s\n", tools.OneLine(*r.Signature))
		}
	}
	return nil
}
