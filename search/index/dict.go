package index

import (
	"bytes"
	"fmt"
	"sort"
)

// A termInfo locates the postings of a term. The zero termInfo has none.
type termInfo struct {
	field   uint8
	df      uint32
	post    []byte // from the start of the postings to the end of the section
	postLen int
	pos     []byte
}

// dictIter walks the dictionary in key order. A key is the field byte and then
// the term.
type dictIter struct {
	s          *Segment
	blk, off   int // next block; offset in dict of the next entry
	end        int // end of the current block
	post, posn uint64
	key        []byte
	info       termInfo
	err        error
}

var errDict = fmt.Errorf("dictionary: %w", ErrCorrupt)

func (s *Segment) dictBlocks() int { return len(s.sec[secDictIndex]) / dictEntry }

func (s *Segment) dictOffset(b int) int { return int(le32(s.sec[secDictIndex][dictEntry*b:])) }

// enter makes block b the current one.
func (d *dictIter) enter(b int) bool {
	dict := d.s.sec[secDict]
	d.off, d.end = d.s.dictOffset(b), len(dict)
	if b+1 < d.s.dictBlocks() {
		d.end = d.s.dictOffset(b + 1)
	}
	if d.off > d.end || d.end > len(dict) {
		d.err = errDict
		return false
	}
	d.post, d.off = uv(dict[:d.end], d.off)
	d.posn, d.off = uv(dict[:d.end], d.off)
	d.blk = b + 1
	d.key = d.key[:0]
	if d.off < 0 {
		d.err = errDict
	}
	return d.err == nil
}

// next moves to the next entry.
func (d *dictIter) next() bool {
	if d.err != nil {
		return false
	}
	for d.off >= d.end {
		if d.blk >= d.s.dictBlocks() || !d.enter(d.blk) {
			return false
		}
	}
	b := d.s.sec[secDict][:d.end]
	shared, i := uv(b, d.off)
	n, i := uv(b, i)
	d.err = errDict
	if i < 0 || shared > uint64(len(d.key)) || n > uint64(len(b)-i) {
		return false
	}
	d.key = append(d.key[:shared], b[i:i+int(n)]...)
	df, i := uv(b, i+int(n))
	postLen, i := uv(b, i)
	posLen, i := uv(b, i)
	post, posn := d.s.sec[secPost], d.s.sec[secPos]
	if i < 0 || len(d.key) == 0 || df == 0 || df > uint64(noDoc) ||
		d.post > uint64(len(post)) || postLen > uint64(len(post))-d.post ||
		d.posn > uint64(len(posn)) || posLen > uint64(len(posn))-d.posn ||
		d.key[0] != pathField && uint32(d.key[0]) >= d.s.h.fields {
		return false
	}
	d.info = termInfo{field: d.key[0], df: uint32(df), post: post[d.post:], postLen: int(postLen),
		pos: posn[d.posn : d.posn+posLen]}
	d.post += postLen
	d.posn += posLen
	d.off, d.err = i, nil
	return true
}

// firstKey returns the first key of a block, nil when it is damaged.
func (s *Segment) firstKey(b int) []byte {
	dict, i := s.sec[secDict], s.dictOffset(b)
	_, i = uv(dict, i)
	_, i = uv(dict, i)
	_, i = uv(dict, i)
	n, i := uv(dict, i)
	if i < 0 || n > uint64(len(dict)-i) {
		return nil
	}
	return dict[i : i+int(n)]
}

// seek moves to the first entry whose key is not before key.
//
// The search goes over the key prefixes of the index and looks into the
// dictionary only where they are equal, so a cold lookup reads few pages.
func (d *dictIter) seek(key []byte) bool {
	prefix, idx := keyPrefix(key), d.s.sec[secDictIndex]
	d.err = nil
	n := sort.Search(d.s.dictBlocks(), func(b int) bool {
		if p := le64(idx[dictEntry*b+4:]); p != prefix {
			return p > prefix
		}
		first := d.s.firstKey(b)
		if first == nil {
			d.err = errDict
		}
		return bytes.Compare(first, key) > 0
	})
	if d.err != nil || d.s.dictBlocks() == 0 || !d.enter(max(n-1, 0)) {
		return false
	}
	for d.next() {
		if bytes.Compare(d.key, key) >= 0 {
			return true
		}
	}
	return false
}

func termKey(field uint8, term string) []byte { return append([]byte{field}, term...) }

// lookup finds a term; df is 0 when the segment does not have it.
func (s *Segment) lookup(field uint8, term string) (termInfo, error) {
	d := dictIter{s: s}
	key := termKey(field, term)
	if !d.seek(key) || !bytes.Equal(d.key, key) {
		return termInfo{}, d.err
	}
	return d.info, nil
}
