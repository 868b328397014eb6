package worker

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"codesage"
)

// Waits after failures: they double from the first to the longest.
const (
	firstWait   = time.Minute
	longestWait = 6 * time.Hour
)

// plan says when which repository is to be checked. It is safe for concurrent
// use.
type plan struct {
	interval time.Duration // 0 = a repository is checked when something asks for it

	mu      sync.Mutex
	entries map[codesage.RepositoryID]*entry
	hosts   map[string]*entry // hosts that failed; next is when they are asked again
	started time.Time         // of the first round
}

// entry is the state of a repository or a host.
type entry struct {
	next     time.Time // not before; zero = not planned
	failures int       // in a row

	// How often a check was asked for: in all, before the check that is going on,
	// and before the last one that succeeded.
	asked, seen, answered int
}

// isUrgent reports whether a check was asked for since the last one began.
func (e *entry) isUrgent() bool { return e.asked > e.answered }

// isDue reports whether the check is to be made now.
func (e *entry) isDue(now time.Time) bool {
	return (e.isUrgent() || !e.next.IsZero()) && !now.Before(e.next)
}

func newPlan(interval time.Duration) *plan {
	return &plan{interval: interval, entries: map[codesage.RepositoryID]*entry{}, hosts: map[string]*entry{}}
}

// soon plans a check at once, also of a repository that the plan does not know.
func (p *plan) soon(id codesage.RepositoryID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[id]
	if e == nil {
		e = &entry{}
		p.entries[id] = e
	}
	e.asked++
	e.next = time.Time{}
}

// due returns the git repositories to check now, those that were asked for first
// and then the longest overdue, by host. A repository with a run that is going is not due: its end asks again.
func (p *plan) due(all []codesage.Repository, now time.Time) [][]codesage.Repository {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started.IsZero() {
		p.started = now
	}
	p.forget(all)
	var due []codesage.Repository
	for _, r := range all {
		if r.Source != codesage.SourceGit || r.Latest == nil {
			continue
		}
		e := p.entryOf(r.ID, now)
		if !e.isDue(now) || r.Latest.Going() || p.away(hostOf(r), now) {
			continue
		}
		due = append(due, r)
	}
	slices.SortStableFunc(due, func(a, b codesage.Repository) int {
		x, y := p.entries[a.ID], p.entries[b.ID]
		return cmp.Or(cmp.Compare(y.asked-y.answered, x.asked-x.answered), x.next.Compare(y.next))
	})
	due = due[:min(len(due), roundChecks)]
	for _, r := range due {
		p.entries[r.ID].seen = p.entries[r.ID].asked
	}
	return byHost(due)
}

// forget drops the entries of repositories that are gone.
func (p *plan) forget(all []codesage.Repository) {
	there := make(map[codesage.RepositoryID]bool, len(all))
	for _, r := range all {
		there[r.ID] = true
	}
	for id := range p.entries {
		if !there[id] {
			delete(p.entries, id)
		}
	}
}

// entryOf returns the entry of a repository. One that is new gets its place in
// the interval; without one, those of the start are spread over a while, and
// those added later are planned by what asks for them.
func (p *plan) entryOf(id codesage.RepositoryID, now time.Time) *entry {
	e := p.entries[id]
	if e != nil && (e.isUrgent() || !e.next.IsZero() || p.interval == 0) {
		return e
	}
	if e == nil {
		e = &entry{}
		p.entries[id] = e
	}
	switch {
	case p.interval > 0:
		e.next = now.Add(place(id, p.interval))
	case now.Equal(p.started):
		e.next = now.Add(place(id, startSpread))
	}
	return e
}

// place spreads repositories evenly over a time, the same way at every start:
// multiples of the golden ratio fall into the largest gap.
func place(id codesage.RepositoryID, over time.Duration) time.Duration {
	const ratio = 0.6180339887498949
	x := float64(id) * ratio
	return time.Duration((x - float64(int64(x))) * float64(over))
}

// succeeded plans the next check: after the interval, or a wait that is not zero.
func (p *plan) succeeded(repo codesage.Repository, wait time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.hosts, hostOf(repo))
	e := p.entries[repo.ID]
	if e == nil {
		return // deleted meanwhile
	}
	e.next, e.failures, e.answered = time.Time{}, 0, e.seen
	switch {
	case e.isUrgent():
	case p.interval > 0:
		e.next = now.Add(max(p.interval, wait))
	case wait > 0:
		e.next = now.Add(wait)
	}
}

// isAskedFor reports whether the check that is going on was asked for.
func (p *plan) isAskedFor(id codesage.RepositoryID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[id]
	return e != nil && e.isUrgent()
}

// left plans the next check when this one is another's.
func (p *plan) left(repo codesage.Repository, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[repo.ID]; e != nil && !e.isUrgent() {
		e.next = now.Add(p.interval)
	}
}

// failed plans the next check after a failure. A host that is away is not asked
// about any repository for as long.
func (p *plan) failed(repo codesage.Repository, away bool, now time.Time) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	least := p.interval
	if e := p.entries[repo.ID]; e != nil {
		if e.isUrgent() {
			least = 0
		}
		wait = e.fail(least, now)
	}
	if !away {
		return wait
	}
	host := p.hosts[hostOf(repo)]
	if host == nil {
		host = &entry{}
		p.hosts[hostOf(repo)] = host
	}
	return max(wait, host.fail(0, now))
}

// fail counts a failure and plans the next try.
func (e *entry) fail(least time.Duration, now time.Time) (wait time.Duration) {
	wait = longestWait
	if e.failures < 9 { // minutes that double nine times pass the longest wait
		wait = min(firstWait<<e.failures, longestWait)
	}
	e.failures++
	wait = max(wait, least)
	e.next = now.Add(wait)
	return wait
}

// away reports whether a host is not to be asked now.
func (p *plan) away(host string, now time.Time) bool {
	e := p.hosts[host]
	return e != nil && now.Before(e.next)
}

// hostOf is the host of a repository's URL.
func hostOf(r codesage.Repository) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "https://"), "/")
	return strings.ToLower(host)
}

// byHost groups repositories by host, in their order.
func byHost(repos []codesage.Repository) [][]codesage.Repository {
	places := map[string]int{}
	var groups [][]codesage.Repository
	for _, r := range repos {
		host := hostOf(r)
		at, ok := places[host]
		if !ok {
			at = len(groups)
			places[host] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], r)
	}
	return groups
}
