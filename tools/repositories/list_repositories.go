package repositories

import (
	"context"
	"fmt"
	"time"

	"codesage"
	"codesage/tools"
)

var listRepositories = tools.Spec{
	Name:        "list_repositories",
	Description: "List the repositories indexed by CodeSage with their status and size.",
	Arguments:   tools.Schema{Title: "ListRepositoriesArgs"},
}

// Listed is a repository as list_repositories shows it.
type Listed struct {
	ID            codesage.RepositoryID `json:"id"`
	Name          string                `json:"name"`
	URL           *string               `json:"url"`
	Branch        *string               `json:"branch"`
	CommitSHA     *string               `json:"commit_sha"`
	Status        codesage.Status       `json:"status"`
	TotalFiles    int                   `json:"total_files"`
	TotalEntities int                   `json:"total_entities"`
	ErrorMessage  *string               `json:"error_message"`
	ProcessedAt   *string               `json:"processed_at"`
}

// List returns what list_repositories shows of a repository.
func List(r codesage.Repository) Listed {
	return Listed{
		ID:            r.ID,
		Name:          r.Name,
		URL:           optional(r.URL),
		Branch:        optional(r.Branch),
		CommitSHA:     optional(r.CommitSHA()),
		Status:        r.Status(),
		TotalFiles:    r.Counted().TotalFiles,
		TotalEntities: r.TotalEntities(),
		ErrorMessage:  optional(r.ErrorMessage()),
		ProcessedAt:   optional(isoTime(r.ProcessedAt())),
	}
}

func (s *set) listRepositories(ctx context.Context, _ tools.Arguments) (any, error) {
	all, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	result := struct {
		Repositories []Listed `json:"repositories"`
	}{make([]Listed, len(all))}
	for i, r := range all {
		result.Repositories[i] = List(r)
	}
	return result, nil
}

// isoTime is a time in UTC as Python's isoformat prints it: with microseconds
// when there are any. The zero time is "".
func isoTime(t time.Time) string {
	switch t = t.UTC().Truncate(time.Microsecond); {
	case t.IsZero():
		return ""
	case t.Nanosecond() == 0:
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}
