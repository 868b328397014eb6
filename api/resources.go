package api

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/mcp"
	"codesage/tools"
	"codesage/tools/repositories"
)

// maxListedFiles is how many files the files resource lists.
const maxListedFiles = 5000

var filesURI = regexp.MustCompile(`^codesage://repositories/([0-9]{1,19})/files$`)

// listResources answers with the resources that lists show.
func (s *server) listResources(c *gin.Context) {
	list := make([]gin.H, len(mcp.Resources))
	for i, r := range mcp.Resources {
		list[i] = gin.H{"uri": r.URI, "name": r.Name, "description": r.Description, "mimeType": r.MIMEType}
	}
	answer(c, http.StatusOK, gin.H{"resources": list, "count": len(list)})
}

// readResource answers with the content of one resource.
func (s *server) readResource(c *gin.Context) {
	args, ok := query(c, tools.Schema{Fields: []tools.Field{{Name: "uri", Type: tools.String, Required: true}}})
	if !ok {
		return
	}
	uri := args.String("uri")
	content, err := s.resource(c.Request.Context(), uri)
	if err != nil {
		s.fail(c, err)
		return
	}
	answer(c, http.StatusOK, struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Content  any    `json:"content"`
	}{uri, mcp.JSONType, content})
}

// resource returns the content of a resource.
func (s *server) resource(ctx context.Context, uri string) (any, error) {
	if uri == mcp.RepositoriesURI {
		return s.repositoryList(ctx)
	}
	match := filesURI.FindStringSubmatch(uri)
	if match == nil {
		return nil, codesage.Errorf(codesage.KindNotFound, "Unknown resource '%s'", bounded(uri))
	}
	repo, err := s.repository(ctx, match[1])
	if err != nil {
		return nil, err
	}
	return s.fileList(ctx, repo)
}

// repositoryList is what list_repositories answers.
func (s *server) repositoryList(ctx context.Context) (any, error) {
	all, err := s.Store.ListRepositories(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	objects := make([]repositories.Listed, len(all))
	for i, r := range all {
		objects[i] = repositories.List(r)
	}
	return map[string]any{"repositories": objects}, nil
}

// repository returns the repository of an id in digits.
func (s *server) repository(ctx context.Context, digits string) (codesage.Repository, error) {
	id, err := strconv.ParseInt(digits, 10, 64)
	if err == nil {
		var repo codesage.Repository
		if repo, err = s.Store.Repository(ctx, codesage.RepositoryID(id)); err == nil {
			return repo, nil
		}
		if codesage.KindOf(err) != codesage.KindNotFound {
			return repo, fmt.Errorf("read repository %d: %w", id, err)
		}
	}
	return codesage.Repository{}, codesage.Errorf(codesage.KindNotFound, "Repository %s not found", trimZeros(digits))
}

// trimZeros writes an id as a number.
func trimZeros(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

// listedFile is a file of the files resource.
type listedFile struct {
	Path     string `json:"file_path"`
	Language string `json:"language"`
	Lines    int    `json:"line_count"`
}

// fileList is the content of a repository's files resource. It also answers
// before the first run is complete, with what there is.
func (s *server) fileList(ctx context.Context, repo codesage.Repository) (any, error) {
	list := struct {
		Repository string       `json:"repository"`
		TotalFiles int          `json:"total_files"`
		Truncated  bool         `json:"truncated"`
		Files      []listedFile `json:"files"`
	}{Repository: repo.Name, Files: []listedFile{}}
	snapshot, ok := repo.Snapshot()
	if !ok {
		if snapshot, ok = repo.TextSnapshot(); !ok {
			return list, nil
		}
	}
	total, err := s.Store.CountFiles(ctx, snapshot)
	if err != nil {
		return nil, fmt.Errorf("count files of repository %d: %w", repo.ID, err)
	}
	files, err := s.Store.ListFiles(ctx, snapshot, "", maxListedFiles)
	if err != nil {
		return nil, fmt.Errorf("list files of repository %d: %w", repo.ID, err)
	}
	for _, f := range files {
		list.Files = append(list.Files, listedFile{f.Path, f.Language, f.Lines})
	}
	list.TotalFiles, list.Truncated = total, total > len(files)
	return list, nil
}
