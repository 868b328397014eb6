package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/dashboard"
	"codesage/tools"
	"codesage/tools/repositories"
	"codesage/trace"
)

// searchRows is how many hits a page shows.
const searchRows = 20

// showSearch is the page of search. What it finds, and what it counts to, is that
// of the tool search_code.
func (s *server) showSearch(c *gin.Context) {
	ctx := c.Request.Context()
	all, err := s.Store.ListRepositories(ctx)
	if err != nil {
		s.fail(c, err)
		return
	}
	page := dashboard.Search{
		Query: strings.TrimSpace(c.Query("q")), Repository: c.Query("repository"), Language: c.Query("language"), Type: c.Query("type"),
		Number: number(c.Query("page")), Repositories: all, Languages: s.languages(ctx, all),
	}
	if page.Query != "" {
		if !s.within(c, "RATE_LIMIT_AI", s.Limits.AI, 1) || !s.find(c, &page) {
			return
		}
	}
	if last := max(page.Pages-1, 0); page.Asked && page.Number > last {
		c.Redirect(http.StatusSeeOther, page.Link(last))
		return
	}
	s.show(c, http.StatusOK, page)
}

// languages are those to choose from; none when search does not answer.
func (s *server) languages(ctx context.Context, all []codesage.Repository) []string {
	var scope []codesage.Snapshot
	for _, r := range all {
		if snapshot, ok := r.Snapshot(); ok {
			scope = append(scope, snapshot)
		}
	}
	if s.Engine == nil || len(scope) == 0 {
		return nil
	}
	labels, err := s.Engine.Languages(ctx, scope)
	if err != nil {
		trace.Log(ctx, s.Log).Warn("list languages for the search page", "err", err)
	}
	return labels
}

// find puts into the page what search_code answers. When that is a fault of the
// server it answers the request and returns false.
func (s *server) find(c *gin.Context, page *dashboard.Search) bool {
	ctx := c.Request.Context()
	tool, ok := s.sets[repositories.Name].find("search_code")
	if !ok {
		s.refuse(c, http.StatusNotFound, "Not Found")
		return false
	}
	args, faults := tool.Arguments.Parse(mustJSON(gin.H{
		"query": page.Query, "repository": page.Repository, "language": page.Language, "entity_type": page.Type,
		"page": page.Number, "limit": searchRows,
	}))
	if faults != nil {
		s.called(ctx, tool.Name, "invalid", 0)
		page.Error = faultsText(faults)
		return true
	}
	answer, err := s.run(ctx, tool, tool.Name, args)
	if err != nil {
		s.fail(c, err)
		return false
	}
	if answer.IsError {
		page.Error = *answer.Error
		return true
	}
	found, ok := answer.Result.(repositories.Found)
	if !ok {
		s.fail(c, fmt.Errorf("search_code answered %T", answer.Result))
		return false
	}
	page.Asked, page.Total, page.Pages = true, found.TotalHits, found.Pages
	page.Hits = newHits(found.Results, page.Repositories)
	return true
}

// newHits are the hits as the page shows them.
func newHits(results []repositories.Hit, all []codesage.Repository) []dashboard.Hit {
	names := map[codesage.RepositoryID]string{}
	for _, r := range all {
		names[r.ID] = r.Name
	}
	hits := make([]dashboard.Hit, len(results))
	for i, h := range results {
		hits[i] = dashboard.Hit{
			Repository: h.In, In: names[h.In], Name: h.EntityName, Type: h.EntityType, Path: h.FilePath,
			Start: h.LineStart, End: h.LineEnd, Language: h.Language,
			Description: text(h.Description), Signature: text(h.Signature), Snippet: h.Snippet, URL: text(h.URL),
		}
	}
	return hits
}

// text is "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// faultsText words faults in one line.
func faultsText(faults []tools.Fault) string {
	parts := make([]string, len(faults))
	for i, f := range faults {
		parts[i] = f.Text()
	}
	return strings.Join(parts, "; ")
}
