package pipeline

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"codesage"
	"codesage/pipeline/parse"
	"codesage/pipeline/source"
	"codesage/search"
	"codesage/store"
)

// formatVersion grows whenever the same bytes would be stored or indexed in
// another way than before, apart from the symbols, which parse.Version covers.
const formatVersion = 1

// job is one run on its way through the stages.
type job struct {
	*Pipeline
	repo    codesage.Repository
	run     codesage.Run
	base    codesage.Snapshot // what the run starts from; Run 0 = nothing
	options string            // fingerprint of all that decides how a file is stored

	checkout source.Checkout
	selected []source.File                  // in path order
	prior    map[string]codesage.File       // the base's files by path; after the text pass, those that were not kept
	kept     map[string]bool                // paths whose file of the base stands
	changed  map[string]bool                // paths that this run stored
	replaced map[string]int                 // changed files that get symbols, with the number of their old entities
	textOnly map[string]codesage.SkipReason // the base's files that the parser gave up on

	rows    store.Writer
	texts   search.TextWriter
	records search.Writer

	mu       sync.Mutex
	progress codesage.Progress
	skipped  map[codesage.SkipReason]int
	pending  []codesage.Skip // skips not yet stored
	report   func(codesage.Progress)
}

func newJob(p *Pipeline, repo codesage.Repository, run codesage.Run, report func(codesage.Progress)) *job {
	repo.Path, repo.Options = run.Path, run.Options // what is published may have others
	size, overlap := repo.Options.Window()
	j := &job{
		Pipeline: p,
		repo:     repo,
		run:      run,
		base:     codesage.Snapshot{Repository: repo.ID},
		options:  fmt.Sprintf("%d.%d.%d;", formatVersion, size, overlap),
		prior:    map[string]codesage.File{},
		kept:     map[string]bool{},
		changed:  map[string]bool{},
		replaced: map[string]int{},
		textOnly: map[string]codesage.SkipReason{},
		skipped:  map[codesage.SkipReason]int{},
		report:   report,
	}
	j.base, _ = repo.TextSnapshot()
	return j
}

// own is the snapshot that sees what this run has written so far.
func (j *job) own() codesage.Snapshot {
	return codesage.Snapshot{Repository: j.repo.ID, Run: j.run.ID}
}

// firstOfFolder reports whether this run publishes its text before its symbols.
func (j *job) firstOfFolder() bool {
	return j.repo.Source == codesage.SourceFolder && j.repo.TextRun == 0
}

// close gives up what the run did not publish and frees the checkout.
func (j *job) close() {
	if j.records != nil {
		j.records.Abort()
	}
	if j.texts != nil {
		j.texts.Abort()
	}
	if j.rows != nil {
		j.rows.Abort()
	}
	if j.checkout != nil {
		if err := j.checkout.Close(); err != nil {
			j.Log.Warn("close checkout", "repository", j.repo.Name, "run", j.run.ID, "err", err)
		}
	}
}

// update changes the progress and reports it.
func (j *job) update(change func(*codesage.Progress)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.progress)
	j.report(j.progress)
}

func (j *job) enter(phase codesage.Phase) {
	j.update(func(p *codesage.Progress) { p.Phase = phase })
}

// Bounds of what is stored of the files that a run left out. All are counted;
// those beyond have no row.
const (
	maxSkips    = 10_000 // of one reason
	maxSkipPath = 1_024
)

// skip counts a file that is left out, or kept as text only, and returns how
// many wait to be stored.
func (j *job) skip(s codesage.Skip) (pending int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.skipped[s.Reason]++
	switch {
	case s.Reason.Indexed(): // the next run reads these rows
	case j.skipped[s.Reason] > maxSkips:
		return len(j.pending)
	default:
		s.Path = skipPath(s.Path)
	}
	j.pending = append(j.pending, s)
	return len(j.pending)
}

// skipPath cuts a path that is too long for a row; a hash keeps it apart from
// others with the same beginning.
func skipPath(path string) string {
	if len(path) <= maxSkipPath {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	end := fmt.Sprintf("…#%x", sum[:4])
	return strings.ToValidUTF8(path[:maxSkipPath-len(end)], "") + end
}

// flushSkips stores the skips that have gathered.
func (j *job) flushSkips(ctx context.Context) error {
	j.mu.Lock()
	skips := j.pending
	j.pending = nil
	j.mu.Unlock()
	if len(skips) == 0 {
		return nil
	}
	return j.rows.PutSkips(ctx, skips)
}

// textsBase is the run whose texts the text index starts from.
func (j *job) textsBase() codesage.RunID {
	if j.run.Force {
		return 0
	}
	return j.base.Run
}

// recordsBase is the run whose records the engine starts from. A run whose text
// alone was published has none.
func (j *job) recordsBase() codesage.RunID {
	if j.run.Force || j.repo.Published == nil {
		return 0
	}
	return j.repo.Published.ID
}

// unchanged returns the base's file of a path when it is stored the way this
// run would store it and nothing but its content could differ.
func (j *job) unchanged(path string) (codesage.File, bool) {
	f, ok := j.prior[path]
	if !ok || j.run.Force || !strings.HasPrefix(f.Stamp, j.options) {
		return f, false
	}
	return f, f.Parser == 0 || f.Parser == parserOf(f.Language)
}

// stamp is the stored form of a source's stamp.
func (j *job) stamp(s string) string { return j.options + s }

// parserOf is the version of the parser that a language's files should have
// gone through; 0 when it has no grammar.
func parserOf(language string) int {
	if parse.Supports(language) {
		return parse.Version
	}
	return 0
}
