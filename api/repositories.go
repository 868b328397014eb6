package api

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/tools"
)

// listRepositories answers with all repositories.
func (s *server) listRepositories(c *gin.Context) {
	all, err := s.Store.ListRepositories(c.Request.Context())
	if err != nil {
		s.fail(c, err)
		return
	}
	objects := make([]object, len(all))
	for i, r := range all {
		objects[i] = newObject(r)
	}
	answer(c, http.StatusOK, gin.H{"repositories": objects, "total": len(objects)})
}

var addArgs = tools.Schema{Fields: []tools.Field{
	{Name: "url", Type: tools.String, Required: true, MinLength: 1},
	{Name: "branch", Type: tools.String, Nullable: true, MaxLength: 100},
	{Name: "description", Type: tools.String, Nullable: true},
}}

// addRepository adds a git URL.
func (s *server) addRepository(c *gin.Context) {
	args, ok := s.bodyArgs(c, addArgs)
	if !ok {
		return
	}
	repo, err := s.Catalog.Add(c.Request.Context(), args.String("url"), args.String("branch"), args.String("description"))
	if err != nil {
		s.fail(c, err)
		return
	}
	s.created(c, repo)
}

// bodyArgs reads the body as the arguments of a schema, and answers when it is
// bad.
func (s *server) bodyArgs(c *gin.Context, schema tools.Schema) (tools.Arguments, bool) {
	body, ok := s.readBody(c)
	if !ok {
		return nil, false
	}
	args, faults := schema.Parse(body)
	if faults != nil {
		unprocessable(c, within("body", faults)...)
		return nil, false
	}
	return args, true
}

// created answers 201 with a repository.
func (s *server) created(c *gin.Context, repo codesage.Repository) {
	c.Header("Location", "/api/v1/repositories/"+formatID(repo.ID))
	answer(c, http.StatusCreated, newObject(repo))
}

var idArgs = tools.Schema{Fields: []tools.Field{{Name: "id", Type: tools.Integer, Required: true}}}

// pathRepository returns the repository that the path names, and answers when
// there is none.
func (s *server) pathRepository(c *gin.Context) (codesage.Repository, bool) {
	text := c.Param("id")
	if !digits(text) {
		args, faults := idArgs.Parse(mustJSON(gin.H{"id": text}))
		if faults != nil {
			unprocessable(c, within("path", faults)...)
			return codesage.Repository{}, false
		}
		n, _ := args.Int("id")
		text = strconv.Itoa(n)
	}
	repo, err := s.repository(c.Request.Context(), text)
	if err != nil {
		s.fail(c, err)
		return repo, false
	}
	return repo, true
}

// getRepository answers with one repository.
func (s *server) getRepository(c *gin.Context) {
	if repo, ok := s.pathRepository(c); ok {
		answer(c, http.StatusOK, newObject(repo))
	}
}

// deleteRepository removes a repository.
func (s *server) deleteRepository(c *gin.Context) {
	repo, ok := s.pathRepository(c)
	if !ok {
		return
	}
	if err := s.Catalog.Remove(c.Request.Context(), repo.ID); err != nil {
		s.fail(c, err)
		return
	}
	c.Status(http.StatusNoContent)
}

// reprocess starts a run.
func (s *server) reprocess(c *gin.Context) {
	repo, ok := s.pathRepository(c)
	if !ok {
		return
	}
	repo, _, err := s.Catalog.Reprocess(c.Request.Context(), repo.ID, codesage.TriggerReprocess, false)
	if err != nil {
		s.fail(c, err)
		return
	}
	answer(c, http.StatusAccepted, newObject(repo))
}

// cancel ends the run that is going.
func (s *server) cancel(c *gin.Context) {
	repo, ok := s.pathRepository(c)
	if !ok {
		return
	}
	repo, err := s.Catalog.Cancel(c.Request.Context(), repo.ID)
	if err != nil {
		s.fail(c, err)
		return
	}
	answer(c, http.StatusAccepted, newObject(repo))
}

// mustJSON encodes what always encodes.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}
