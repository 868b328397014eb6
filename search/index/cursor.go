package index

import "slices"

// A cursor walks the matching documents of one segment in ascending order,
// deleted ones among them.
type cursor interface {
	// advance moves to the first match at or after target, or noDoc. It
	// does not move back: a target at or before the current document
	// leaves the cursor where it is.
	advance(target uint32) uint32
	// score returns the score of the current document.
	score() float64
	// bound returns the highest score that a document from target to last
	// can have, without moving the cursor.
	bound(target uint32) (score float64, last uint32)
	// cost is about how many documents the cursor walks.
	cost() int
	// fail returns the error that ended the iteration early.
	fail() error
}

// A place is the current document of a cursor. A cursor that has gone ahead of a
// later caller's target must stay there.
type place struct {
	doc uint32
	on  bool
}

func (p *place) stays(target uint32) bool { return p.on && p.doc >= target }

func (p *place) set(doc uint32) uint32 {
	p.doc, p.on = doc, true
	return doc
}

// none matches nothing.
type none struct{}

func (none) advance(uint32) uint32          { return noDoc }
func (none) score() float64                 { return 0 }
func (none) bound(uint32) (float64, uint32) { return 0, noDoc }
func (none) cost() int                      { return 0 }
func (none) fail() error                    { return nil }

// filter is the part of a cursor that has no score.
type filter struct{}

func (filter) score() float64                 { return 0 }
func (filter) bound(uint32) (float64, uint32) { return 0, noDoc }

// A scorer turns frequencies and lengths of a term into scores.
type scorer struct {
	idf   float64 // with the weight
	norms *norms
	lens  lengths
}

func (s *scorer) of(doc, tf uint32) float64 {
	return s.norms.m.impact(s.idf, float64(tf), s.norms.of(s.lens.of(doc)))
}

// block returns the highest score that a document of block b of a term can have.
func (s *scorer) block(p *postings, b int) float64 {
	best := 0.0
	if p.skip == nil {
		for i, d := range p.docs[:p.n] {
			best = max(best, s.of(d, p.tfs[i]))
		}
		return best
	}
	for _, e := range p.bounds(b) {
		tf := float64(e.tf)
		if e.tf == anyTF {
			tf = 1e18
		}
		best = max(best, s.norms.m.impact(s.idf, tf, s.norms.of(e.len)))
	}
	return best
}

// A termIter walks the documents of a term.
type termIter struct {
	postings
	scorer
	ub   float64 // bound of the block that the shallow cursor is at
	seen int     // block that ub is for
}

func (t *termIter) score() float64 { return t.of(t.doc, t.tf()) }
func (t *termIter) cost() int      { return int(t.df) }
func (t *termIter) fail() error    { return t.err }

func (t *termIter) bound(target uint32) (float64, uint32) {
	if !t.shallow(target) {
		return 0, noDoc
	}
	return t.blockBound(), t.last(t.cur)
}

// blockBound returns the bound of the block at the shallow cursor.
func (t *termIter) blockBound() float64 {
	if t.seen != t.cur {
		t.seen, t.ub = t.cur, t.block(&t.postings, t.cur)
	}
	return t.ub
}

// A keywordIter walks the documents of a term without a score.
type keywordIter struct {
	postings
	filter
}

func (k *keywordIter) cost() int   { return int(k.df) }
func (k *keywordIter) fail() error { return k.err }

// An andIter walks the documents that all its members are at. The cheapest
// member leads.
type andIter struct {
	its  []cursor
	stop *stopper
	place
}

func newAnd(its []cursor, stop *stopper) *andIter {
	slices.SortStableFunc(its, func(a, b cursor) int { return a.cost() - b.cost() })
	return &andIter{its: its, stop: stop}
}

func (a *andIter) advance(target uint32) uint32 {
	if a.stays(target) {
		return a.doc
	}
next:
	for target != noDoc && a.stop.ok() {
		doc := a.its[0].advance(target)
		if doc == noDoc {
			break
		}
		for _, it := range a.its[1:] {
			if d := it.advance(doc); d != doc {
				target = d
				continue next
			}
		}
		return a.set(doc)
	}
	return a.set(noDoc)
}

func (a *andIter) score() (sum float64) {
	for _, it := range a.its {
		sum += it.score()
	}
	return sum
}

func (a *andIter) bound(target uint32) (float64, uint32) { return sumBounds(a.its, target) }
func (a *andIter) cost() int                             { return a.its[0].cost() }
func (a *andIter) fail() error                           { return failAny(a.its) }

func sumBounds(its []cursor, target uint32) (sum float64, last uint32) {
	last = noDoc
	for _, it := range its {
		s, l := it.bound(target)
		sum += s
		last = min(last, l)
	}
	return sum, last
}

func failAny(its []cursor) error {
	for _, it := range its {
		if err := it.fail(); err != nil {
			return err
		}
	}
	return nil
}

// An orIter walks the documents that some of its members are at.
type orIter struct {
	its  []cursor
	docs []uint32 // current document of each
	place
}

func newOr(its []cursor) *orIter { return &orIter{its: its, docs: make([]uint32, len(its))} }

func (o *orIter) advance(target uint32) uint32 {
	if o.stays(target) {
		return o.doc
	}
	least := noDoc
	for i, it := range o.its {
		if !o.on || o.docs[i] < target {
			o.docs[i] = it.advance(target)
		}
		least = min(least, o.docs[i])
	}
	return o.set(least)
}

func (o *orIter) score() (sum float64) {
	for i, it := range o.its {
		if o.docs[i] == o.doc {
			sum += it.score()
		}
	}
	return sum
}

func (o *orIter) bound(target uint32) (float64, uint32) { return sumBounds(o.its, target) }
func (o *orIter) fail() error                           { return failAny(o.its) }

func (o *orIter) cost() (n int) {
	for _, it := range o.its {
		n += it.cost()
	}
	return n
}

// A notIter walks the documents of q that except is not at.
type notIter struct {
	q, except cursor
	stop      *stopper
	place
}

func (n *notIter) advance(target uint32) uint32 {
	if n.stays(target) {
		return n.doc
	}
	for n.stop.ok() {
		doc := n.q.advance(target)
		if doc == noDoc || n.except.advance(doc) != doc {
			return n.set(doc)
		}
		target = doc + 1
	}
	return n.set(noDoc)
}

func (n *notIter) score() float64                        { return n.q.score() }
func (n *notIter) bound(target uint32) (float64, uint32) { return n.q.bound(target) }
func (n *notIter) cost() int                             { return n.q.cost() }
func (n *notIter) fail() error                           { return failAny([]cursor{n.q, n.except}) }

// A constIter gives every document of a cursor the same score.
type constIter struct {
	cursor
	value float64
}

func (c *constIter) score() float64                 { return c.value }
func (c *constIter) bound(uint32) (float64, uint32) { return c.value, noDoc }

// A listIter walks a list made beforehand: that of a prefix.
type listIter struct {
	prefixList
	scorer
	i int
}

func (l *listIter) advance(target uint32) uint32 {
	rest := l.docs[l.i:]
	if len(rest) > 16 && rest[16] < target {
		n, _ := slices.BinarySearch(rest, target)
		l.i += n
	}
	for l.i < len(l.docs) && l.docs[l.i] < target {
		l.i++
	}
	if l.i == len(l.docs) {
		return noDoc
	}
	return l.docs[l.i]
}

func (l *listIter) score() float64 { return l.of(l.docs[l.i], l.tfs[l.i]) }
func (l *listIter) cost() int      { return len(l.docs) }
func (l *listIter) fail() error    { return nil }

// bound leaves room for the rounding of score.
func (l *listIter) bound(uint32) (float64, uint32) { return l.idf * l.best * (1 + 1e-6), noDoc }
