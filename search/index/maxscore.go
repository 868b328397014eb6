package index

import (
	"math/bits"

	"codesage/search/query"
)

// search offers the matches in segment i to c. A disjunction of terms, alone or
// with filters, is searched by topDocs; for other queries the bounds of the
// tree tell which documents need not be looked at.
func (p *plan) search(i int, q query.Query, c *collector) error {
	if terms, filter, ok := disjunction(q); ok {
		t := &topDocs{c: c, stop: p.stop, docs: p.x.parts[i].seg.h.docs}
		for _, q := range terms {
			it, err := p.termIter(i, q)
			if err != nil {
				return err
			}
			if it, ok := it.(*termIter); ok {
				t.terms = append(t.terms, it)
			}
		}
		if filter != nil {
			it, err := p.compile(i, filter)
			if err != nil {
				return err
			}
			t.filter = it
		}
		return t.run()
	}
	it, err := p.compile(i, q)
	if err != nil {
		return err
	}
	known := uint32(0) // documents before it have been weighed against c.need
	for d := it.advance(0); d != noDoc && p.stop.ok(); {
		if d >= known && c.need > 0 {
			ub, last := it.bound(d)
			if ub < c.need {
				if last == noDoc {
					break
				}
				d = it.advance(last + 1)
				continue
			}
			known = last
		}
		c.offer(d, it.score())
		d = it.advance(d + 1)
	}
	return p.failed(it)
}

// window is the number of documents whose scores topDocs adds up at a time.
const window = 4096

// topDocs offers the documents that match any of the terms and the filter, and
// may be among the best, to a collector: MaxScore (Turtle and Flood, 1995) with
// block-max bounds (Ding and Suel, 2011).
//
// It goes through the segment in ranges in which every term stays in one block.
// The terms with the smallest bounds that cannot reach the collector's need
// together are not essential: a document that has only those is not a candidate.
type topDocs struct {
	c      *collector
	stop   *stopper
	terms  []*termIter
	filter cursor // nil for none
	docs   uint32

	live  []*termIter // with blocks left, by ascending bound
	rest  []float64   // rest[i]: sum of the bounds of live[:i]
	first int         // first essential term
	acc   []float64
	set   []uint64
}

func (t *topDocs) run() error {
	t.live = append(t.live, t.terms...)
	t.rest = make([]float64, len(t.terms)+1)
	for lo := uint32(0); lo < t.docs; {
		if t.stop.err = t.stop.ctx.Err(); t.stop.err != nil {
			return t.stop.err
		}
		far := t.order(lo)
		if len(t.live) == 0 {
			break
		}
		if t.first == len(t.live) {
			if far == noDoc {
				break
			}
			lo = far + 1
			continue
		}
		hi := min(t.docs-1, lo+window-1, far)
		if t.first == len(t.live)-1 {
			it := t.live[t.first]
			for d := it.advance(lo); d <= hi; d = it.nextInBlock() {
				t.consider(d, it.score())
			}
		} else {
			t.accumulate(lo, hi)
		}
		lo = hi + 1
	}
	for _, it := range t.terms {
		if it.err != nil {
			return it.err
		}
	}
	if t.stop.err == nil && t.filter != nil {
		return t.filter.fail()
	}
	return t.stop.err
}

// order drops the terms that have no block from lo on, sorts the others by
// bound, finds the essential ones, and returns the last document for which
// that holds.
func (t *topDocs) order(lo uint32) (far uint32) {
	far = t.docs - 1
	n := 0
	for _, it := range t.live {
		if !it.shallow(lo) {
			continue
		}
		far = min(far, it.last(it.cur))
		ub := it.blockBound()
		j := n
		for ; j > 0 && ub < t.live[j-1].ub; j-- {
			t.live[j] = t.live[j-1]
		}
		t.live[j] = it
		n++
	}
	t.live, t.first = t.live[:n], 0
	for i, it := range t.live {
		t.rest[i+1] = t.rest[i] + it.ub
		if t.rest[i+1] < t.c.need {
			t.first = i + 1
		}
	}
	return far
}

// consider completes the score of a document of the essential terms and offers
// it, unless it cannot be good enough.
func (t *topDocs) consider(doc uint32, score float64) {
	for i := t.first - 1; i >= 0; i-- {
		if score+t.rest[i+1] < t.c.need {
			return
		}
		if it := t.live[i]; it.advance(doc) == doc {
			score += it.score()
		}
	}
	if score >= t.c.need && (t.filter == nil || t.filter.advance(doc) == doc) {
		t.c.offer(doc, score)
	}
}

// accumulate adds up the scores of the essential terms from lo to hi and
// considers every document that has one.
func (t *topDocs) accumulate(lo, hi uint32) {
	if t.acc == nil {
		t.acc, t.set = make([]float64, window), make([]uint64, window/64)
	}
	for _, it := range t.live[t.first:] {
		for d := it.advance(lo); d <= hi; d = it.nextInBlock() {
			t.acc[d-lo] += it.score()
			t.set[(d-lo)/64] |= 1 << ((d - lo) % 64)
		}
	}
	for w, b := range t.set[:(hi-lo)/64+1] {
		t.set[w] = 0
		for ; b != 0; b &= b - 1 {
			i := uint32(w*64) + uint32(bits.TrailingZeros64(b))
			score := t.acc[i]
			t.acc[i] = 0
			t.consider(lo+i, score)
		}
	}
}
