package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"codesage"
)

// Repository is the page of one repository.
type Repository struct {
	Row
	Runs []Run // newest first

	Skips     []codesage.Skip // one page of the files that the published run left out
	SkipTotal int
	SkipTrail []string // the `after` of each page up to this one; empty on the first
	SkipNext  string   // the `after` of the next page; empty on the last
}

// NewRepository returns the page without its lists.
func NewRepository(r codesage.Repository) Repository { return Repository{Row: newRow(r)} }

func (Repository) file() string    { return "repository.html" }
func (p Repository) title() string { return p.Repo.Name }

// What a link holds of the way to its page, at most: the oldest pages are
// forgotten first.
const (
	trailPages = 20
	trailBytes = 2000
)

// Pages are the links to the pages of skipped files. The list is read forwards
// only: a link holds the way to its page, which is the way back.
func (p Repository) Pages() Pages {
	var links Pages
	n := len(p.SkipTrail)
	if n > 0 {
		links.First = p.link(nil) + "#skipped"
	}
	if n > 1 {
		links.Before = p.link(p.SkipTrail[:n-1]) + "#skipped"
	}
	if p.SkipNext != "" {
		links.After = p.link(append(slices.Clone(p.SkipTrail), p.SkipNext)) + "#skipped"
	}
	return links
}

// Here is the address of the page.
func (p Repository) Here() string { return p.link(p.SkipTrail) }

func (p Repository) link(trail []string) string {
	base := fmt.Sprintf("/repositories/%d", p.Repo.ID)
	if len(trail) == 0 {
		return base
	}
	first, size := len(trail)-1, len(trail[len(trail)-1])
	for first > 0 && len(trail)-first < trailPages && size+len(trail[first-1]) <= trailBytes {
		first--
		size += len(trail[first])
	}
	return base + "?" + url.Values{"after": trail[first:]}.Encode()
}

// Patterns are the patterns that a folder was indexed with, for people.
func (p Repository) Patterns() string {
	var parts []string
	if o := p.Repo.Options; len(o.Include) > 0 {
		parts = append(parts, "only "+strings.Join(o.Include, ", "))
	}
	switch o := p.Repo.Options; {
	case len(o.Exclude) == 1 && o.Exclude[0] == codesage.ExcludeNothing:
		parts = append(parts, "nothing left out")
	case len(o.Exclude) > 0:
		parts = append(parts, "without "+strings.Join(o.Exclude, ", "))
	}
	return strings.Join(parts, "; ")
}

// Run is a run in a repository's list. What changes while it goes is not shown
// there.
type Run struct{ codesage.Run }

// NewRuns returns the rows of runs.
func NewRuns(runs []codesage.Run) []Run {
	rows := make([]Run, len(runs))
	for i, r := range runs {
		rows[i] = Run{r}
	}
	return rows
}

// Broke is what a run did when it failed; empty for one that did not.
func (r Run) Broke() string {
	if r.Status != codesage.StatusFailed {
		return ""
	}
	return phases[r.Phase]
}

// Seconds is how long the run took; empty for one that was never begun.
func (r Run) Seconds() string {
	if r.StartedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.1f s", max(r.FinishedAt.Sub(r.StartedAt), 0).Seconds())
}

// SkippedBy lists how many files were left out, by reason, most first.
func (r Run) SkippedBy() []SkipCount {
	list := make([]SkipCount, 0, len(r.Skipped))
	for reason, n := range r.Skipped {
		list = append(list, SkipCount{reason, n})
	}
	slices.SortFunc(list, func(a, b SkipCount) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// SkipCount is how many files were left out for a reason.
type SkipCount struct {
	Reason codesage.SkipReason
	Files  int
}

// Delete asks whether a repository is really to be removed.
type Delete struct{ Row }

// NewDelete returns the question.
func NewDelete(r codesage.Repository) Delete { return Delete{newRow(r)} }

func (Delete) file() string    { return "delete.html" }
func (p Delete) title() string { return "Delete " + p.Repo.Name }
