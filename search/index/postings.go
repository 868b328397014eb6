package index

import "fmt"

var (
	errPostings  = fmt.Errorf("postings: %w", ErrCorrupt)
	errPositions = fmt.Errorf("positions: %w", ErrCorrupt)
)

// postings iterates over the documents of one term.
type postings struct {
	df, limit uint32 // limit: documents in the segment
	skip      []byte // nil when the term has a single block
	rest      []byte // blocks, then whatever follows them in the section
	size      int    // bytes of blocks
	pos       []byte // positions of the term
	nblk      int

	cur    int // block that the shallow cursor is at
	blk    int // block that is decoded, -1 for none
	n, i   int
	doc    uint32
	done   bool
	docs   [blockLen]uint32
	tfs    [blockLen]uint32
	tfOff  int // where the packed tfs of blk are, -1 when they are in tfs
	posBlk int // block, document and offset of the positions cursor
	posIdx int
	posOff int
	err    error
}

// postings makes p iterate over a term; p may have been used before.
func (s *Segment) postings(t termInfo, p *postings) error {
	p.skip, p.cur, p.n, p.i, p.doc, p.done, p.err = nil, 0, 0, 0, 0, false, nil
	p.df, p.limit, p.pos, p.blk, p.posBlk = t.df, s.h.docs, t.pos, -1, -1
	if t.field == pathField {
		p.limit = s.h.files
	}
	p.nblk = int((uint64(t.df) + blockLen - 1) / blockLen)
	p.rest, p.size = t.post, t.postLen
	if t.df == 0 || t.df > p.limit {
		return errPostings
	}
	if t.df >= blockLen {
		n := p.nblk * skipSize
		if n > t.postLen {
			return errPostings
		}
		p.skip, p.rest, p.size = t.post[:n], t.post[n:], t.postLen-n
		return nil
	}
	return p.load(0)
}

// last returns the last document of block b.
func (p *postings) last(b int) uint32 {
	if p.skip == nil {
		return p.docs[p.n-1]
	}
	return le32(p.skip[b*skipSize:])
}

// load decodes the documents of block b.
func (p *postings) load(b int) error {
	off, next, n := 0, uint64(0), int(p.df)
	if p.skip != nil {
		off = int(le32(p.skip[b*skipSize+4:]))
		if b > 0 {
			next = uint64(p.last(b-1)) + 1
		}
		n = min(int(p.df)-b*blockLen, blockLen)
	}
	if uint(off) > uint(p.size) {
		return errPostings
	}
	var err error
	if n == blockLen {
		next, err = p.loadPacked(p.rest[off:], off, next)
	} else {
		next, err = p.loadTail(p.rest[off:], next, n)
	}
	if err != nil {
		return err
	}
	if next == 0 || next > uint64(p.limit) || p.skip != nil && p.last(b) != uint32(next-1) {
		return errPostings
	}
	p.blk, p.n = b, n
	return nil
}

func (p *postings) loadPacked(src []byte, off int, next uint64) (uint64, error) {
	if len(src) < 2 || src[0] > 32 || src[1] > 32 || len(src) < 2+16*(int(src[0])+int(src[1]))+8 {
		return 0, errPostings
	}
	unpack(src[2:], uint(src[0]), &p.docs)
	for i, g := range p.docs {
		next += uint64(g)
		p.docs[i] = uint32(next)
		next++
	}
	p.tfOff = off
	return next, nil
}

func (p *postings) loadTail(src []byte, next uint64, n int) (uint64, error) {
	i := 0
	for j := range n {
		var g uint64
		g, i = uv(src, i)
		tf := uint64(1)
		if g&1 == 0 {
			tf, i = uv(src, i)
		}
		next += g >> 1
		if i < 0 || next >= uint64(p.limit) || tf == 0 || tf > maxTF {
			return 0, errPostings
		}
		p.docs[j], p.tfs[j] = uint32(next), uint32(tf)
		next++
	}
	p.tfOff = -1
	return next, nil
}

// maxTF bounds the frequencies that a damaged file can claim; a document has
// fewer tokens, though parts can be several to a token.
const maxTF = 1 << 31

// tf returns the term frequency in the current document.
func (p *postings) tf() uint32 {
	if p.tfOff >= 0 {
		src := p.rest[p.tfOff:]
		unpack(src[2+16*int(src[0]):], uint(src[1]), &p.tfs)
		for i := range p.tfs {
			p.tfs[i]++
		}
		p.tfOff = -1
	}
	return p.tfs[p.i]
}

// shallow moves the shallow cursor to the block that would hold target, without
// decoding it. It reports false when no block does.
func (p *postings) shallow(target uint32) bool {
	if p.cur >= p.nblk {
		return false
	}
	if p.last(p.cur) >= target {
		return true
	}
	lo, step := p.cur, 1 // last(lo) < target
	hi := lo + step
	for hi < p.nblk && p.last(hi) < target {
		lo = hi
		step *= 2
		hi = lo + step
	}
	hi = min(hi, p.nblk)
	for hi-lo > 1 {
		if m := int(uint(lo+hi) / 2); p.last(m) < target {
			lo = m
		} else {
			hi = m
		}
	}
	p.cur = hi
	return hi < p.nblk
}

// advance moves to the first document at or after target and returns it, or
// noDoc. It does not move back.
func (p *postings) advance(target uint32) uint32 {
	if p.done {
		return noDoc
	}
	if p.blk < 0 || target > p.docs[p.n-1] {
		if !p.shallow(target) {
			return p.end(nil)
		}
		if p.cur != p.blk {
			if err := p.load(p.cur); err != nil {
				return p.end(err)
			}
		}
		p.i = 0
	}
	i := p.i
	for i+16 < p.n && p.docs[i+15] < target {
		i += 16
	}
	for i < p.n && p.docs[i] < target {
		i++
	}
	if i == p.n { // only in a block whose order is damaged
		return p.end(errPostings)
	}
	p.i, p.doc = i, p.docs[i]
	return p.doc
}

func (p *postings) end(err error) uint32 {
	p.err, p.doc, p.done = err, noDoc, true
	return noDoc
}

// nextInBlock moves to the next document of the current block; at its end it
// returns noDoc and stays, so that the block after it may yet be skipped.
func (p *postings) nextInBlock() uint32 {
	if p.i+1 >= p.n {
		return noDoc
	}
	p.i++
	p.doc = p.docs[p.i]
	return p.doc
}

// positions appends the positions in the current document to dst.
func (p *postings) positions(dst []uint32) []uint32 {
	tf := p.tf()
	if p.posBlk != p.blk || p.posIdx > p.i {
		p.posBlk, p.posIdx, p.posOff = p.blk, 0, 0
		if p.skip != nil {
			p.posOff = int(le32(p.skip[p.blk*skipSize+8:]))
		}
	}
	i := p.posOff
	for ; p.posIdx < p.i; p.posIdx++ {
		i = skipUv(p.pos, i, p.tfs[p.posIdx])
	}
	v := uint64(0)
	for range tf {
		var d uint64
		d, i = uv(p.pos, i)
		if i < 0 {
			p.err = errPositions
			return dst
		}
		v += d
		dst = append(dst, uint32(v))
	}
	p.posIdx, p.posOff = p.i+1, i
	return dst
}

// bounds returns the two bounds of block b of a term with a skip table.
func (p *postings) bounds(b int) [2]bound {
	e := p.skip[b*skipSize+12:]
	return [2]bound{{uint32(le16(e)), uint32(le16(e[2:]))}, {uint32(le16(e[4:])), uint32(le16(e[6:]))}}
}
