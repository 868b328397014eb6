// Package search is the contract of search over indexed repositories. There
// are two engines for entities, local index files and Algolia, and both pass
// searchtest.Run. Texts (chunks and substrings) are searched in local index
// files only.
package search

import (
	"context"
	"math"

	"codesage"
)

// Record is one entity as an engine indexes it. Its JSON form is the Algolia
// record and stays under MaxRecordBytes.
type Record struct {
	ObjectID       string                `json:"objectID"`
	RepositoryID   codesage.RepositoryID `json:"repository_id"`
	RepositoryName string                `json:"repository_name"`
	Run            codesage.RunID        `json:"run"`
	EntityType     codesage.EntityType   `json:"entity_type"`
	EntityName     string                `json:"entity_name"`
	FilePath       string                `json:"file_path"`
	Language       string                `json:"language"`
	LineStart      int                   `json:"line_start"`
	LineEnd        int                   `json:"line_end"`
	Signature      string                `json:"signature"`
	Content        string                `json:"content"`
	Description    string                `json:"description"`
	IsTest         int                   `json:"is_test"`
	RankWeight     int                   `json:"rank_weight"`
}

// Limits of a record and of a query.
const (
	MaxContentChars = 2000 // characters of an entity's body
	MaxRecordBytes  = 9000 // bytes of a record's JSON
	MaxQueryBytes   = 512
	MaxHits         = 1000 // a page beyond this many hits is empty
)

// Query asks for entities.
type Query struct {
	Text       string
	Scope      []codesage.Snapshot // the snapshots to search
	Language   string              // exact label; empty = all
	EntityType codesage.EntityType // empty = all but imports
	Limit      int                 // hits a page, 1 to 50
	Page       int                 // from 0
}

// Result is one page of hits, best first.
type Result struct {
	TotalHits int
	Page      int
	Pages     int
	Hits      []Record
}

// Engine searches entities. It is safe for concurrent use. No query text makes
// it fail; an error is KindUnavailable, its message is for people and the
// detail is its cause. Order of leniency and of hits: see searchtest.
type Engine interface {
	// Search returns one page of hits.
	Search(ctx context.Context, q Query) (Result, error)

	// Suggest returns at most limit distinct entity names, best first.
	Suggest(ctx context.Context, text string, scope []codesage.Snapshot, limit int) ([]string, error)

	// Languages returns the language labels that records of the scope have,
	// sorted.
	Languages(ctx context.Context, scope []codesage.Snapshot) ([]string, error)

	// Begin opens a writer for an attempt at a run that starts from the records of
	// base (0 = none). Until Commit, searches of other runs don't change. An
	// earlier attempt at the run may still be at work, or stand still.
	Begin(ctx context.Context, repo codesage.Repository, base codesage.RunID, run codesage.Run) (Writer, error)

	// Retain removes what belongs to no run that keep names, except what a writer
	// that is open has made. What belongs to repositories that keep doesn't name
	// is removed. keep is asked after Retain has noted what there is, once or
	// twice, and only that is removed: what begins meanwhile is safe.
	Retain(ctx context.Context, keep Keep) error

	// Ping reports whether the engine can answer.
	Ping(ctx context.Context) error
}

// Keep returns the runs of each repository whose index is in use: what readers
// may be sent to, what is being written, and what that began from.
type Keep func(ctx context.Context) (map[codesage.RepositoryID][]codesage.RunID, error)

// Rebuilt is the attempt at a run that writes the index of its published snapshot
// anew. It comes after all others: readers see what the latest attempt committed,
// which for a published run is the one that published it, or Rebuilt.
const Rebuilt = math.MaxInt32

// Writer writes the records of one run. It is safe for concurrent use.
type Writer interface {
	// Put replaces all records of a path. old is how many records the base has of
	// it.
	Put(ctx context.Context, path string, old int, records []Record) error

	// Delete removes the records of a path of the base, old in number.
	Delete(ctx context.Context, path string, old int) error

	// Commit makes the run searchable, durably. Readers see it once the store's
	// pointer names the run.
	Commit(ctx context.Context) error

	// Abort gives the writer up; after Commit it does nothing.
	Abort()
}
