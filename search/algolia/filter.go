package algolia

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"codesage"
)

// quoted is a value of a filter, whatever is in it.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// A span is a range of repository ids, both ends included.
type span struct{ from, to codesage.RepositoryID }

// maxSpans bounds a filter: it has at most so many ranges.
const maxSpans = 100

// idSpans returns the ids as ascending ranges.
func idSpans(ids []codesage.RepositoryID) (list []span) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for _, id := range ids {
		if n := len(list); n > 0 && id-list[n-1].to <= 1 {
			list[n-1].to = id
			continue
		}
		list = append(list, span{id, id})
	}
	return list
}

// bounded merges the ranges that are closest to each other until there are at
// most n. The result may hold ids that the ranges don't.
func bounded(list []span, n int) []span {
	over := len(list) - n
	if over <= 0 {
		return list
	}
	var gaps []codesage.RepositoryID
	for i := range list[1:] {
		gaps = append(gaps, list[i+1].from-list[i].to)
	}
	slices.Sort(gaps)
	widest := gaps[over-1]
	merged := []span{list[0]}
	for i, s := range list[1:] {
		if s.from-list[i].to <= widest && over > 0 {
			over--
			merged[len(merged)-1].to = s.to
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// complement returns the ranges of ids, from 0 on, that are in none of the
// ascending ranges.
func complement(list []span) (rest []span) {
	next := codesage.RepositoryID(0)
	for _, s := range list {
		if s.from > next {
			rest = append(rest, span{next, s.from - 1})
		}
		next = max(next, s.to+1)
	}
	return append(rest, span{next, math.MaxInt64})
}

// spansFilter matches the records of repositories in one of the ranges. One
// repository is looked up as a facet value; ranges are numeric, because facets
// have none and the service combines filters of one kind only with OR.
func spansFilter(list []span) string {
	if len(list) == 1 && list[0].from == list[0].to {
		return repositoryFilter(list[0].from)
	}
	var terms []string
	for _, s := range list {
		switch {
		case s.from == s.to:
			terms = append(terms, fmt.Sprintf("repository_id = %d", s.from))
		case s.to == math.MaxInt64:
			terms = append(terms, fmt.Sprintf("repository_id >= %d", s.from))
		default:
			terms = append(terms, fmt.Sprintf("repository_id:%d TO %d", s.from, s.to))
		}
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return "(" + strings.Join(terms, " OR ") + ")"
}

func repositoryFilter(id codesage.RepositoryID) string { return fmt.Sprintf("repository_id:%d", id) }

// A scope is the repositories of a question.
type scope struct {
	filter  string
	members map[codesage.RepositoryID]bool
	isExact bool // the filter lets no other repository through
}

func newScope(snapshots []codesage.Snapshot) scope {
	s := scope{members: map[codesage.RepositoryID]bool{}}
	var ids []codesage.RepositoryID
	for _, at := range snapshots {
		if !s.members[at.Repository] {
			s.members[at.Repository] = true
			ids = append(ids, at.Repository)
		}
	}
	if len(ids) == 0 {
		return s
	}
	list := idSpans(ids)
	s.isExact = len(list) <= maxSpans
	s.filter = spansFilter(bounded(list, maxSpans))
	return s
}
