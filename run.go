package codesage

import "time"

// RunID numbers runs over all repositories, in the order of their creation.
type RunID int64

// Trigger says why a run was started.
type Trigger string

// The reasons to start a run.
const (
	TriggerAdd       Trigger = "add"       // the first run of a repository
	TriggerReprocess Trigger = "reprocess" // a person asked
	TriggerRefresh   Trigger = "refresh"   // the regular check found a new head
	TriggerWatch     Trigger = "watch"     // a watched folder changed
	TriggerWebhook   Trigger = "webhook"   // the host told of a push
	TriggerResume    Trigger = "resume"    // takes over from a run that died after its text was published
)

// Phase is what a run is doing.
type Phase string

// The phases of a run, in their order.
const (
	PhaseWaiting Phase = ""        // in the queue
	PhaseFetch   Phase = "fetch"   // getting the files: clone, or nothing for a folder
	PhaseList    Phase = "list"    // listing and selecting files
	PhaseText    Phase = "text"    // reading, cutting and indexing text
	PhaseSymbols Phase = "symbols" // parsing
	PhasePublish Phase = "publish" // making the result visible
)

// Run is one attempt to index a repository.
type Run struct {
	ID         RunID
	Repository RepositoryID
	Status     Status
	Phase      Phase
	Trigger    Trigger
	Force      bool   // index every file anew, changed or not
	Path       string // folder: where the files are read; the repository's once this run is published
	Options    IndexOptions
	Attempt    int // how often it was taken up; with the id it fences late workers
	Crashes    int // how many of those attempts stopped beating: their server died, or was cut off
	Priority   Priority

	Commit         string // the commit that was listed; empty for a folder outside git
	TotalFiles     int    // files selected; 0 until they are listed
	ProcessedFiles int    // files done; never goes back within an attempt
	TextFiles      int    // files that the text pass has been through
	KeptFiles      int    // unchanged files that were neither parsed nor written again
	ParsedFiles    int    // files that the symbol pass parsed
	Entities       int    // entities of all files of the run
	Bytes          int64  // bytes of text selected, so far while files are listed
	Skipped        map[SkipReason]int
	PeakMemory     int64 // bytes, of the process, while the run went on

	Language  string // the primary programming language
	Framework string

	Error  string // why it failed
	Notice string // what a completed run left out: "Partially indexed: …"

	CreatedAt   time.Time
	StartedAt   time.Time
	HeartbeatAt time.Time
	FinishedAt  time.Time
}

// Priority orders waiting runs.
type Priority string

// A first index goes before a refresh.
const (
	PriorityFirst   Priority = "first"
	PriorityRefresh Priority = "refresh"
)

// How a live run shows that it is alive, and when it counts as dead.
const (
	HeartbeatInterval = 5 * time.Second
	HeartbeatTimeout  = 15 * time.Second
)

// KeepRuns is how many runs of a repository are kept, newest first.
const KeepRuns = 50

// Going reports whether the run waits or works.
func (r *Run) Going() bool {
	return r.Status == StatusPending || r.Status == StatusProcessing
}

// Progress is what a running run reports about itself. Counters are totals of
// the attempt, not differences; those that people follow, of all files and of the
// processed ones, don't go back when another attempt begins.
type Progress struct {
	Phase          Phase
	Commit         string
	TotalFiles     int
	ProcessedFiles int
	TextFiles      int
	KeptFiles      int
	ParsedFiles    int
	Entities       int
	Bytes          int64
	PeakMemory     int64
}

// Outcome is how a run ended, for the run's row.
type Outcome struct {
	Progress
	Language  string
	Framework string
	Notice    string
	Skipped   map[SkipReason]int
}

// label names a run's index for people: the start of its commit, or the day.
func (r *Run) label() string {
	if len(r.Commit) >= 12 {
		return r.Commit[:12]
	}
	return r.FinishedAt.UTC().Format("2006-01-02 15:04 UTC")
}
