package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"codesage"
	"codesage/catalog"
	"codesage/tools"
)

// Limits of a session's chunks, in characters.
const (
	minChunkSize = 100
	maxChunkSize = 2000
	maxOverlap   = 500
)

var indexRepository = tools.Spec{
	Name: "index_repository",
	Description: "Index a local folder as a session; answers when its text can be searched. Definitions follow in the background. " +
		"force=true indexes an existing session again; only what changed is read.",
	Writes: true,
	Slow:   true,
	Arguments: tools.Schema{Title: "IndexRepositoryArgs", Fields: []tools.Field{
		{Name: "path", Type: tools.String, Required: true, Description: "Absolute path of the folder"},
		{Name: "session", Type: tools.String, Required: true, Description: "ID for the session", Pattern: `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`, Advisory: true},
		{Name: "include_patterns", Type: tools.StringList, Nullable: true, Description: "Globs of files to take; all when left out"},
		{Name: "exclude_patterns", Type: tools.StringList, Nullable: true, Description: "Globs of files to leave out; replaces the default ones"},
		{Name: "chunk_size", Type: tools.Integer, Nullable: true, Default: codesage.DefaultChunkSize, Description: "Characters in a chunk",
			Min: tools.Limit(minChunkSize), Max: tools.Limit(maxChunkSize), Advisory: true},
		{Name: "overlap", Type: tools.Integer, Nullable: true, Default: codesage.DefaultOverlap, Description: "Characters that neighbouring chunks share; less than chunk_size",
			Min: tools.Limit(0), Max: tools.Limit(maxOverlap), Advisory: true},
		{Name: "force", Type: tools.Boolean, Default: false, Description: "Index again when the session exists, or take another folder for it"},
	}},
}

func (s *set) indexRepository(ctx context.Context, a tools.Arguments) (string, error) {
	q, err := s.folderRequest(a)
	if err != nil {
		return "", err
	}
	before, err := s.mayIndex(ctx, q)
	if err != nil {
		return "", err
	}
	// The same folder is indexed again at the cost of what changed.
	q.Refresh, q.Force = before.ID != 0, before.ID != 0 && before.Path != q.Path
	done, err := s.rebuild(ctx, q, "Indexing failed")
	if err != nil {
		return "", worded(err, invalidParams, "")
	}
	skipped, err := s.skippedFiles(ctx, done.session)
	return fmt.Sprintf("Indexing complete!\n\n**Session:** %s\n**Files indexed:** %s\n**Chunks created:** %s\n**Duration:** %.1fs\n%s\n"+
		"You can now search your code with %s.", q.Session, count(done.files), count(done.chunks), done.took.Seconds(), skipped, tools.NameOf(ctx, "search_code")), err
}

// folderRequest checks the arguments in the order of the contract.
func (s *set) folderRequest(a tools.Arguments) (q catalog.FolderRequest, err error) {
	q = catalog.FolderRequest{Path: a.String("path"), Session: a.String("session"), Force: a.Bool("force")}
	if q.Path, err = s.checkPath(q.Path); err != nil {
		return q, err
	}
	if err := checkNewSession(q.Session); err != nil {
		return q, err
	}
	size, _ := a.Int("chunk_size")
	overlap, _ := a.Int("overlap")
	switch {
	case size < minChunkSize || size > maxChunkSize:
		return q, failf(invalidParams, "Chunk size must be between %d and %d characters", minChunkSize, maxChunkSize)
	case overlap > maxOverlap:
		return q, failf(invalidParams, "Overlap must not exceed %d characters", maxOverlap)
	}
	if err := checkOverlap(size, overlap); err != nil {
		return q, err
	}
	q.Options = codesage.IndexOptions{Include: a.Strings("include_patterns"), Exclude: codesage.Excluding(a.Strings("exclude_patterns"))}
	setWindow(&q.Options, size, overlap)
	if err := s.checkPatterns("include", q.Options.Include); err != nil {
		return q, err
	}
	return q, s.checkPatterns("exclude", q.Options.Exclude)
}

// checkPath returns the folder that a path names.
func (s *set) checkPath(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", failf(invalidParams, "Path must be absolute")
	}
	real, err := s.Catalog.CheckFolder(path)
	switch codesage.KindOf(err) {
	case "":
		return real, nil
	case codesage.KindNotFound:
		return "", failf(invalidParams, "Path does not exist: %s", path)
	case codesage.KindInvalid:
		return "", failf(invalidParams, "Path must be a directory")
	case codesage.KindDenied:
		return "", failf(invalidParams, "%s", reason(err))
	}
	return "", fmt.Errorf("check folder %s: %w", path, err)
}

// sessionChars is what a session id is made of.
var sessionChars = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func checkNewSession(id string) error {
	switch {
	case id == "" || len([]rune(id)) > 64:
		return failf(invalidParams, "Session must be 1-64 characters")
	case !sessionChars.MatchString(id):
		return failf(invalidParams, "Session must contain only alphanumeric, hyphen, underscore")
	case id[0] == '-' || id[0] == '_':
		return failf(invalidParams, "Session must start with alphanumeric character")
	}
	return nil
}

func checkOverlap(size, overlap int) error {
	if overlap >= size {
		return failf(invalidParams, "overlap (%d) must be less than chunk_size (%d)", overlap, size)
	}
	return atLeast("overlap", overlap, 0)
}

// setWindow stores a chunk size and overlap; no overlap is written as -1.
func setWindow(o *codesage.IndexOptions, size, overlap int) {
	o.ChunkSize, o.Overlap = size, overlap
	if overlap == 0 {
		o.Overlap = -1
	}
}

func (s *set) checkPatterns(which string, patterns []string) error {
	for _, p := range patterns {
		if _, err := s.Glob(p); err != nil {
			return failf(invalidParams, "Configuration error: Invalid %s pattern '%s': %s", which, echo(p), err)
		}
	}
	return nil
}

// mayIndex refuses a session that is there, unless it is to be replaced or has
// never been indexed. It returns the session as it is; the zero value for none.
func (s *set) mayIndex(ctx context.Context, q catalog.FolderRequest) (codesage.Repository, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	repo, err := s.Store.RepositoryBySession(ctx, q.Session)
	switch {
	case errors.Is(err, codesage.ErrNotFound):
		return codesage.Repository{}, nil
	case err != nil:
		return repo, fmt.Errorf("read session %s: %w", q.Session, err)
	case repo.Source != codesage.SourceFolder:
		return repo, failf(invalidParams, "Session '%s' is the git repository %s; choose another session id", q.Session, repo.Name)
	}
	x, err := s.readable(repo)
	if err == nil && !q.Force {
		return repo, s.alreadyExists(ctx, x)
	}
	return repo, nil
}

func (s *set) alreadyExists(ctx context.Context, x session) error {
	files, err := s.Store.CountFiles(ctx, x.snapshot)
	if err != nil {
		return fmt.Errorf("count files of session %s: %w", x.Session, err)
	}
	return failf(invalidParams, "Session '%s' already exists.\n- Last indexed: %s\n- Files indexed: %s\n- Schema version: %s\n"+
		"Use force=true to re-index, or use existing session for search.",
		x.Session, s.stamp(x.indexedAt(), minuteTime), count(files), s.schemaState(x.Repository, "outdated"))
}

// Limits of the list of files that were left out.
const (
	maxSkipsRead  = 1000
	maxSkipsShown = 10
)

// skippedFiles names files that were left out, those first that one would expect
// to find; empty when there are none.
func (s *set) skippedFiles(ctx context.Context, x session) (string, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	skips, total, err := s.Store.ListSkips(ctx, x.snapshot, "", maxSkipsRead)
	if err != nil {
		return "", fmt.Errorf("list skipped files of session %s: %w", x.Session, err)
	}
	skips = slices.DeleteFunc(skips, func(k codesage.Skip) bool {
		if k.Reason.Indexed() { // it is there as text
			total--
			return true
		}
		return false
	})
	if total == 0 {
		return "", nil
	}
	slices.SortStableFunc(skips, func(a, b codesage.Skip) int { return cmp.Compare(rank(a), rank(b)) })
	var b strings.Builder
	fmt.Fprintf(&b, "**Files skipped:** %s\n", count(total))
	for _, k := range skips[:min(len(skips), maxSkipsShown)] {
		fmt.Fprintf(&b, "- %s: %s\n", tools.OneLine(k.Path), k.Reason)
	}
	return b.String(), nil
}

func rank(k codesage.Skip) int {
	if k.Reason.Partial() {
		return 0
	}
	return 1
}
