package search

import (
	"context"

	"codesage"
)

// TextWriter writes the text index of one run: the chunks of its files, for
// ranked search, and their trigrams, for patterns. It is safe for concurrent
// use.
type TextWriter interface {
	// Put replaces a path's text. hash is its git blob hash, 40 hex digits.
	Put(ctx context.Context, path, hash, text string, chunks []codesage.Chunk) error

	// Delete removes a path that the base has.
	Delete(ctx context.Context, path string) error

	// Commit makes the run's texts searchable, durably.
	Commit(ctx context.Context) error

	// Abort gives the writer up; after Commit it does nothing.
	Abort()
}

// TextIndex is where the pipeline writes texts. Local index files are the only
// implementation; it stands here so that the pipeline knows contracts only.
type TextIndex interface {
	// BeginTexts opens a writer for an attempt at a run that starts from the texts
	// of base (0 = none). Until Commit, searches of other runs don't change.
	BeginTexts(ctx context.Context, repo codesage.RepositoryID, base codesage.RunID, run codesage.Run) (TextWriter, error)
}

// ChunkHit is a chunk that matches.
type ChunkHit struct {
	Path               string
	Chunk              int
	Start, End         int // bytes of the text
	LineStart, LineEnd int
	Score              float64
}
