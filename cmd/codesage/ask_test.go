package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"codesage/api/client"
)

// args are the arguments of a tool.
type args map[string]any

// call calls a tool and returns its envelope, or why it could not be asked.
func call(api *client.Client, tool string, a args) (client.Envelope, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return client.Envelope{}, err
	}
	if a == nil {
		raw = nil
	}
	return api.CallTool(context.Background(), client.Call{Tool: tool, Arguments: raw})
}

// ask calls a tool and decodes its result.
func ask[R any](api *client.Client, tool string, a args) (R, error) {
	var result R
	answer, err := call(api, tool, a)
	switch {
	case err != nil:
		return result, fmt.Errorf("%s %v: %w", tool, a, err)
	case answer.IsError:
		return result, fmt.Errorf("%s %v: %w", tool, a, errors.New(answer.Error))
	}
	d := json.NewDecoder(bytes.NewReader(answer.Result))
	d.DisallowUnknownFields()
	if err := d.Decode(&result); err != nil {
		return result, fmt.Errorf("%s %v: read the answer: %w", tool, a, err)
	}
	return result, nil
}

// must is ask for a call that has to work.
func must[R any](t testing.TB, s *server, tool string, a args) R {
	t.Helper()
	result, err := ask[R](s.api, tool, a)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The results of the tools, field by field as the contract has them.
type (
	listResult struct {
		Repositories []listed `json:"repositories"`
	}
	listed struct {
		ID            int     `json:"id"`
		Name          string  `json:"name"`
		URL           *string `json:"url"`
		Branch        *string `json:"branch"`
		CommitSHA     *string `json:"commit_sha"`
		Status        string  `json:"status"`
		TotalFiles    int     `json:"total_files"`
		TotalEntities int     `json:"total_entities"`
		ErrorMessage  *string `json:"error_message"`
		ProcessedAt   *string `json:"processed_at"`
	}
	searchResult struct {
		Query      string  `json:"query"`
		Repository *string `json:"repository"`
		TotalHits  int     `json:"total_hits"`
		Page       int     `json:"page"`
		Pages      int     `json:"pages"`
		Results    []hit   `json:"results"`
	}
	hit struct {
		EntityName  string  `json:"entity_name"`
		EntityType  string  `json:"entity_type"`
		FilePath    string  `json:"file_path"`
		LineStart   int     `json:"line_start"`
		LineEnd     int     `json:"line_end"`
		Language    string  `json:"language"`
		Signature   *string `json:"signature"`
		Snippet     string  `json:"snippet"`
		Description *string `json:"description"`
		URL         *string `json:"url"`
	}
	fileResult struct {
		Repository string `json:"repository"`
		Path       string `json:"path"`
		Language   string `json:"language"`
		TotalLines int    `json:"total_lines"`
		StartLine  int    `json:"start_line"`
		EndLine    int    `json:"end_line"`
		Truncated  bool   `json:"truncated"`
		Content    string `json:"content"`
	}
	definitionsResult struct {
		Repository  string       `json:"repository"`
		Total       int          `json:"total"`
		Definitions []definition `json:"definitions"`
	}
	definition struct {
		EntityType  string  `json:"entity_type"`
		EntityName  string  `json:"entity_name"`
		FilePath    string  `json:"file_path"`
		LineStart   int     `json:"line_start"`
		LineEnd     int     `json:"line_end"`
		Signature   *string `json:"signature"`
		Description *string `json:"description"`
	}
	patternsResult struct {
		Repository   string        `json:"repository"`
		Pattern      string        `json:"pattern"`
		Regex        bool          `json:"regex"`
		TotalMatches int           `json:"total_matches"`
		Truncated    bool          `json:"truncated"`
		Matches      []patternLine `json:"matches"`
		SkippedFiles []string      `json:"skipped_files"`
		SkippedCount int           `json:"skipped_count"`
	}
	patternLine struct {
		FilePath string `json:"file_path"`
		Line     int    `json:"line"`
		Text     string `json:"text"`
	}
	filesContent struct {
		Repository string `json:"repository"`
		TotalFiles int    `json:"total_files"`
		Truncated  bool   `json:"truncated"`
		Files      []struct {
			Path     string `json:"file_path"`
			Language string `json:"language"`
			Lines    int    `json:"line_count"`
		} `json:"files"`
	}
)

// paths are the files of a repository as the resource lists them.
func paths(t testing.TB, s *server, id int64) []string {
	t.Helper()
	r, err := s.api.ReadResource(context.Background(), fmt.Sprintf("codesage://repositories/%d/files", id))
	if err != nil {
		t.Fatal(err)
	}
	var content filesContent
	if err := json.Unmarshal(r.Content, &content); err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(content.Files))
	for i, f := range content.Files {
		all[i] = f.Path
	}
	return all
}
