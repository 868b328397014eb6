package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/tools"
)

// runObject is a run as REST shows it.
type runObject struct {
	ID             codesage.RunID              `json:"id"`
	RepositoryID   codesage.RepositoryID       `json:"repository_id"`
	Status         codesage.Status             `json:"status"`
	Phase          codesage.Phase              `json:"phase"`
	Trigger        codesage.Trigger            `json:"trigger"`
	Force          bool                        `json:"force"`
	Attempt        int                         `json:"attempt"`
	CommitSHA      *string                     `json:"commit_sha"`
	TotalFiles     int                         `json:"total_files"`
	ProcessedFiles int                         `json:"processed_files"`
	TextFiles      int                         `json:"text_files"`
	KeptFiles      int                         `json:"kept_files"`
	ParsedFiles    int                         `json:"parsed_files"`
	TotalEntities  int                         `json:"total_entities"`
	Bytes          int64                       `json:"bytes"`
	Skipped        map[codesage.SkipReason]int `json:"skipped"`
	PeakMemory     int64                       `json:"peak_memory_bytes"`
	Seconds        *float64                    `json:"seconds"` // null before the run has started
	Error          *string                     `json:"error"`
	Notice         *string                     `json:"notice"`
	CreatedAt      *string                     `json:"created_at"`
	StartedAt      *string                     `json:"started_at"`
	FinishedAt     *string                     `json:"finished_at"`
}

func newRunObject(r codesage.Run, now time.Time) runObject {
	o := runObject{
		ID: r.ID, RepositoryID: r.Repository, Status: r.Status, Phase: r.Phase, Trigger: r.Trigger, Force: r.Force, Attempt: r.Attempt,
		CommitSHA: optional(r.Commit), TotalFiles: r.TotalFiles, ProcessedFiles: r.ProcessedFiles,
		TextFiles: r.TextFiles, KeptFiles: r.KeptFiles, ParsedFiles: r.ParsedFiles, TotalEntities: r.Entities,
		Bytes: r.Bytes, Skipped: r.Skipped, PeakMemory: r.PeakMemory,
		Error: optional(r.Error), Notice: optional(r.Notice),
		CreatedAt: timestamp(r.CreatedAt), StartedAt: timestamp(r.StartedAt), FinishedAt: timestamp(r.FinishedAt),
	}
	if o.Skipped == nil {
		o.Skipped = map[codesage.SkipReason]int{}
	}
	if !r.StartedAt.IsZero() {
		end := r.FinishedAt
		if end.IsZero() {
			end = now
		}
		seconds := max(end.Sub(r.StartedAt), 0).Round(time.Millisecond).Seconds()
		o.Seconds = &seconds
	}
	return o
}

// listRuns answers with a repository's runs, newest first.
func (s *server) listRuns(c *gin.Context) {
	repo, ok := s.pathRepository(c)
	if !ok {
		return
	}
	runs, err := s.Store.ListRuns(c.Request.Context(), repo.ID, codesage.KeepRuns)
	if err != nil {
		s.fail(c, err)
		return
	}
	objects := make([]runObject, len(runs))
	for i, r := range runs {
		objects[i] = newRunObject(r, s.Now())
	}
	answer(c, http.StatusOK, gin.H{"runs": objects, "total": len(objects)})
}

var skippedArgs = tools.Schema{Fields: []tools.Field{
	{Name: "limit", Type: tools.Integer, Default: 100, Min: tools.Limit(1), Max: tools.Limit(1000)},
	{Name: "after", Type: tools.String, Nullable: true, Default: ""},
}}

// listSkipped answers with one page of the files that the published run left
// out, by path; `next` is the `after` of the next page.
func (s *server) listSkipped(c *gin.Context) {
	repo, ok := s.pathRepository(c)
	if !ok {
		return
	}
	args, ok := query(c, skippedArgs)
	if !ok {
		return
	}
	limit, _ := args.Int("limit")
	skips, total, next, err := s.skips(c.Request.Context(), repo, args.String("after"), limit)
	if err != nil {
		s.fail(c, err)
		return
	}
	page := struct {
		Skipped []gin.H `json:"skipped"`
		Total   int     `json:"total"`
		Next    *string `json:"next"`
	}{make([]gin.H, len(skips)), total, optional(next)}
	for i, k := range skips {
		page.Skipped[i] = gin.H{"file_path": k.Path, "reason": k.Reason}
	}
	answer(c, http.StatusOK, page)
}

// skips returns one page of the files that the published run left out, and how
// many there are in all. next is the `after` of the next page; empty on the last.
func (s *server) skips(ctx context.Context, repo codesage.Repository, after string, limit int) (skips []codesage.Skip, total int, next string, err error) {
	snapshot, ok := repo.Snapshot()
	if !ok {
		return nil, 0, "", nil
	}
	skips, total, err = s.Store.ListSkips(ctx, snapshot, after, limit+1) // one more tells whether a page follows
	if len(skips) > limit {
		skips = skips[:limit]
		next = skips[limit-1].Path
	}
	return skips, total, next, err
}

func formatID(id codesage.RepositoryID) string { return strconv.FormatInt(int64(id), 10) }

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
