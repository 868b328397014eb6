package sessions

import (
	"context"
	"fmt"
	"strings"

	"codesage"
	"codesage/tools"
)

var getSessionInfo = tools.Spec{
	Name:        "get_session_info",
	Description: "Get a session's details: where it comes from, its numbers, and how it was indexed.",
	Arguments:   tools.Schema{Title: "GetSessionInfoArgs", Fields: []tools.Field{sessionField()}},
}

func (s *set) getSessionInfo(ctx context.Context, a tools.Arguments) (string, error) {
	repo, err := s.find(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	x, err := s.readable(repo)
	if err != nil {
		return "", err
	}
	t, err := s.totals(ctx, x)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Session: %s\n\n## Overview\n- **Status:** Ready\n", x.Session)
	fmt.Fprintf(&b, "- **Repository Path:** %s\n", tools.OneLine(x.origin()))
	fmt.Fprintf(&b, "- **Files:** %s\n", count(t.files))
	fmt.Fprintf(&b, "- **Chunks:** %s\n", count(t.chunks))
	fmt.Fprintf(&b, "- **Size:** %s\n", byteSize(t.bytes))
	fmt.Fprintf(&b, "- **Created:** %s\n", x.CreatedAt.UTC().Format(isoTime))
	fmt.Fprintf(&b, "- **Last Indexed:** %s\n", x.indexedAt().UTC().Format(secondTime))
	if notice := x.ErrorMessage(); notice != "" {
		fmt.Fprintf(&b, "- **Notice:** %s\n", tools.OneLine(notice))
	}
	size, overlap := x.Options.Window()
	fmt.Fprintf(&b, "\n## Configuration\n- **Chunk size:** %d chars\n- **Overlap:** %d chars\n", size, overlap)
	include, exclude := s.patterns(x)
	fmt.Fprintf(&b, "- **Include patterns:** %s\n- **Exclude patterns:** %s\n", tools.OneLine(strings.Join(include, ", ")), tools.OneLine(strings.Join(exclude, ", ")))
	fmt.Fprintf(&b, "\n## Statistics\n- **Avg chunks/file:** %.2f\n", float64(t.chunks)/float64(max(t.files, 1)))
	if t.chunks > 0 {
		fmt.Fprintf(&b, "- **Avg chunk size:** %s\n", byteSize(t.bytes/int64(t.chunks)))
	}
	return b.String(), nil
}

// defaultInclude is the pattern that stands for all files.
const defaultInclude = "**/*"

// patterns returns the patterns that hold for a session.
func (s *set) patterns(x session) (include, exclude []string) {
	include, exclude = x.Options.Include, x.Options.Exclude
	if len(include) == 0 {
		include = []string{defaultInclude}
	}
	switch {
	case x.Source != codesage.SourceFolder:
		exclude = []string{"none"}
	case len(exclude) == 0:
		exclude = s.Settings.DefaultExclude
	case len(exclude) == 1 && exclude[0] == codesage.ExcludeNothing:
		exclude = []string{"none"}
	}
	return include, exclude
}
