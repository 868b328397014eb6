package repositories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"codesage"
	"codesage/search"
	"codesage/tools"
	"codesage/trace"
)

var searchCode = tools.Spec{
	Name: "search_code",
	Description: "Search functions, classes, Markdown sections and Terraform blocks by words or by name, best matches first, " +
		"with file locations, snippets and source links. Searches every indexed repository unless one is given.",
	Arguments: tools.Schema{Title: "SearchCodeArgs", Fields: []tools.Field{
		{Name: "query", Type: tools.String, Required: true, MinLength: 1, MaxBytes: search.MaxQueryBytes,
			Description: "Words, a name or part of one; at most 512 bytes"},
		{Name: "repository", Type: tools.String, Nullable: true, Description: "Repository ID, name or owner/name; all repositories when left out"},
		{Name: "language", Type: tools.String, Nullable: true, Description: "Exact language label, for example python, typescript, cpp or csharp"},
		entityTypeField("Only this type of entity; imports are found only when asked for"),
		{Name: "limit", Type: tools.Integer, Default: 10, Min: tools.Limit(1), Max: tools.Limit(50), Description: "Results per page"},
		{Name: "page", Type: tools.Integer, Default: 0, Min: tools.Limit(0), Description: "Page, from 0"},
	}},
}

// Found is what search_code answers.
type Found struct {
	Query      string  `json:"query"`
	Repository *string `json:"repository"`
	TotalHits  int     `json:"total_hits"`
	Page       int     `json:"page"`
	Pages      int     `json:"pages"`
	Results    []Hit   `json:"results"`
}

// Hit is one result of search_code. In is the repository that it is in, for
// pages; tools don't show it.
type Hit struct {
	In          codesage.RepositoryID `json:"-"`
	EntityName  string                `json:"entity_name"`
	EntityType  codesage.EntityType   `json:"entity_type"`
	FilePath    string                `json:"file_path"`
	LineStart   int                   `json:"line_start"`
	LineEnd     int                   `json:"line_end"`
	Language    string                `json:"language"`
	Signature   *string               `json:"signature"`
	Snippet     string                `json:"snippet"`
	Description *string               `json:"description"`
	URL         *string               `json:"url"`
}

func (s *set) searchCode(ctx context.Context, a tools.Arguments) (any, error) {
	if s.Engine == nil {
		return nil, tools.Failf("Search is not configured on the server (ALGOLIA_APP_ID / ALGOLIA_ADMIN_API_KEY are missing).")
	}
	repos, scope, err := s.scope(ctx, a.String("repository"))
	if err != nil {
		return nil, err
	}
	limit, _ := a.Int("limit")
	page, _ := a.Int("page")
	answer := Found{Query: a.String("query"), Page: page, Results: []Hit{}}
	if a.String("repository") != "" {
		answer.Repository = &repos[0].Name
	}
	if len(scope) == 0 {
		return answer, nil
	}
	if err := s.checkLanguage(ctx, scope, a.String("language")); err != nil {
		return nil, err
	}
	found, err := s.Engine.Search(ctx, search.Query{
		Text: a.String("query"), Scope: scope, Language: a.String("language"),
		EntityType: codesage.EntityType(a.String("entity_type")), Limit: limit, Page: page,
	})
	if err != nil {
		return nil, s.searchFailed(ctx, err)
	}
	answer.TotalHits, answer.Pages = found.TotalHits, found.Pages
	for _, r := range found.Hits {
		answer.Results = append(answer.Results, s.hit(r, repos))
	}
	return answer, nil
}

// scope returns the repositories to search, and what each has published. All
// are read at once, so that hits and links are of the same runs.
func (s *set) scope(ctx context.Context, repository string) ([]codesage.Repository, []codesage.Snapshot, error) {
	if repository != "" {
		repo, snapshot, err := s.Catalog.Ready(ctx, repository)
		return []codesage.Repository{repo}, []codesage.Snapshot{snapshot}, err
	}
	repos, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list repositories: %w", err)
	}
	var scope []codesage.Snapshot
	for _, r := range repos {
		if snapshot, ok := r.Snapshot(); ok {
			scope = append(scope, snapshot)
		}
	}
	return repos, scope, nil
}

// checkLanguage refuses a label that no record of the scope has.
func (s *set) checkLanguage(ctx context.Context, scope []codesage.Snapshot, language string) error {
	if language == "" {
		return nil
	}
	known, err := s.Engine.Languages(ctx, scope)
	if err != nil {
		return s.searchFailed(ctx, err)
	}
	if slices.Contains(known, language) {
		return nil
	}
	if known, err = s.withFiles(ctx, scope, known); err != nil {
		return err
	}
	if slices.Contains(known, language) {
		return nil // there are such files, and no entities in them
	}
	if len(known) == 0 {
		known = []string{"none"}
	}
	return tools.Failf("Unknown language '%s'. Languages in this index: %s.", cut(language, maxEcho), strings.Join(known, ", "))
}

// withFiles adds the labels of files in which nothing was found to those of
// records.
func (s *set) withFiles(ctx context.Context, scope []codesage.Snapshot, known []string) ([]string, error) {
	labels := map[string]bool{}
	for _, label := range known {
		labels[label] = true
	}
	for _, snapshot := range scope {
		a, err := s.Store.Analyze(ctx, snapshot)
		if err != nil {
			return nil, fmt.Errorf("count languages: %w", err)
		}
		for label := range a.FilesByLanguage {
			labels[label] = true
		}
	}
	return slices.Sorted(maps.Keys(labels)), nil
}

// searchFailed logs why the engine did not answer. The detail may name hosts
// and accounts, and is not for the caller.
func (s *set) searchFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	trace.Log(ctx, s.Log).Error("search", "err", err)
	return tools.Failf("Search is unavailable; try again later.")
}

func (s *set) hit(r search.Record, repos []codesage.Repository) Hit {
	return Hit{
		In: r.RepositoryID, EntityName: r.EntityName, EntityType: r.EntityType, FilePath: r.FilePath,
		LineStart: r.LineStart, LineEnd: r.LineEnd, Language: r.Language,
		Signature:   optional(cut(r.Signature, maxSignature)),
		Snippet:     cut(snippet(r), maxSnippet),
		Description: optional(cut(r.Description, maxDescription)),
		URL:         optional(s.link(r, repos)),
	}
}

// link returns the page of a hit at the commit that was indexed; without one, at
// the repository's branch.
func (s *set) link(r search.Record, repos []codesage.Repository) string {
	i := slices.IndexFunc(repos, func(repo codesage.Repository) bool { return repo.ID == r.RepositoryID })
	if i < 0 || s.Link == nil || repos[i].URL == "" {
		return ""
	}
	ref := repos[i].Branch
	if published := repos[i].Published; published != nil && published.Commit != "" {
		ref = published.Commit
	}
	return s.Link(repos[i], ref, r.FilePath, r.LineStart, r.LineEnd)
}

// snippet is the entity's text. The signature is put before it where the text,
// which may be cut, does not hold it.
func snippet(r search.Record) string {
	switch {
	case r.Signature == "" || strings.Contains(squeezed(r.Content), squeezed(r.Signature)):
		return r.Content
	case r.Content == "":
		return r.Signature
	}
	return r.Signature + "\n" + r.Content
}

// squeezed is a text without white space: a signature of several lines is stored
// joined.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
