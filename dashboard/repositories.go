package dashboard

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"codesage"
)

// pageRows is how many repositories a page shows.
const pageRows = 200

// Repositories is the page of all repositories.
type Repositories struct {
	Rows   []Row
	Total  int    // repositories in all
	Found  int    // of those, how many the filter lets through
	Filter string // words that name, source, language or framework hold
	Add    AddForm

	number int // of this page, from 0
}

// AddForm is what the forms that add a repository hold, and what is wrong with
// that. Errors are by the name of the field.
type AddForm struct {
	URL, Branch   string
	Path, Session string
	Folders       bool // the server indexes local folders
	Errors        map[string]string
	There         codesage.Repository // the one that is there already; zero = none
}

// NewRepositories returns a page of the repositories that the filter lets
// through, by name. A page beyond the last is the last.
func NewRepositories(all []codesage.Repository, filter string, number int, add AddForm) Repositories {
	p := Repositories{Total: len(all), Filter: filter, Add: add}
	var rows []Row
	for _, r := range all {
		if row := newRow(r); row.matches(filter) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(strings.ToLower(a.Repo.Name), strings.ToLower(b.Repo.Name))
	})
	p.Found = len(rows)
	p.number = min(max(number, 0), max(len(rows)-1, 0)/pageRows)
	p.Rows = rows[p.number*pageRows : min((p.number+1)*pageRows, len(rows))]
	return p
}

func (Repositories) file() string  { return "repositories.html" }
func (Repositories) title() string { return "" }

// Whole reports whether the page shows every repository, so that the script can
// filter them and take new ones in.
func (p Repositories) Whole() bool { return len(p.Rows) == p.Total }

// Pages are the links to the pages before and after this one.
func (p Repositories) Pages() Pages {
	var links Pages
	if p.number > 0 {
		links.Before = p.link(p.number - 1)
	}
	if (p.number+1)*pageRows < p.Found {
		links.After = p.link(p.number + 1)
	}
	return links
}

// Here is the address of the page.
func (p Repositories) Here() string { return p.link(p.number) }

func (p Repositories) link(number int) string {
	q := url.Values{}
	if p.Filter != "" {
		q.Set("filter", p.Filter)
	}
	if number > 0 {
		q.Set("page", strconv.Itoa(number))
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

// Pages are links to other pages of a list; empty where there are none.
type Pages struct{ First, Before, After string }

// Row is a repository in a list.
type Row struct {
	Repo codesage.Repository
}

func newRow(r codesage.Repository) Row { return Row{r} }

// matches reports whether the row holds each word of a filter.
func (r Row) matches(filter string) bool {
	text := r.Text()
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Text is what the filter looks at.
func (r Row) Text() string {
	return strings.ToLower(strings.Join([]string{r.Repo.Name, r.Source(), r.Repo.Branch, r.Language(), r.Framework(), string(r.Status())}, " "))
}

// Source is the URL or the folder.
func (r Row) Source() string { return cmp.Or(r.Repo.URL, r.Repo.Path) }

// Status is the one that every list shows.
func (r Row) Status() codesage.Status { return r.Repo.Status() }

// Version is another one whenever the row has to be drawn anew. What changes
// with each step of a run is not in it.
func (r Row) Version() string {
	if r.Repo.Latest == nil {
		return ""
	}
	return strconv.FormatInt(int64(r.Repo.Latest.ID), 10) + " " + string(r.Repo.Latest.Status)
}

// Going reports whether a run waits or works.
func (r Row) Going() bool { return r.Repo.Latest != nil && r.Repo.Latest.Going() }

// Run is the newest run.
func (r Row) Run() codesage.Run {
	if r.Repo.Latest == nil {
		return codesage.Run{}
	}
	return *r.Repo.Latest
}

// Done is how many files the run that is going is through with, in its phase.
func (r Row) Done() int {
	run := r.Run()
	if run.Phase == codesage.PhaseText {
		return run.TextFiles
	}
	return run.ProcessedFiles
}

// Phase is what the run that is going does, for people.
func (r Row) Phase() string { return phases[r.Run().Phase] }

// Files is how many files the index holds, or will hold.
func (r Row) Files() int { return r.Repo.Counted().TotalFiles }

// Entities is how many entities the index holds.
func (r Row) Entities() int { return r.Repo.TotalEntities() }

// Commit is the commit that the index was made of; empty when there is none.
func (r Row) Commit() string { return r.Repo.CommitSHA() }

// Indexed is when the published index was finished; the zero time before the
// first.
func (r Row) Indexed() time.Time {
	if r.Repo.Published == nil {
		return time.Time{}
	}
	return r.Repo.Published.FinishedAt
}

// Language is the published index's primary language.
func (r Row) Language() string {
	if r.Repo.Published == nil {
		return ""
	}
	return r.Repo.Published.Language
}

// Framework is what the published index was found to use.
func (r Row) Framework() string {
	if r.Repo.Published == nil {
		return ""
	}
	return r.Repo.Published.Framework
}

// Message is what there is to say of the last run.
func (r Row) Message() string { return r.Repo.ErrorMessage() }

// Failed reports whether the last run failed, whatever is published.
func (r Row) Failed() bool { return r.Run().Status == codesage.StatusFailed }

// phases are the phases of a run as people see them.
var phases = map[codesage.Phase]string{
	codesage.PhaseWaiting: "waiting",
	codesage.PhaseFetch:   "fetching",
	codesage.PhaseList:    "listing files",
	codesage.PhaseText:    "reading text",
	codesage.PhaseSymbols: "finding symbols",
	codesage.PhasePublish: "publishing",
}

// Phases are the words of phases as JSON, for the script.
func (view) Phases() (string, error) {
	text, err := json.Marshal(phases)
	return string(text), err
}
