package api

import (
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
	page := struct {
		Skipped []gin.H `json:"skipped"`
		Total   int     `json:"total"`
		Next    *string `json:"next"`
	}{Skipped: []gin.H{}}
	snapshot, ok := repo.Snapshot()
	if !ok {
		answer(c, http.StatusOK, page)
		return
	}
	limit, _ := args.Int("limit")
	skips, total, err := s.Store.ListSkips(c.Request.Context(), snapshot, args.String("after"), limit+1) // one more tells whether a page follows
	if err != nil {
		s.fail(c, err)
		return
	}
	if len(skips) > limit {
		skips = skips[:limit]
		page.Next = &skips[limit-1].Path
	}
	for _, k := range skips {
		page.Skipped = append(page.Skipped, gin.H{"file_path": k.Path, "reason": k.Reason})
	}
	page.Total = total
	answer(c, http.StatusOK, page)
}

func formatID(id codesage.RepositoryID) string { return strconv.FormatInt(int64(id), 10) }

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
