package repositories

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"codesage"
	"codesage/search/index"
	"codesage/search/pattern"
	"codesage/store"
	"codesage/tools"
	"codesage/trace"
)

// Limits of find_patterns. Those of time and size are for regular expressions.
const (
	maxPatternChars   = 200
	regexFileTime     = time.Second
	regexCallTime     = 10 * time.Second
	regexFileChars    = 1_000_000
	maxSkippedListed  = 50
	defaultMaxResults = 100
)

var findPatterns = tools.Spec{
	Name: "find_patterns",
	Description: "Find the lines of one repository that contain a literal string or match a regular expression, in path order. " +
		"Use it to find every place, where search_code ranks.",
	Arguments: tools.Schema{Title: "FindPatternsArgs", Fields: []tools.Field{
		repositoryField(),
		{Name: "pattern", Type: tools.String, Required: true, MinLength: 1, MaxLength: maxPatternChars,
			Description: "Text to find, case-sensitive, or a regular expression"},
		{Name: "regex", Type: tools.Boolean, Default: false, Description: "Treat pattern as a regular expression in Python's syntax, searched in each line"},
		{Name: "path_glob", Type: tools.String, Nullable: true, Description: "Only paths that match this glob as a whole; * also matches /"},
		{Name: "max_results", Type: tools.Integer, Default: defaultMaxResults, Min: tools.Limit(1), Max: tools.Limit(500), Description: "Most matches to return"},
	}},
}

// patternsResult is what find_patterns answers.
type patternsResult struct {
	Repository   string   `json:"repository"`
	Pattern      string   `json:"pattern"`
	Regex        bool     `json:"regex"`
	TotalMatches int      `json:"total_matches"`
	Truncated    bool     `json:"truncated"`
	Matches      []match  `json:"matches"`
	SkippedFiles []string `json:"skipped_files,omitempty"`
	SkippedCount int      `json:"skipped_count,omitempty"`
}

type match struct {
	FilePath string `json:"file_path"`
	Line     int    `json:"line"`
	Text     string `json:"text"`
}

func (s *set) findPatterns(ctx context.Context, a tools.Arguments) (any, error) {
	repo, snapshot, err := s.Catalog.Ready(ctx, a.String("repository"))
	if err != nil {
		return nil, err
	}
	limit, _ := a.Int("max_results")
	f := &finding{
		limit: limit, fileTime: s.fileTime, left: s.callTime,
		result: patternsResult{Repository: repo.Name, Pattern: a.String("pattern"), Regex: a.Bool("regex"), Matches: []match{}},
	}
	if f.matcher, err = newMatcher(a.String("pattern"), a.Bool("regex")); err != nil {
		return nil, err
	}
	if glob := a.String("path_glob"); glob != "" {
		f.glob = pattern.NewFNMatch(glob)
	}
	f.candidates = s.candidates(ctx, snapshot, f.matcher)
	err = s.Store.Texts(ctx, snapshot, "", f.wants, f.file)
	if errors.Is(err, errTimeOver) {
		err = s.skipRest(ctx, snapshot, f)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("find a pattern in repository %d: %w", repo.ID, err)
	}
	f.result.TotalMatches = len(f.result.Matches)
	return f.result, nil
}

func newMatcher(text string, isRegex bool) (*pattern.Matcher, error) {
	if !isRegex {
		return pattern.Literal(text), nil
	}
	m, err := pattern.Regexp(text)
	if err != nil {
		return nil, tools.Failf("Invalid regular expression: %v", err)
	}
	return m, nil
}

// candidates returns the paths that may match, as the index knows them; nil for
// all. An index that can't answer costs time and nothing else.
func (s *set) candidates(ctx context.Context, snapshot codesage.Snapshot, m *pattern.Matcher) map[string]struct{} {
	if s.Texts == nil || m.IndexExpr() == "" {
		return nil
	}
	q, err := index.Regexp(m.IndexExpr())
	if err != nil {
		trace.Log(ctx, s.Log).Warn("ask the index for candidates", "repository", snapshot.Repository, "err", err)
		return nil
	}
	paths, all, err := s.Texts.Candidates(ctx, snapshot, q)
	if err != nil {
		trace.Log(ctx, s.Log).Warn("ask the index for candidates", "repository", snapshot.Repository, "err", err)
		return nil
	}
	if all {
		return nil
	}
	if paths == nil {
		return map[string]struct{}{}
	}
	return paths
}

// What ends a scan before its last file.
var (
	errEnough   = errors.New("one match more than wanted")
	errTimeOver = errors.New("the call's time is over")
)

// finding is one call of find_patterns.
type finding struct {
	matcher    *pattern.Matcher
	glob       *pattern.FNMatch    // nil = every path
	candidates map[string]struct{} // nil = every path
	limit      int
	fileTime   time.Duration
	left       time.Duration // of the call's time for regular expressions
	last       string        // the path that was looked at last
	result     patternsResult
}

// wants reports whether a file is looked at. One that may be too large is, even
// when the index rules it out, since it is reported as skipped.
func (f *finding) wants(file codesage.File) bool {
	if f.glob != nil && !f.glob.Match(file.Path) {
		return false
	}
	if _, possible := f.candidates[file.Path]; possible || f.candidates == nil {
		return true
	}
	return f.result.Regex && file.Size > regexFileChars
}

// file looks at one file.
func (f *finding) file(t store.Text) error {
	f.last = t.Path
	var deadline time.Time
	if f.result.Regex {
		if len(t.Text) > regexFileChars && utf8.RuneCountInString(t.Text) > regexFileChars {
			f.skip(t.Path)
			return nil
		}
		deadline = time.Now().Add(min(f.fileTime, f.left))
	}
	began := time.Now()
	full := false
	err := f.matcher.Scan(t.Text, deadline, func(line int, text string) bool {
		if full = len(f.result.Matches) == f.limit; full {
			return false
		}
		text = strings.TrimFunc(text, isSpace)
		f.result.Matches = append(f.result.Matches, match{t.Path, line, cut(text, maxLineText)})
		return true
	})
	f.left -= time.Since(began)
	switch {
	case full:
		f.result.Truncated = true
		return errEnough
	case errors.Is(err, pattern.ErrTimeout):
		f.skip(t.Path)
	case err != nil:
		return err
	}
	if f.result.Regex && f.left <= 0 {
		return errTimeOver
	}
	return nil
}

func (f *finding) skip(path string) {
	if f.result.SkippedCount++; f.result.SkippedCount <= maxSkippedListed {
		f.result.SkippedFiles = append(f.result.SkippedFiles, path)
	}
}

// skipRest counts the files that were not looked at, for want of time, as
// skipped.
func (s *set) skipRest(ctx context.Context, snapshot codesage.Snapshot, f *finding) error {
	f.result.Truncated = true
	for after := f.last; ; {
		files, err := s.Store.ListFiles(ctx, snapshot, after, filesPage)
		if err != nil {
			return err
		}
		for _, file := range files {
			if after = file.Path; f.wants(file) {
				f.skip(file.Path)
			}
		}
		if len(files) < filesPage {
			return nil
		}
	}
}

// isSpace is what Python's strip takes away.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }
