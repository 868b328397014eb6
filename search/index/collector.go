package index

import (
	"bytes"
	"cmp"
	"slices"
)

// A collector keeps the k best documents in a heap with the worst on top.
type collector struct {
	x    *Index
	k    int
	tie  func(a, b *Match) int
	part int
	need float64 // a lower score does not get in
	heap []scored
}

type scored struct {
	score float64
	ref   Ref
}

// compare is negative when a comes before b in the order of results.
func (c *collector) compare(a, b scored) int {
	if n := cmp.Compare(b.score, a.score); n != 0 {
		return n
	}
	if c.tie != nil {
		n := c.tie(&Match{x: c.x, part: a.ref.Part, doc: a.ref.Doc, score: a.score},
			&Match{x: c.x, part: b.ref.Part, doc: b.ref.Doc, score: b.score})
		if n != 0 {
			return n
		}
	}
	pa, pb := &c.x.parts[a.ref.Part], &c.x.parts[b.ref.Part]
	fa, fb := pa.seg.fileOf(a.ref.Doc), pb.seg.fileOf(b.ref.Doc)
	if a.ref.Part == b.ref.Part {
		return cmp.Or(cmp.Compare(pa.seg.rank(fa), pb.seg.rank(fb)), cmp.Compare(a.ref.Doc, b.ref.Doc))
	}
	return cmp.Or(bytes.Compare(pa.seg.name(fa), pb.seg.name(fb)), cmp.Compare(pa.source, pb.source),
		cmp.Compare(a.ref.Part, b.ref.Part))
}

func (c *collector) worse(a, b scored) bool { return c.compare(a, b) > 0 }

func (c *collector) offer(doc uint32, score float64) {
	if score < c.need || c.x.parts[c.part].isDeleted(doc) {
		return
	}
	e := scored{score, Ref{c.part, doc}}
	if len(c.heap) < c.k {
		c.push(e)
	} else if c.worse(c.heap[0], e) {
		c.replace(e)
	}
	if len(c.heap) == c.k {
		c.need = c.heap[0].score
	}
}

func (c *collector) push(e scored) {
	h := append(c.heap, e)
	for i := len(h) - 1; i > 0 && c.worse(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	c.heap = h
}

// replace puts e in the place of the worst.
func (c *collector) replace(e scored) {
	h := c.heap
	h[0] = e
	for i := 0; ; {
		j := 2*i + 1
		if j >= len(h) {
			return
		}
		if j+1 < len(h) && c.worse(h[j+1], h[j]) {
			j++
		}
		if !c.worse(h[j], h[i]) {
			return
		}
		h[i], h[j] = h[j], h[i]
		i = j
	}
}

// sorted returns the best documents, best first.
func (c *collector) sorted() []scored {
	slices.SortFunc(c.heap, c.compare)
	return c.heap
}
