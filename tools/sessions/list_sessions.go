package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codesage"
	"codesage/tools"
	"codesage/trace"
)

var listSessions = tools.Spec{
	Name:        "list_sessions",
	Description: "List all sessions with their files, chunks, size and times.",
	Arguments:   tools.Schema{Title: "ListSessionsArgs"},
}

func (s *set) listSessions(ctx context.Context, _ tools.Arguments) (string, error) {
	repos, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return "", fmt.Errorf("list sessions: %w", err)
	}
	slices.SortFunc(repos, func(a, b codesage.Repository) int { return cmp.Compare(a.Session, b.Session) })
	var listed, waiting, failed, unreadable []string
	for _, repo := range repos {
		x, err := s.readable(repo)
		if err != nil {
			if repo.Status() == codesage.StatusFailed {
				failed = append(failed, repo.Session)
			} else {
				waiting = append(waiting, repo.Session)
			}
			continue
		}
		text, err := s.describe(ctx, x)
		switch {
		case err == nil:
			listed = append(listed, text)
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, codesage.ErrNotFound): // deleted meanwhile
		default:
			trace.Log(ctx, s.Log).Warn("session can't be read", "session", repo.Session, "err", err)
			unreadable = append(unreadable, repo.Session)
		}
	}
	text := "No sessions available. Index a repository first with index_repository.\n"
	if len(listed) > 0 {
		text = fmt.Sprintf("Available sessions (%d):\n\n%s", len(listed), strings.Join(listed, ""))
	}
	return text + named("Indexing", "session(s)", waiting) + named("Failed to index", "session(s)", failed) +
		named("Skipped", "unreadable session(s)", unreadable), nil
}

// named is a line that names sessions; none gives none.
func named(what, noun string, sessions []string) string {
	if len(sessions) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d %s: %s\n", what, len(sessions), noun, strings.Join(sessions, ", "))
}

// describe is a session's part of the list.
func (s *set) describe(ctx context.Context, x session) (string, error) {
	t, err := s.totals(ctx, x)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", x.Session)
	fmt.Fprintf(&b, "- **Files:** %s\n", count(t.files))
	fmt.Fprintf(&b, "- **Chunks:** %s\n", count(t.chunks))
	fmt.Fprintf(&b, "- **Size:** %s\n", byteSize(t.bytes))
	fmt.Fprintf(&b, "- **Schema:** %s\n", s.schemaState(x.Repository, "outdated, re-index required"))
	fmt.Fprintf(&b, "- **Last indexed:** %s\n", s.stamp(x.indexedAt(), minuteTime))
	fmt.Fprintf(&b, "- **Created:** %s\n\n", x.CreatedAt.UTC().Format(isoTime))
	return b.String(), nil
}

// schemaState is "v3 (current)".
func (s *set) schemaState(repo codesage.Repository, outdated string) string {
	v := s.schema(repo)
	if v == schemaVersion {
		outdated = "current"
	}
	return fmt.Sprintf("v%d (%s)", v, outdated)
}
