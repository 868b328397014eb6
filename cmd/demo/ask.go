package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// ask puts three questions to the bridge over stdio and prints the answers.
func ask(ctx context.Context, binary string, env []string, repository string) error {
	c, err := client.NewStdioMCPClient(binary, env, "bridge")
	if err != nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "codesage-demo", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return fmt.Errorf("greet the bridge: %w", err)
	}

	var about struct {
		TotalFiles      int            `json:"total_files"`
		TotalLines      int            `json:"total_lines"`
		EntitiesByType  map[string]int `json:"entities_by_type"`
		FilesByLanguage map[string]int `json:"files_by_language"`
		Language        string         `json:"language"`
	}
	if err := call(ctx, c, "analyze_repository", map[string]any{"repository": repository}, &about); err != nil {
		return err
	}
	fmt.Printf("\nanalyze_repository: %d files, %d lines, mostly %s\n", about.TotalFiles, about.TotalLines, about.Language)
	fmt.Printf("  entities:  %s\n  languages: %s\n", counts(about.EntitiesByType), counts(about.FilesByLanguage))

	query := "resolve repository"
	var found struct {
		TotalHits int `json:"total_hits"`
		Results   []struct {
			Description string `json:"description"`
			FilePath    string `json:"file_path"`
			LineStart   int    `json:"line_start"`
			LineEnd     int    `json:"line_end"`
		} `json:"results"`
	}
	arguments := map[string]any{"query": query, "repository": repository, "entity_type": "function", "limit": 5}
	if err := call(ctx, c, "search_code", arguments, &found); err != nil {
		return err
	}
	fmt.Printf("\nsearch_code %q: %d hits, the best:\n", query, found.TotalHits)
	for _, r := range found.Results {
		fmt.Printf("  %s:%d  %s\n", r.FilePath, r.LineStart, r.Description)
	}
	if len(found.Results) == 0 {
		return errors.New("the search found nothing")
	}

	best := found.Results[0]
	var file struct {
		Content string `json:"content"`
	}
	arguments = map[string]any{"repository": repository, "path": best.FilePath, "start_line": best.LineStart, "end_line": min(best.LineEnd, best.LineStart+14)}
	if err := call(ctx, c, "get_file", arguments, &file); err != nil {
		return err
	}
	fmt.Printf("\nget_file %s:\n%s\n", best.FilePath, file.Content)
	return nil
}

// call calls a tool and decodes the JSON of its answer.
func call(ctx context.Context, c *client.Client, tool string, arguments map[string]any, result any) error {
	var q mcp.CallToolRequest
	q.Params.Name, q.Params.Arguments = tool, arguments
	answer, err := c.CallTool(ctx, q)
	if err != nil {
		return fmt.Errorf("call %s: %w", tool, err)
	}
	if len(answer.Content) == 0 {
		return fmt.Errorf("%s answered nothing", tool)
	}
	text, ok := answer.Content[0].(mcp.TextContent)
	if !ok {
		return fmt.Errorf("%s answered no text", tool)
	}
	if answer.IsError {
		return fmt.Errorf("%s: %s", tool, text.Text)
	}
	if err := json.Unmarshal([]byte(text.Text), result); err != nil {
		return fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	return nil
}

// counts prints a map of counts, largest first.
func counts(m map[string]int) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), 8)] {
		parts = append(parts, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(parts, ", ")
}
