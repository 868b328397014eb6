package codesage

import (
	"fmt"
	"strings"
	"time"
)

// RepositoryID is the number by which a repository is stored and asked for. It
// is positive and never used again after a delete.
type RepositoryID int64

// SourceKind says where a repository's files come from.
type SourceKind string

// The kinds of source.
const (
	SourceGit    SourceKind = "git"
	SourceFolder SourceKind = "folder"
)

// Status is where a repository or a run stands in its life.
type Status string

// The life of a run: it waits in the queue, is worked on, and ends.
const (
	StatusPending    Status = "pending"
	StatusProcessing Status = "processing"
	StatusCompleted  Status = "completed"
	StatusFailed     Status = "failed"
)

// Repository is one indexed source tree and what is known of its newest run
// and of its published one.
type Repository struct {
	ID      RepositoryID
	Name    string // owner/name on GitHub, host/path elsewhere, the session id for a folder
	Session string // unique; how the session tools name it
	Source  SourceKind

	URL         string // git: the normalised https URL; empty for a folder
	Branch      string // git: empty means the default branch
	Description string

	// Path and Options are those of what readers see. A run may have others; they
	// move here with its texts, or at once while there is nothing to read.
	Path    string // folder: its absolute path with links resolved; empty for git
	Options IndexOptions

	CreatedAt time.Time
	UpdatedAt time.Time

	Latest    *Run  // the newest run; nil only while the repository is being created
	Published *Run  // the run whose rows every tool reads; nil before the first run completed
	TextRun   RunID // the run whose text the session tools read; 0 = none. Equals Published.ID once that is set
}

// IndexOptions are the choices made when a folder was indexed. The zero value
// means the defaults.
type IndexOptions struct {
	Include      []string `json:"include,omitempty"`        // patterns of paths to take; empty = all
	Exclude      []string `json:"exclude,omitempty"`        // patterns of paths to leave out
	ChunkSize    int      `json:"chunk_size,omitempty"`     // code points in a chunk; 0 = DefaultChunkSize
	Overlap      int      `json:"overlap,omitempty"`        // code points shared with the chunk before; -1 = none, 0 = DefaultOverlap
	MaxFileBytes int64    `json:"max_file_bytes,omitempty"` // a file of more bytes is left out; 0 = the source's default
}

// ExcludeNothing stands where an empty list of exclude patterns was given: no
// list at all means the default patterns.
const ExcludeNothing = ""

// Excluding returns exclude patterns as IndexOptions keep them. nil is no
// choice; an empty list that is not nil leaves nothing out.
func Excluding(patterns []string) []string {
	if patterns != nil && len(patterns) == 0 {
		return []string{ExcludeNothing}
	}
	return patterns
}

// Window returns the size of a chunk and its overlap with the one before, in
// code points.
func (o IndexOptions) Window() (size, overlap int) {
	size, overlap = o.ChunkSize, o.Overlap
	if size <= 0 {
		size = DefaultChunkSize
	}
	switch {
	case overlap < 0:
		overlap = 0
	case overlap == 0:
		overlap = DefaultOverlap
	}
	return size, min(overlap, size-1)
}

// IsZero reports whether nothing was chosen.
func (o IndexOptions) IsZero() bool {
	return len(o.Include) == 0 && len(o.Exclude) == 0 && o.ChunkSize == 0 && o.Overlap == 0 && o.MaxFileBytes == 0
}

// Snapshot names what a reader sees for the length of one request: the rows and
// the search manifest of one run of one repository.
type Snapshot struct {
	Repository RepositoryID
	Run        RunID
}

// Snapshot returns the published snapshot; ok is false before the first run
// completed.
func (r *Repository) Snapshot() (s Snapshot, ok bool) {
	if r.Published == nil {
		return Snapshot{Repository: r.ID}, false
	}
	return Snapshot{Repository: r.ID, Run: r.Published.ID}, true
}

// TextSnapshot returns the snapshot that the session tools read, which for the
// first run of a folder is there before the published one.
func (r *Repository) TextSnapshot() (s Snapshot, ok bool) {
	return Snapshot{Repository: r.ID, Run: r.TextRun}, r.TextRun != 0
}

// Status is the state that lists and resources show.
func (r *Repository) Status() Status {
	switch {
	case r.Latest == nil:
		return StatusPending
	case r.Latest.Status == StatusFailed && r.Published != nil:
		return StatusCompleted
	}
	return r.Latest.Status
}

// ErrorMessage says why the last run failed or what a completed run left out;
// empty when there is nothing to say.
func (r *Repository) ErrorMessage() string {
	switch {
	case r.Latest == nil || r.Latest.Going():
		return ""
	case r.Latest.Status == StatusFailed && r.Published != nil:
		message := fmt.Sprintf("Refresh failed: %s; serving the index of %s", strings.TrimSuffix(r.Latest.Error, "."), r.Published.label())
		if r.Published.Notice != "" {
			message += ". " + r.Published.Notice
		}
		return message
	case r.Latest.Status == StatusFailed:
		return r.Latest.Error
	}
	return r.Latest.Notice
}

// Counted returns the run whose file counters lists show: the one that is going
// once it has listed its files; until then the published one, of whose files none
// is processed again; else the newest.
func (r *Repository) Counted() Run {
	switch {
	case r.Latest != nil && r.Latest.Going() && r.Latest.TotalFiles > 0:
		return *r.Latest
	case r.Published != nil:
		run := *r.Published
		if r.Latest != nil && r.Latest.Going() {
			run.ProcessedFiles = 0
		}
		return run
	case r.Latest != nil:
		return *r.Latest
	}
	return Run{}
}

// CommitSHA is the commit the index was built from, or the one being indexed
// for the first time; empty when there is none.
func (r *Repository) CommitSHA() string {
	if r.Published != nil {
		return r.Published.Commit
	}
	if r.Latest != nil {
		return r.Latest.Commit
	}
	return ""
}

// TotalEntities is the number of entities that the tools serve, or that the
// first run has found so far.
func (r *Repository) TotalEntities() int {
	if r.Published != nil {
		return r.Published.Entities
	}
	if r.Latest != nil {
		return r.Latest.Entities
	}
	return 0
}

// ProcessedAt is when the last run finished; the zero time while there is none.
func (r *Repository) ProcessedAt() time.Time {
	if r.Latest != nil && !r.Latest.FinishedAt.IsZero() {
		return r.Latest.FinishedAt
	}
	if r.Published != nil {
		return r.Published.FinishedAt
	}
	return time.Time{}
}
