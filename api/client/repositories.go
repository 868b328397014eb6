package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"codesage"
)

// Repository is a repository as REST shows it. What is null there is empty
// here; a time that is null is left out when it is encoded again.
type Repository struct {
	ID             codesage.RepositoryID `json:"id"`
	Name           string                `json:"name"`
	URL            string                `json:"url"`
	Branch         string                `json:"branch"`
	CommitSHA      string                `json:"commit_sha"`
	Status         codesage.Status       `json:"status"`
	TotalFiles     int                   `json:"total_files"`
	TotalEntities  int                   `json:"total_entities"`
	ErrorMessage   string                `json:"error_message"`
	ProcessedAt    time.Time             `json:"processed_at,omitzero"`
	Session        string                `json:"session"`
	Source         codesage.SourceKind   `json:"source"`
	ProcessedFiles int                   `json:"processed_files"`
	Description    string                `json:"description"`
	Language       string                `json:"language"`
	Framework      string                `json:"framework"`
	CreatedAt      time.Time             `json:"created_at"`
	UpdatedAt      time.Time             `json:"updated_at"`
}

// Run is a run as REST shows it.
type Run struct {
	ID             codesage.RunID              `json:"id"`
	RepositoryID   codesage.RepositoryID       `json:"repository_id"`
	Status         codesage.Status             `json:"status"`
	Phase          codesage.Phase              `json:"phase"`
	Trigger        codesage.Trigger            `json:"trigger"`
	Force          bool                        `json:"force"`
	Attempt        int                         `json:"attempt"`
	CommitSHA      string                      `json:"commit_sha"`
	TotalFiles     int                         `json:"total_files"`
	ProcessedFiles int                         `json:"processed_files"`
	TextFiles      int                         `json:"text_files"`
	KeptFiles      int                         `json:"kept_files"`
	ParsedFiles    int                         `json:"parsed_files"`
	TotalEntities  int                         `json:"total_entities"`
	Bytes          int64                       `json:"bytes"`
	Skipped        map[codesage.SkipReason]int `json:"skipped"`
	PeakMemory     int64                       `json:"peak_memory_bytes"`
	Seconds        float64                     `json:"seconds"`
	Error          string                      `json:"error"`
	Notice         string                      `json:"notice"`
	CreatedAt      time.Time                   `json:"created_at"`
	StartedAt      time.Time                   `json:"started_at,omitzero"`
	FinishedAt     time.Time                   `json:"finished_at,omitzero"`
}

// Going reports whether the run waits or works.
func (r Run) Going() bool {
	return r.Status == codesage.StatusPending || r.Status == codesage.StatusProcessing
}

// URL asks to add a git repository.
type URL struct {
	URL         string `json:"url"`
	Branch      string `json:"branch,omitempty"`
	Description string `json:"description,omitempty"`
}

// Folder asks to index a local folder.
type Folder struct {
	Path      string   `json:"path"`
	Session   string   `json:"session"`
	Include   []string `json:"include_patterns,omitempty"`
	Exclude   []string `json:"exclude_patterns,omitempty"`
	ChunkSize int      `json:"chunk_size,omitempty"`
	Overlap   *int     `json:"overlap,omitempty"` // nil = the default
	Force     bool     `json:"force,omitempty"`
	Refresh   bool     `json:"refresh,omitempty"` // the session may be this folder's already
}

func repositoryPath(id codesage.RepositoryID) string {
	return repositoriesPath + "/" + strconv.FormatInt(int64(id), 10)
}

// Repositories lists all repositories, by id.
func (c *Client) Repositories(ctx context.Context) ([]Repository, error) {
	var list struct {
		Repositories []Repository `json:"repositories"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: repositoriesPath}, &list)
	return list.Repositories, err
}

// Repository returns one repository.
func (c *Client) Repository(ctx context.Context, id codesage.RepositoryID) (Repository, error) {
	var r Repository
	err := c.do(ctx, request{method: http.MethodGet, path: repositoryPath(id)}, &r)
	return r, err
}

// AddURL adds a git repository and starts to index it.
func (c *Client) AddURL(ctx context.Context, u URL) (Repository, error) {
	var r Repository
	err := c.do(ctx, request{method: http.MethodPost, path: repositoriesPath, body: u}, &r)
	return r, err
}

// AddFolder starts to index a local folder.
func (c *Client) AddFolder(ctx context.Context, f Folder) (Repository, error) {
	var r Repository
	err := c.do(ctx, request{method: http.MethodPost, path: foldersPath, body: f}, &r)
	return r, err
}

// Reprocess starts a run.
func (c *Client) Reprocess(ctx context.Context, id codesage.RepositoryID) (Repository, error) {
	var r Repository
	err := c.do(ctx, request{method: http.MethodPost, path: repositoryPath(id) + "/reprocess"}, &r)
	return r, err
}

// Cancel ends the run that is going.
func (c *Client) Cancel(ctx context.Context, id codesage.RepositoryID) (Repository, error) {
	var r Repository
	err := c.do(ctx, request{method: http.MethodPost, path: repositoryPath(id) + "/cancel"}, &r)
	return r, err
}

// Remove deletes a repository.
func (c *Client) Remove(ctx context.Context, id codesage.RepositoryID) error {
	return c.do(ctx, request{method: http.MethodDelete, path: repositoryPath(id)}, nil)
}

// Runs lists a repository's runs, newest first.
func (c *Client) Runs(ctx context.Context, id codesage.RepositoryID) ([]Run, error) {
	var list struct {
		Runs []Run `json:"runs"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: repositoryPath(id) + "/runs"}, &list)
	return list.Runs, err
}

// Skip is a file that was left out.
type Skip struct {
	Path   string              `json:"file_path"`
	Reason codesage.SkipReason `json:"reason"`
}

// Skipped lists the files that the published run left out, those after a path,
// and returns the `after` of the next page, empty at the end.
func (c *Client) Skipped(ctx context.Context, id codesage.RepositoryID, after string) (skips []Skip, next string, err error) {
	var page struct {
		Skipped []Skip `json:"skipped"`
		Next    string `json:"next"`
	}
	q := request{method: http.MethodGet, path: repositoryPath(id) + "/skipped", query: url.Values{"limit": {"1000"}, "after": {after}}}
	err = c.do(ctx, q, &page)
	return page.Skipped, page.Next, err
}
