// Package store is the contract of the metadata store: repositories, runs, and
// the files, texts and entities of each run. SQLite and Postgres implement it;
// both pass storetest.Run.
//
// Rows carry the run that made them and the run that ended them. A row is
// visible in a Snapshot of run R when it was made by R or an earlier run and
// not ended by R or an earlier one. A run therefore writes only what changed,
// and everything it wrote becomes visible in one step when Publish moves the
// repository's pointer. What a dead or failed run left is invisible and is
// removed when the next run begins.
//
// Methods are safe for concurrent use. Errors carry a codesage.Kind:
// KindNotFound for a repository, run or file that is not there, KindConflict
// for a run that has been overtaken, KindUnavailable when the database can't be
// reached. Times are stored in UTC. They are set and compared by one clock, the
// database's where several machines share it.
package store

import (
	"context"
	"time"

	"codesage"
)

// Store is what the program keeps of repositories and runs.
type Store interface {
	Repositories
	Runs
	Reader

	// Begin opens a run's writer. base is the run whose visible files the new run
	// starts from: the published one, or the TextRun of a repository that has no
	// published one; 0 for none. It removes what earlier runs that were published
	// neither whole nor as text left behind in the repository, and the run's own
	// rows of an earlier attempt. It fails with KindConflict when the run is not
	// the live attempt.
	Begin(ctx context.Context, run codesage.Run, base codesage.RunID) (Writer, error)

	// Prune removes the rows that ended with a run published longer ago than the
	// given time, which no reader can see any more, and all but the newest
	// codesage.KeepRuns runs of each repository. It works in short
	// transactions.
	Prune(ctx context.Context, life time.Duration) error

	// Ping reports whether the database answers, and takes writes if it is a server's.
	Ping(ctx context.Context) error

	// Identity tells this database from every other, also from one that is a copy of
	// it, as far as the database can tell. It stays for as long as the runs have
	// their ids.
	Identity(ctx context.Context) (string, error)

	// Now returns the time by the clock that sets and compares times. Those of rows
	// are compared with it, never with this machine's.
	Now(ctx context.Context) (time.Time, error)

	// Close waits for calls that are under way and closes the database.
	Close() error
}

// Repositories is the part of the store that keeps repositories. Every method
// that returns a repository fills Latest and Published.
type Repositories interface {
	// CreateRepository stores a repository and its first run, which has its path
	// and options, in one transaction, and returns both. ID, the unique session id (made from r.Session by adding
	// -2, -3, … for git repositories) and times are set here. When the URL (case
	// ignored) or, for a folder, the session is there already it returns that
	// repository and KindExists.
	CreateRepository(ctx context.Context, r codesage.Repository) (codesage.Repository, codesage.Run, error)

	// Repository returns one repository.
	Repository(ctx context.Context, id codesage.RepositoryID) (codesage.Repository, error)

	// RepositoryBySession returns the repository of a session id (exact).
	RepositoryBySession(ctx context.Context, session string) (codesage.Repository, error)

	// ListRepositories returns all, ordered by id.
	ListRepositories(ctx context.Context) ([]codesage.Repository, error)

	// DeleteRepository removes a repository with all its runs, files and
	// entities. A live run of it finds itself overtaken.
	DeleteRepository(ctx context.Context, id codesage.RepositoryID) error
}

// NewRun describes a run to create.
type NewRun struct {
	Repository codesage.RepositoryID
	Trigger    codesage.Trigger
	Force      bool

	// Supersede overtakes whatever run is going instead of failing with
	// KindConflict, Replace only the one that it names: when that is not the run
	// that is going, CreateRun fails with KindConflict.
	Supersede bool
	Replace   codesage.RunID

	// What the run reads, and how; empty and nil mean what the repository has.
	Path    string
	Options *codesage.IndexOptions
}

// Overtakes returns the run of a repository that a new run ends, 0 for none. It
// fails with KindConflict when there may be no new run.
func (n NewRun) Overtakes(r codesage.Repository) (codesage.RunID, error) {
	isGoing := r.Latest != nil && r.Latest.Going()
	switch {
	case n.Replace != 0 && (!isGoing || r.Latest.ID != n.Replace):
		return 0, codesage.Errorf(codesage.KindConflict, "run %d of %s is not going", n.Replace, r.Name)
	case !isGoing:
		return 0, nil
	case n.Replace == 0 && !n.Supersede:
		return 0, codesage.Errorf(codesage.KindConflict, "a run of %s is going already", r.Name)
	}
	return r.Latest.ID, nil
}

// Origin returns the path and the options of a new run of a repository.
func (n NewRun) Origin(r codesage.Repository) (path string, o codesage.IndexOptions) {
	path, o = r.Path, r.Options
	if n.Path != "" {
		path = n.Path
	}
	if n.Options != nil {
		o = *n.Options
	}
	return path, o
}

// Runs is the part of the store that keeps runs.
type Runs interface {
	// CreateRun adds a pending run. While another is going it fails with
	// KindConflict, unless it may overtake it: then the other is ended as failed
	// with the error "Superseded by a newer run". The run's path and options are
	// the repository's at once while it has no text that could be read.
	CreateRun(ctx context.Context, n NewRun) (codesage.Run, error)

	// Run returns one run.
	Run(ctx context.Context, id codesage.RunID) (codesage.Run, error)

	// ListRuns returns a repository's runs, newest first, at most limit.
	ListRuns(ctx context.Context, id codesage.RepositoryID, limit int) ([]codesage.Run, error)

	// UnfinishedRuns returns the runs that wait, and those that claim to work but
	// whose heart has been silent for the given time; 0 = however short. Oldest
	// first.
	UnfinishedRuns(ctx context.Context, silence time.Duration) ([]codesage.Run, error)

	// StartRun takes a run up: it becomes processing, its attempt grows by one, and
	// its counters start anew, except those that people follow, TotalFiles and
	// ProcessedFiles, which stand until the attempt is further. It fails with
	// KindConflict when the run has ended, is not the newest of its repository, or
	// is worked on by someone whose heart has not been silent for the given time;
	// 0 = however short.
	StartRun(ctx context.Context, id codesage.RunID, silence time.Duration) (codesage.Run, error)

	// Report stores a run's progress and beats its heart. It fails with
	// KindConflict when this attempt is no longer the live one: the run was
	// cancelled, superseded, taken over, or its repository was deleted. The
	// worker must then stop. Counters never go back within an attempt,
	// TotalFiles and ProcessedFiles not within the run.
	Report(ctx context.Context, run codesage.Run, p codesage.Progress) error

	// FailRun ends this attempt's run as failed with a message for people. It
	// fails with KindConflict as Report does.
	FailRun(ctx context.Context, run codesage.Run, p codesage.Progress, message string) error

	// ReleaseRun hands this attempt's run back: it is pending again, for another
	// worker or the next start, with the number of crashes that run has. It fails
	// with KindConflict as Report does.
	ReleaseRun(ctx context.Context, run codesage.Run) error

	// CancelRun ends whatever run of the repository is going as failed with the
	// message and returns it; KindConflict when nothing is going.
	CancelRun(ctx context.Context, id codesage.RepositoryID, message string) (codesage.Run, error)
}

// EntityFilter narrows ListEntities. Zero fields don't filter.
type EntityFilter struct {
	PathPrefix string              // literal
	Type       codesage.EntityType // exact
	Name       string              // substring, case ignored (Unicode), literal
	Limit      int                 // at most this many; 0 = none are returned, only counted
}

// Located is an entity with the path of its file.
type Located struct {
	codesage.Entity
	Path     string
	Language string
}

// Analysis is what analyze_repository says of a snapshot.
type Analysis struct {
	Files, Lines, Entities int
	EntitiesByType         map[codesage.EntityType]int
	FilesByLanguage        map[string]int
	EntitiesByLanguage     map[string]int
	TopDirectories         []DirectoryCount // at most 10, most files first, then by name; "(root)" for the top level
	LargestFiles           []FileLines      // at most 10, most lines first, then by path
}

// DirectoryCount is the number of files below a top directory.
type DirectoryCount struct {
	Directory string
	Files     int
}

// FileLines is a file with its number of lines.
type FileLines struct {
	Path  string
	Lines int
}

// Text is a file with its text.
type Text struct {
	codesage.File
	Text string
}

// Reader reads what a snapshot sees. All orders of paths are byte orders.
type Reader interface {
	// File returns the file of a path with its text; KindNotFound when the
	// snapshot has none.
	File(ctx context.Context, s codesage.Snapshot, path string) (Text, error)

	// ListFiles returns files in path order, those after the given path, at most
	// limit.
	ListFiles(ctx context.Context, s codesage.Snapshot, after string, limit int) ([]codesage.File, error)

	// CountFiles returns how many files the snapshot has.
	CountFiles(ctx context.Context, s codesage.Snapshot) (int, error)

	// Texts calls fn for each file with its text, in path order, starting after
	// the given path. When want is not nil only paths for which it answers true
	// are read. An error of fn ends the scan and is returned.
	Texts(ctx context.Context, s codesage.Snapshot, after string, want func(codesage.File) bool, fn func(Text) error) error

	// ListEntities returns the entities that match, ordered by path, start line
	// and id, and how many there are in all.
	ListEntities(ctx context.Context, s codesage.Snapshot, f EntityFilter) (found []Located, total int, err error)

	// FileEntities returns the entities of one file, by start line and id.
	FileEntities(ctx context.Context, s codesage.Snapshot, path string) ([]codesage.Entity, error)

	// Spans returns the comment and string spans of a file; ok is false when the
	// symbol pass stored none for it, because its language has no grammar.
	Spans(ctx context.Context, s codesage.Snapshot, path string) (spans []codesage.Span, ok bool, err error)

	// Analyze counts a snapshot.
	Analyze(ctx context.Context, s codesage.Snapshot) (Analysis, error)

	// ListSkips returns the files a run left out, by path, those after the given
	// path, at most limit, and how many there are in all.
	ListSkips(ctx context.Context, s codesage.Snapshot, after string, limit int) (skips []codesage.Skip, total int, err error)
}

// Symbols is what the symbol pass found in one file.
type Symbols struct {
	File     codesage.FileID
	Parser   int // version of the parser; never 0
	Entities []codesage.Entity
	Spans    []codesage.Span
	HasSpans bool
}

// Writer collects what one run changes. Nothing is visible before Publish or
// PublishText. It is safe for concurrent use. Every call but Abort fails with
// KindConflict once the attempt has been overtaken.
type Writer interface {
	// Put stores files that are new or changed, with their texts, and ends the
	// base's file of the same path. It returns their ids, in the same order.
	Put(ctx context.Context, files []Text) ([]codesage.FileID, error)

	// Remove ends the base's files of these paths.
	Remove(ctx context.Context, paths []string) error

	// Stamp replaces the stamps of files that were kept, by id. It is no part of
	// the run: the same content has a new stamp.
	Stamp(ctx context.Context, stamps map[codesage.FileID]string) error

	// PutSymbols stores what the symbol pass found in files that this run put, or
	// that the base put without symbols.
	PutSymbols(ctx context.Context, symbols []Symbols) error

	// PutSkips adds to the list of files that this run left out.
	PutSkips(ctx context.Context, skips []codesage.Skip) error

	// PublishText makes the texts visible to the session tools, as the
	// repository's TextRun, and gives the repository the run's path and options.
	// Only for the first run of a folder.
	PublishText(ctx context.Context) error

	// Publish makes everything visible, moves the repository's pointer, gives the
	// repository the run's path and options, and ends the run as completed, in
	// one transaction.
	Publish(ctx context.Context, o codesage.Outcome) error

	// Abort gives the writer up. What it wrote is removed by the next Begin. It
	// may be called after Publish, and then does nothing.
	Abort()
}
