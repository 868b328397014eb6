package index

import "math/bits"

// A termEnc encodes the postings of one term at a time.
type termEnc struct {
	docs, tfs, lens [blockLen]uint32
	n               int
	base            uint32 // lowest document the next block may hold
	df              uint32
	skip            []byte
	body            []byte
	posLen          int // bytes of positions so far
	blkPos          int // posLen at the start of this block
	avg             float64
}

func (e *termEnc) reset(avg float64) {
	e.n, e.base, e.df, e.posLen, e.blkPos, e.avg = 0, 0, 0, 0, 0, avg
	e.skip, e.body = e.skip[:0], e.body[:0]
}

// add appends a document. Documents must come in ascending order.
func (e *termEnc) add(doc, tf, docLen uint32, posBytes int) {
	if e.n == blockLen {
		e.flush()
	}
	e.docs[e.n], e.tfs[e.n], e.lens[e.n] = doc, tf, docLen
	e.n++
	e.df++
	e.posLen += posBytes
}

func (e *termEnc) flush() {
	off := len(e.body)
	last := e.docs[e.n-1]
	if e.n == blockLen {
		e.packBlock()
	} else {
		next := e.base
		for i, d := range e.docs[:e.n] {
			g := uint64(d-next) << 1
			if e.tfs[i] == 1 {
				e.body = putUv(e.body, g|1)
			} else {
				e.body = putUv(putUv(e.body, g), uint64(e.tfs[i]))
			}
			next = d + 1
		}
	}
	if e.df >= blockLen {
		e.skip = put32(put32(put32(e.skip, last), uint32(off)), uint32(e.blkPos))
		e.skip = e.appendBounds(e.skip)
	}
	e.base, e.blkPos, e.n = last+1, e.posLen, 0
}

func (e *termEnc) packBlock() {
	var gaps, tfs [blockLen]uint32
	var orGap, orTF uint32
	next := e.base
	for i, d := range e.docs {
		gaps[i], tfs[i] = d-next, e.tfs[i]-1
		orGap |= gaps[i]
		orTF |= tfs[i]
		next = d + 1
	}
	wg, wt := uint(bits.Len32(orGap)), uint(bits.Len32(orTF))
	e.body = append(e.body, byte(wg), byte(wt))
	e.body = appendPacked(e.body, &gaps, wg)
	e.body = appendPacked(e.body, &tfs, wt)
}

// A bound is a pair of a term frequency and a length. As an upper bound it
// stands for every document with at most that frequency and at least that
// length. Both saturate at 0xffff, where the frequency means "any".
type bound struct{ tf, len uint32 }

const anyTF = 0xffff

// appendBounds appends two bounds such that every document of the block is
// under one of them. The larger impact of the two then bounds the block,
// whatever k1, b, the average length and the idf turn out to be at query time.
func (e *termEnc) appendBounds(dst []byte) []byte {
	const top = 15
	var minLen [top + 1]uint32 // shortest document by tf, from top on together
	for i := range minLen {
		minLen[i] = anyTF
	}
	maxTF := uint32(0)
	for i, tf := range e.tfs[:e.n] {
		maxTF = max(maxTF, tf)
		t := min(tf, top)
		minLen[t] = min(minLen[t], e.lens[i])
	}
	maxTF = min(maxTF, anyTF)
	var above [top + 2]uint32 // shortest document with a tf of at least i
	above[top+1] = anyTF
	for i := top; i > 0; i-- {
		above[i] = min(above[i+1], minLen[i])
	}
	all := bound{maxTF, above[1]}
	best, bestLo, bestHi := 1e9, all, all
	lo := uint32(anyTF)
	for t := uint32(1); t < min(maxTF, top); t++ {
		lo = min(lo, minLen[t])
		if lo == anyTF {
			continue
		}
		a, b := bound{t, lo}, bound{maxTF, above[t+1]}
		if m := max(e.guess(a), e.guess(b)); m < best {
			best, bestLo, bestHi = m, a, b
		}
	}
	for _, p := range [2]bound{bestLo, bestHi} {
		dst = put16(put16(dst, uint16(p.tf)), uint16(p.len))
	}
	return dst
}

// guess weighs bounds with the default parameters: any choice is correct, and
// this one is tight when a search uses the same.
func (e *termEnc) guess(b bound) float64 {
	m := DefaultBM25
	return m.impact(1, float64(b.tf), m.norm(float64(b.len), e.avg))
}

// finish ends the term and returns its encoded postings, valid until reset.
// A term in fewer than blockLen documents has one block and no skip table.
func (e *termEnc) finish() (skip, body []byte) {
	if e.n > 0 {
		e.flush()
	}
	return e.skip, e.body
}
