package repositories

import (
	"context"
	"fmt"

	"codesage"
	"codesage/store"
	"codesage/tools"
)

var listDefinitions = tools.Spec{
	Name:        "list_definitions",
	Description: "List the functions, classes, imports, Markdown sections and Terraform blocks of one repository, ordered by file and line.",
	Arguments: tools.Schema{Title: "ListDefinitionsArgs", Fields: []tools.Field{
		repositoryField(),
		{Name: "path_prefix", Type: tools.String, Nullable: true, Description: "Only files whose path starts with this text; no wildcards"},
		entityTypeField("Only this type of entity"),
		{Name: "name", Type: tools.String, Nullable: true, Description: "Only entities whose name contains this text, in any case"},
		{Name: "limit", Type: tools.Integer, Default: 100, Min: tools.Limit(1), Max: tools.Limit(500), Description: "Most definitions to return"},
	}},
}

// definitionsResult is what list_definitions answers.
type definitionsResult struct {
	Repository  string       `json:"repository"`
	Total       int          `json:"total"`
	Definitions []definition `json:"definitions"`
}

type definition struct {
	EntityType  codesage.EntityType `json:"entity_type"`
	EntityName  string              `json:"entity_name"`
	FilePath    string              `json:"file_path"`
	LineStart   int                 `json:"line_start"`
	LineEnd     int                 `json:"line_end"`
	Signature   *string             `json:"signature"`
	Description *string             `json:"description"`
}

func (s *set) listDefinitions(ctx context.Context, a tools.Arguments) (any, error) {
	repo, snapshot, err := s.Catalog.Ready(ctx, a.String("repository"))
	if err != nil {
		return nil, err
	}
	limit, _ := a.Int("limit")
	found, total, err := s.Store.ListEntities(ctx, snapshot, store.EntityFilter{
		PathPrefix: a.String("path_prefix"),
		Type:       codesage.EntityType(a.String("entity_type")),
		Name:       a.String("name"),
		Limit:      limit,
	})
	if err != nil {
		return nil, fmt.Errorf("list entities of repository %d: %w", repo.ID, err)
	}
	result := definitionsResult{Repository: repo.Name, Total: total, Definitions: make([]definition, len(found))}
	for i, e := range found {
		result.Definitions[i] = definition{
			EntityType: e.Type, EntityName: e.Name, FilePath: e.Path, LineStart: e.LineStart, LineEnd: e.LineEnd,
			Signature:   optional(cut(e.Signature, maxSignature)),
			Description: optional(cut(e.Description, maxDescription)),
		}
	}
	return result, nil
}
