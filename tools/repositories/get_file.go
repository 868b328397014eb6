package repositories

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"codesage"
	"codesage/tools"
	"codesage/tools/difflib"
)

// Limits of one call of get_file.
const (
	maxFileLines = 400
	maxFileChars = 100_000
)

// Suggestions for a path that does not exist.
const (
	maxClosePaths = 10
	closeCutoff   = 0.4
	maxClosePath  = 1000 // characters of a path that is compared with others
	filesPage     = 5000 // files read at a time
	maxEcho       = 300  // characters of an argument that a message repeats
)

var getFile = tools.Spec{
	Name: "get_file",
	Description: "Read one indexed file with line numbers, at most 400 lines per call. " +
		"The text is the indexed one. When truncated is true, call again with start_line = end_line + 1.",
	Arguments: tools.Schema{Title: "GetFileArgs", Fields: []tools.Field{
		repositoryField(),
		{Name: "path", Type: tools.String, Required: true, Description: "Exact path, case-sensitive, relative to the repository root"},
		{Name: "start_line", Type: tools.Integer, Nullable: true, Default: 1, Min: tools.Limit(1), Description: "First line"},
		{Name: "end_line", Type: tools.Integer, Nullable: true, Min: tools.Limit(1), Description: "Last line; the end of the file when left out"},
	}},
}

// fileResult is what get_file answers.
type fileResult struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Language   string `json:"language"`
	TotalLines int    `json:"total_lines"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	Truncated  bool   `json:"truncated"`
	Content    string `json:"content"`
}

func (s *set) getFile(ctx context.Context, a tools.Arguments) (any, error) {
	repo, snapshot, err := s.Catalog.Ready(ctx, a.String("repository"))
	if err != nil {
		return nil, err
	}
	path := strings.TrimPrefix(a.String("path"), "./")
	file, err := s.Store.File(ctx, snapshot, path)
	if codesage.KindOf(err) == codesage.KindNotFound {
		return nil, s.noSuchFile(ctx, repo, snapshot, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of repository %d: %w", path, repo.ID, err)
	}
	lines := codesage.NewLineIndex(file.Text)
	total := lines.Lines()
	start, _ := a.Int("start_line")
	wanted, given := a.Int("end_line")
	switch {
	case start > max(total, 1): // an empty file has no line, and is read from its first
		return nil, tools.Failf("start_line %d is past the end of the file (%d lines)", start, total)
	case given && wanted < start:
		return nil, tools.Failf("end_line must not be before start_line")
	case !given || wanted > total:
		wanted = total
	}
	content, end := numbered(lines, start, min(wanted, start+maxFileLines-1))
	return fileResult{
		Repository: repo.Name, Path: file.Path, Language: file.Language, TotalLines: total,
		StartLine: start, EndLine: end, Truncated: end < wanted || len(content.cutLine) > 0, Content: content.text,
	}, nil
}

// numberedLines is the text of get_file.
type numberedLines struct {
	text    string
	cutLine string // the last line when it was too long to be shown whole
}

// numbered formats lines from start to last, as many as the limit of characters
// allows, and returns the last one shown. Only a line that is too long by itself
// is cut.
func numbered(lines *codesage.LineIndex, start, last int) (out numberedLines, end int) {
	var b strings.Builder
	left := maxFileChars
	for n := start; n <= last; n++ {
		line := fmt.Sprintf("%4d| %s", n, lines.Text(n))
		if n > start {
			line = "\n" + line
		}
		size := utf8.RuneCountInString(line)
		switch {
		case size <= left:
			b.WriteString(line)
			left -= size
		case n == start:
			return numberedLines{cut(line, maxFileChars), line}, n
		default:
			return numberedLines{text: b.String()}, n - 1
		}
	}
	return numberedLines{text: b.String()}, last
}

// noSuchFile is the answer for a path that no file has, with those like it.
func (s *set) noSuchFile(ctx context.Context, repo codesage.Repository, snapshot codesage.Snapshot, path string) error {
	message := fmt.Sprintf("File '%s' not found in %s.", cut(path, maxEcho), repo.Name)
	if utf8.RuneCountInString(path) > maxClosePath {
		return tools.Failf("%s", message)
	}
	var paths []string
	for after := ""; ; after = paths[len(paths)-1] {
		files, err := s.Store.ListFiles(ctx, snapshot, after, filesPage)
		if err != nil {
			return fmt.Errorf("list files of repository %d: %w", repo.ID, err)
		}
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		if len(files) < filesPage {
			break
		}
	}
	if close := difflib.CloseMatches(path, paths, maxClosePaths, closeCutoff); len(close) > 0 {
		message += " Close paths: " + strings.Join(close, ", ")
	}
	return tools.Failf("%s", message)
}
