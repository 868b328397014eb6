package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"codesage"
	"codesage/search/query"
	"codesage/store"
	"codesage/tools"
)

// schemaVersion is the version of the form in which sessions are stored now.
const schemaVersion = 3

// session is a repository as one call sees it.
type session struct {
	codesage.Repository
	snapshot codesage.Snapshot
}

// find returns the repository of a session id.
func (s *set) find(ctx context.Context, id string) (codesage.Repository, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	repo, err := s.Store.RepositoryBySession(ctx, id)
	switch {
	case errors.Is(err, codesage.ErrNotFound):
		return repo, failf(noSession, "Session not found: %s", id)
	case err != nil:
		return repo, fmt.Errorf("read session %s: %w", id, err)
	}
	return repo, nil
}

// open returns a session whose texts can be read.
func (s *set) open(ctx context.Context, id string) (session, error) {
	repo, err := s.find(ctx, id)
	if err != nil {
		return session{}, err
	}
	x, err := s.readable(repo)
	if err != nil {
		return x, err
	}
	if v := s.schema(repo); v != schemaVersion {
		return x, failf(invalidParams, "Invalid session: Session '%s' uses schema v%d but current version is v%d.\n"+
			"Repository path: %s\nRe-index to upgrade: use upgrade_session tool or index_repository with force=true.",
			id, v, schemaVersion, x.origin())
	}
	return x, nil
}

// readable refuses a session that has no texts yet.
func (s *set) readable(repo codesage.Repository) (session, error) {
	snapshot, ok := repo.TextSnapshot()
	x := session{repo, snapshot}
	switch {
	case ok:
		return x, nil
	case repo.Status() == codesage.StatusFailed:
		return x, failf(invalidRequest, "Session '%s' could not be indexed: %s. Index it again with %s.",
			repo.Session, strings.TrimSuffix(repo.ErrorMessage(), "."), x.indexTool())
	}
	return x, failf(invalidRequest, "Session '%s' is being indexed for the first time%s; try again when it is done.", repo.Session, howFar(repo.Latest))
}

// indexTool is the tool that indexes a session again.
func (x session) indexTool() string {
	if x.Source == codesage.SourceFolder {
		return "index_repository"
	}
	return "reindex_session"
}

// howFar says how many files a run has been through, once that is known.
func howFar(run *codesage.Run) string {
	if run == nil || run.TotalFiles == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of %s files)", count(max(run.TextFiles, run.ProcessedFiles)), count(run.TotalFiles))
}

func (s *set) schema(repo codesage.Repository) int {
	if s.Schema == nil {
		return schemaVersion
	}
	return s.Schema(repo)
}

// origin is where the session's files come from: a folder's path, or a URL.
func (x session) origin() string {
	if x.Source == codesage.SourceFolder {
		return x.Repository.Path
	}
	return x.URL
}

// path is the form in which a file's path is shown: absolute in a folder,
// relative in a git repository.
func (x session) path(rel string) string {
	if x.Source != codesage.SourceFolder {
		return rel
	}
	return strings.TrimSuffix(x.Repository.Path, "/") + "/" + rel
}

// relative is the path in the repository that a caller means: one that is shown,
// or a relative one. Nothing is resolved, so what it does not name exactly is
// found nowhere.
func (x session) relative(given string) string {
	if x.Source == codesage.SourceFolder {
		if rel, ok := strings.CutPrefix(given, x.path("")); ok {
			return rel
		}
	}
	return strings.TrimPrefix(given, "./")
}

// indexedAt is when the texts were indexed.
func (x session) indexedAt() time.Time {
	switch run := x.Latest; {
	case x.Published != nil:
		return x.Published.FinishedAt
	case run != nil && !run.HeartbeatAt.IsZero():
		return run.HeartbeatAt
	case run != nil && !run.StartedAt.IsZero():
		return run.StartedAt
	}
	return x.UpdatedAt
}

// totals are the numbers of a session.
type totals struct {
	files, chunks int
	bytes         int64 // of the published run's index on disk
}

func (s *set) totals(ctx context.Context, x session) (t totals, err error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	if t.files, err = s.Store.CountFiles(ctx, x.snapshot); err != nil {
		return t, fmt.Errorf("count files of session %s: %w", x.Session, err)
	}
	if _, t.chunks, err = s.Index.SearchChunks(ctx, x.snapshot, query.All{}, 0); err != nil {
		return t, fmt.Errorf("count chunks of session %s: %w", x.Session, err)
	}
	t.bytes = s.Index.Size(ctx, x.snapshot)
	return t, nil
}

// filesPage is how many files are read from the store at a time.
const filesPage = 5000

// files returns the files of a session that have text, in path order.
func (s *set) files(ctx context.Context, x session) (all []codesage.File, err error) {
	for after := ""; ; {
		page, err := s.Store.ListFiles(ctx, x.snapshot, after, filesPage)
		if err != nil {
			return nil, fmt.Errorf("list files of session %s: %w", x.Session, err)
		}
		for _, f := range page {
			if f.Lines > 0 {
				all = append(all, f)
			}
		}
		if len(page) < filesPage {
			return all, nil
		}
		after = page[len(page)-1].Path
	}
}

// errNotIndexed reports that a session has no file of a path.
var errNotIndexed = errors.New("no such file in the session")

// file returns an indexed file with its text. A path may be given as answers
// show it, with escapes.
func (s *set) file(ctx context.Context, x session, given string) (store.Text, error) {
	rel := x.relative(given)
	if rel == "" || strings.ContainsRune(rel, 0) {
		return store.Text{}, errNotIndexed
	}
	f, err := s.Store.File(ctx, x.snapshot, rel)
	shown := tools.Original(strings.ReplaceAll(rel, escapedBar, "|"))
	if errors.Is(err, codesage.ErrNotFound) && shown != rel && !strings.ContainsRune(shown, 0) {
		f, err = s.Store.File(ctx, x.snapshot, shown)
	}
	switch {
	case errors.Is(err, codesage.ErrNotFound):
		return f, errNotIndexed
	case err != nil:
		return f, fmt.Errorf("read %s of session %s: %w", rel, x.Session, err)
	}
	return f, nil
}
