package sessions

import (
	"codesage/search"
	"codesage/search/query"
)

// fill returns the k best hits of which no two overlap or touch each other in a
// file: the better one stays. fetch returns the n best hits and how many there
// are in all; more are fetched until k are left.
func fill(k int, fetch func(n int) ([]search.ChunkHit, int, error)) ([]search.ChunkHit, error) {
	for n := 2 * k; ; n *= 4 {
		hits, total, err := fetch(n)
		if err != nil {
			return nil, err
		}
		kept := thin(hits, k)
		if len(kept) == k || len(hits) >= total || len(hits) < n {
			return kept, nil
		}
	}
}

// thin takes hits in their order until it has k, and leaves out those that
// overlap or touch one that it took.
func thin(hits []search.ChunkHit, k int) []search.ChunkHit {
	kept := make([]search.ChunkHit, 0, min(k, len(hits)))
	taken := map[string][]search.ChunkHit{}
	for _, h := range hits {
		if len(kept) == k {
			break
		}
		if !touches(h, taken[h.Path]) {
			kept = append(kept, h)
			taken[h.Path] = append(taken[h.Path], h)
		}
	}
	return kept
}

func touches(h search.ChunkHit, others []search.ChunkHit) bool {
	for _, o := range others {
		if h.Start <= o.End && o.Start <= h.End {
			return true
		}
	}
	return false
}

// scores reports whether a tree ranks what it matches. One that only excludes
// or names a path does not.
func scores(q query.Query) bool {
	switch q := q.(type) {
	case query.Term, query.Phrase, query.Prefix:
		return true
	case query.And:
		return anyScores(q)
	case query.Or:
		return anyScores(q)
	case query.Not:
		return scores(q.Q)
	}
	return false
}

func anyScores(qs []query.Query) bool {
	for _, q := range qs {
		if scores(q) {
			return true
		}
	}
	return false
}
