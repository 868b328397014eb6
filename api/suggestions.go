package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/search"
	"codesage/tools"
)

var suggestArgs = tools.Schema{Fields: []tools.Field{
	{Name: "query", Type: tools.String, Required: true},
	{Name: "limit", Type: tools.Integer, Default: 10, Min: tools.Limit(1), Max: tools.Limit(20)},
	{Name: "repository_id", Type: tools.Integer, Nullable: true},
}}

// suggest answers with entity names for auto-complete. Once its arguments are
// right it always answers 200: nothing to suggest is no failure.
func (s *server) suggest(c *gin.Context) {
	args, ok := query(c, suggestArgs)
	if !ok {
		return
	}
	names := []string{}
	text := strings.TrimSpace(args.String("query"))
	if s.Engine != nil && utf8.RuneCountInString(text) >= 2 && len(text) <= search.MaxQueryBytes {
		limit, _ := args.Int("limit")
		id, one := args.Int("repository_id")
		found, err := s.suggestions(c.Request.Context(), text, id, one, limit)
		if err != nil && c.Request.Context().Err() == nil {
			s.Log.Warn("suggest names", "request", requestID(c), "err", err)
		}
		names = append(names, found...)
	}
	answer(c, http.StatusOK, gin.H{"suggestions": names})
}

// suggestions asks the engine, in one repository or in all.
func (s *server) suggestions(ctx context.Context, text string, id int, one bool, limit int) ([]string, error) {
	if !one {
		scope, err := s.Catalog.Scope(ctx)
		if err != nil || len(scope) == 0 {
			return nil, err
		}
		return s.Engine.Suggest(ctx, text, scope, limit)
	}
	repo, err := s.Store.Repository(ctx, codesage.RepositoryID(id))
	if codesage.KindOf(err) == codesage.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	snapshot, ok := repo.Snapshot()
	if !ok {
		return nil, nil
	}
	return s.Engine.Suggest(ctx, text, []codesage.Snapshot{snapshot}, limit)
}
