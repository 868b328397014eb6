package sessions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"codesage/tools"
)

// Limits of find_file.
const (
	defaultFound   = 100
	maxFound       = 10_000
	maxPathPattern = 4096 // bytes of a regular expression
)

var findFile = tools.Spec{
	Name: "find_file",
	Description: "Find the files of a session whose path matches a glob (*, ?, [a-z], {a,b}, ** as a whole part; * matches / too) or a " +
		"regular expression (RE2, unanchored). Both are tried on the absolute path and on the path in the repository. " +
		"offset pages through more matches than the limit.",
	Arguments: tools.Schema{Title: "FindFileArgs", Fields: []tools.Field{
		sessionField(),
		{Name: "pattern", Type: tools.String, Required: true, Description: "The pattern", MinLength: 1, Advisory: true},
		{Name: "pattern_type", Type: tools.String, Nullable: true, Default: "glob", Description: "How to read the pattern", Enum: []string{"glob", "regex"}, Advisory: true},
		{Name: "limit", Type: tools.Integer, Nullable: true, Default: defaultFound, Description: "Files at most", Min: tools.Limit(1), Max: tools.Limit(maxFound), Advisory: true},
		offsetField(),
	}},
}

func (s *set) findFile(ctx context.Context, a tools.Arguments) (string, error) {
	pattern := a.String("pattern")
	limit, _ := a.Int("limit")
	offset, _ := a.Int("offset")
	switch {
	case strings.TrimSpace(pattern) == "":
		return "", failf(invalidParams, "pattern cannot be empty")
	case limit > maxFound:
		return "", failf(invalidParams, "limit cannot exceed %d", maxFound)
	case limit < 1:
		return "", failf(invalidParams, "limit must be at least 1")
	}
	match, err := s.matcher(pattern, a.String("pattern_type"))
	if err != nil {
		return "", err
	}
	x, err := s.open(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	files, err := s.files(ctx, x)
	if err != nil {
		return "", err
	}
	var matched []string
	for _, f := range files {
		if full := x.path(f.Path); match(full) || match(f.Path) {
			matched = append(matched, full)
		}
	}
	return foundFiles(x.Session, pattern, matched, len(files), limit, offset), nil
}

// matcher compiles a pattern.
func (s *set) matcher(pattern, kind string) (func(string) bool, error) {
	switch kind {
	case "glob":
		match, err := s.Glob(pattern)
		if err != nil {
			return nil, failf(invalidParams, "Invalid glob pattern '%s': %s", echo(pattern), err)
		}
		return match, nil
	case "regex":
		if len(pattern) > maxPathPattern {
			return nil, failf(invalidParams, "Invalid regex pattern '%s': longer than %d bytes", echo(pattern), maxPathPattern)
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, failf(invalidParams, "Invalid regex pattern '%s': %s", echo(pattern), regexFault(err))
		}
		return re.MatchString, nil
	}
	return nil, failf(invalidParams, "Invalid pattern_type: '%s'. Must be 'glob' or 'regex'.", echo(kind))
}

// regexFault is what is wrong with a regular expression, without the words that
// introduce it.
func regexFault(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: `%s`", e.Code, echo(e.Expr))
	}
	return err.Error()
}

// foundFiles is the answer of find_file.
func foundFiles(session, pattern string, matched []string, total, limit, offset int) string {
	p := page{from: min(offset, len(matched)), total: len(matched)}
	p.to = min(p.from+limit, p.total)
	var b strings.Builder
	fmt.Fprintf(&b, "**Session:** `%s`\n**Pattern:** %s\n**Matches:** %s of %s total files", session, code(pattern), count(p.total), count(total))
	if p.to-p.from < p.total {
		fmt.Fprintf(&b, " (showing %s)", p.shown())
	}
	b.WriteString("\n\n")
	switch {
	case p.total == 0:
		b.WriteString("No files match the pattern. Try a different pattern or check session.")
		return b.String()
	case p.from == p.to:
		fmt.Fprintf(&b, "No matches at offset %d.", offset)
		return b.String()
	}
	b.WriteString("**Matched Files:**\n")
	for _, path := range matched[p.from:p.to] {
		fmt.Fprintf(&b, "- %s\n", code(path))
	}
	if p.to < p.total {
		fmt.Fprintf(&b, "\nNot shown: %s files; use offset=%d to see the next ones.", count(p.total-p.to), p.to)
	}
	return b.String()
}
