// Package difflib ranks similar names as Python's difflib does: the numbers and
// the order are those of SequenceMatcher with its default autojunk, and of
// get_close_matches. It compares short texts such as paths. It is no diff: for
// long texts autojunk makes nonsense of the ratio.
package difflib

import (
	"cmp"
	"slices"
)

// autojunk: in a text of so many characters or more, those that make up over
// one per cent of it start no match.
const junkLength = 200

// CloseMatches returns the n names most like the word whose ratio is at least
// cutoff, best first, equal ones in descending order. The result is that of
// get_close_matches; names that can't be among the best are not compared.
func CloseMatches(word string, names []string, n int, cutoff float64) []string {
	m := newMatcher(word)
	var candidates []scored
	for _, name := range names {
		runes := []rune(name)
		if quick := m.quickRatio(runes); quick >= cutoff {
			candidates = append(candidates, scored{name, quick})
		}
	}
	slices.SortFunc(candidates, descending)
	var best []scored
	for _, c := range candidates {
		if len(best) == n && (n == 0 || c.score < best[n-1].score) {
			break // its ratio is at most this, and so are those of all that follow
		}
		c.score = m.ratio([]rune(c.name))
		if c.score < cutoff {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, descending)
		best = slices.Insert(best, at, c)
		best = best[:min(n, len(best))]
	}
	names = make([]string, len(best))
	for i, s := range best {
		names[i] = s.name
	}
	return names
}

// scored is a name with its ratio, or with an upper bound of it.
type scored struct {
	name  string
	score float64
}

func descending(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.name, a.name))
}

// matcher compares many texts with one, b. Its scratch space is reused, so it is
// not safe for concurrent use.
type matcher struct {
	b     []rune
	at    map[rune][]int // where each character stands in b; without autojunk's popular ones
	count map[rune]int   // how often each character stands in b
	left  map[rune]int   // scratch of quickRatio
	row   []int          // scratch of longest: length of the match that ends at b[j], at j+1
	next  []int
}

func newMatcher(text string) *matcher {
	m := &matcher{b: []rune(text), at: map[rune][]int{}, count: map[rune]int{}, left: map[rune]int{}}
	for j, r := range m.b {
		m.at[r] = append(m.at[r], j)
		m.count[r]++
	}
	if n := len(m.b); n >= junkLength {
		for r, places := range m.at {
			if len(places) > n/100+1 {
				delete(m.at, r)
			}
		}
	}
	m.row, m.next = make([]int, len(m.b)+1), make([]int, len(m.b)+1)
	return m
}

// quickRatio returns an upper bound of the ratio: the two as sets of
// characters, or only their lengths when that says enough.
func (m *matcher) quickRatio(a []rune) float64 {
	clear(m.left)
	matches := 0
	for _, r := range a {
		if used := m.left[r]; used < m.count[r] {
			matches++
			m.left[r] = used + 1
		}
	}
	return share(matches, len(a)+len(m.b))
}

// ratio returns SequenceMatcher(None, a, b).ratio(), twice the characters that
// match over all characters: 1 for equal texts, 0 for texts that have nothing in
// common.
func (m *matcher) ratio(a []rune) float64 {
	matches := 0
	open := []block{{0, len(a), 0, len(m.b)}}
	for len(open) > 0 {
		k := open[len(open)-1]
		open = open[:len(open)-1]
		i, j, size := m.longest(a, k)
		if size == 0 {
			continue
		}
		matches += size
		if k.alo < i && k.blo < j {
			open = append(open, block{k.alo, i, k.blo, j})
		}
		if i+size < k.ahi && j+size < k.bhi {
			open = append(open, block{i + size, k.ahi, j + size, k.bhi})
		}
	}
	return share(matches, len(a)+len(m.b))
}

// block is a stretch of a and one of b that are compared with each other.
type block struct{ alo, ahi, blo, bhi int }

// longest finds the longest match within a block: of equally long ones the
// first in a, then the first in b. It starts at characters that are not popular
// and is then extended over any.
func (m *matcher) longest(a []rune, k block) (besti, bestj, size int) {
	besti, bestj = k.alo, k.blo
	row, next := m.row, m.next
	for i := k.alo; i < k.ahi; i++ {
		for _, j := range m.within(a[i], k) {
			n := row[j] + 1
			next[j+1] = n
			if n > size {
				besti, bestj, size = i-n+1, j-n+1, n
			}
		}
		if i > k.alo {
			for _, j := range m.within(a[i-1], k) {
				row[j+1] = 0
			}
		}
		row, next = next, row
	}
	if k.ahi > k.alo {
		for _, j := range m.within(a[k.ahi-1], k) {
			row[j+1] = 0
		}
	}
	for besti > k.alo && bestj > k.blo && a[besti-1] == m.b[bestj-1] {
		besti, bestj, size = besti-1, bestj-1, size+1
	}
	for besti+size < k.ahi && bestj+size < k.bhi && a[besti+size] == m.b[bestj+size] {
		size++
	}
	return besti, bestj, size
}

// within returns where r stands in the block's part of b.
func (m *matcher) within(r rune, k block) []int {
	places := m.at[r]
	from, _ := slices.BinarySearch(places, k.blo)
	to, _ := slices.BinarySearch(places, k.bhi)
	return places[from:to]
}

func share(matches, length int) float64 {
	if length == 0 {
		return 1
	}
	return 2 * float64(matches) / float64(length)
}
