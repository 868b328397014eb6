package sessions

import (
	"context"
	"fmt"

	"codesage"
	"codesage/catalog"
	"codesage/tools"
)

var reindexSession = tools.Spec{
	Name: "reindex_session",
	Description: "Index a session again from where it came, with other chunk sizes if given. Only what changed is read; " +
		"the old index answers until the new one is there. force=true also when no size changes.",
	Writes: true,
	Slow:   true,
	Arguments: tools.Schema{Title: "ReindexSessionArgs", Fields: []tools.Field{
		sessionField(),
		{Name: "chunk_size", Type: tools.Integer, Nullable: true, Description: "Characters in a chunk; as before when left out",
			Min: tools.Limit(minChunkSize), Max: tools.Limit(maxChunkSize), Advisory: true},
		{Name: "overlap", Type: tools.Integer, Nullable: true, Description: "Characters that neighbouring chunks share; as before when left out",
			Min: tools.Limit(0), Max: tools.Limit(maxOverlap), Advisory: true},
		{Name: "force", Type: tools.Boolean, Default: false, Description: "Index again although no size changes"},
	}},
}

func (s *set) reindexSession(ctx context.Context, a tools.Arguments) (string, error) {
	repo, err := s.find(ctx, a.String("session"))
	if err != nil {
		return "", err
	}
	size, hasSize := a.Int("chunk_size")
	overlap, hasOverlap := a.Int("overlap")
	if repo.Source == codesage.SourceGit {
		if hasSize || hasOverlap {
			return "", failf(invalidRequest, "Session '%s' is a git repository: its chunk_size and overlap can't be changed", repo.Session)
		}
		done, err := s.refresh(ctx, repo)
		return s.reindexed(ctx, done, "", err)
	}
	if err := s.checkOrigin(repo, "re-indexed"); err != nil {
		return "", err
	}
	oldSize, oldOverlap := repo.Options.Window()
	if !hasSize {
		size = oldSize
	}
	if !hasOverlap {
		overlap = oldOverlap
	}
	if err := checkWindow(size, overlap); err != nil {
		return "", err
	}
	if size == oldSize && overlap == oldOverlap && !a.Bool("force") && repo.TextRun != 0 {
		return "", failf(invalidRequest, "Configuration unchanged for session '%s'. Use force=true to re-index anyway.\n"+
			"Current config: chunk_size=%d, overlap=%d", repo.Session, size, overlap)
	}
	q := catalog.FolderRequest{Path: repo.Path, Session: repo.Session, Options: repo.Options, Refresh: true}
	setWindow(&q.Options, size, overlap)
	done, err := s.rebuild(ctx, q, "Re-indexing failed")
	return s.reindexed(ctx, done, changes(oldSize, size, oldOverlap, overlap), err)
}

func checkWindow(size, overlap int) error {
	switch {
	case size < minChunkSize || size > maxChunkSize:
		return failf(invalidParams, "chunk_size must be between %d and %d (got: %d)", minChunkSize, maxChunkSize, size)
	case overlap < 0 || overlap > maxOverlap:
		return failf(invalidParams, "overlap must be between 0 and %d (got: %d)", maxOverlap, overlap)
	}
	return checkOverlap(size, overlap)
}

// checkOrigin refuses a session whose folder is gone; undone is what can't be
// done to it then.
func (s *set) checkOrigin(repo codesage.Repository, undone string) error {
	_, err := s.Catalog.CheckFolder(repo.Path)
	switch codesage.KindOf(err) {
	case "":
		return nil
	case codesage.KindNotFound:
		return failf(invalidRequest, "Repository path no longer exists: %s\nSession '%s' cannot be %s.\nPossible solutions:\n"+
			"- Move repository back to original location\n- Delete session and create new one at current location", repo.Path, repo.Session, undone)
	case codesage.KindInvalid:
		return failf(invalidRequest, "Repository path is not a directory: %s", repo.Path)
	case codesage.KindDenied:
		return failf(invalidRequest, "%s", reason(err))
	}
	return fmt.Errorf("check folder %s: %w", repo.Path, err)
}

// changes lists what differs from before, empty when nothing does.
func changes(oldSize, size, oldOverlap, overlap int) (lines string) {
	if size != oldSize {
		lines += fmt.Sprintf("- Chunk size: %d -> %d\n", oldSize, size)
	}
	if overlap != oldOverlap {
		lines += fmt.Sprintf("- Overlap: %d -> %d\n", oldOverlap, overlap)
	}
	if lines != "" {
		lines = "**Configuration Changes:**\n" + lines + "\n"
	}
	return lines
}

// reindexed is the answer of reindex_session to what came of the run.
func (s *set) reindexed(ctx context.Context, done outcome, changes string, err error) (string, error) {
	if err != nil {
		return "", worded(err, internal, "Re-indexing failed: ")
	}
	statistics, err := s.statistics(ctx, done)
	return fmt.Sprintf("# Session Re-Indexed: `%s`\n\n%s\n%s**Note:** Session metadata (repository_path, last_indexed_at) updated automatically.",
		done.Session, statistics, changes), err
}
