package repositories

import (
	"context"

	"codesage"
	"codesage/tools"
)

var addRepository = tools.Spec{
	Name: "add_repository",
	Description: "Add a git repository by https URL and start indexing it in the background. " +
		"Works with GitHub, GitLab, Bitbucket and self-hosted git servers; poll list_repositories until it is completed.",
	Arguments: tools.Schema{Title: "AddRepositoryArgs", Fields: []tools.Field{
		{Name: "url", Type: tools.String, Required: true, MinLength: 1, Description: "https repository URL; a branch URL is understood"},
		{Name: "branch", Type: tools.String, Nullable: true, MaxLength: 100, Description: "Branch; the default branch, or the one in the URL, when left out"},
		{Name: "description", Type: tools.String, Nullable: true, Description: "Free text note"},
	}},
	Writes: true,
}

// addResult is what add_repository answers.
type addResult struct {
	RepositoryID codesage.RepositoryID `json:"repository_id"`
	Name         string                `json:"name"`
	Status       codesage.Status       `json:"status"`
	Message      string                `json:"message"`
}

func (s *set) addRepository(ctx context.Context, a tools.Arguments) (any, error) {
	if s.Engine == nil {
		return nil, tools.Failf("Search indexing is not configured on the server (Algolia credentials are missing).")
	}
	repo, err := s.Catalog.Add(ctx, a.String("url"), a.String("branch"), a.String("description"))
	if err != nil {
		return nil, err
	}
	return addResult{
		RepositoryID: repo.ID, Name: repo.Name, Status: repo.Status(),
		Message: "Indexing started; check list_repositories for progress.",
	}, nil
}
