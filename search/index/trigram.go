package index

import (
	"fmt"
	"math/bits"
	"sort"
)

// Trigrams are three bytes of a file with ASCII letters folded to lower case.

// A triSet finds the distinct trigrams of a text.
type triSet struct {
	seen []uint64 // bit per trigram, clear between calls
}

var foldByte = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()

// distinct appends the distinct trigrams of s, in no order.
func (t *triSet) distinct(dst []uint32, s string) []uint32 {
	if len(s) < 3 {
		return dst
	}
	if t.seen == nil {
		t.seen = make([]uint64, 1<<24/64)
	}
	n := len(dst)
	v := uint32(foldByte[s[0]])<<8 | uint32(foldByte[s[1]])
	for i := 2; i < len(s); i++ {
		v = (v<<8 | uint32(foldByte[s[i]])) & 0xffffff
		if w, m := &t.seen[v>>6], uint64(1)<<(v&63); *w&m == 0 {
			*w |= m
			dst = append(dst, v)
		}
	}
	for _, v := range dst[n:] {
		t.seen[v>>6] = 0
	}
	return dst
}

// writeTrigrams turns the trigrams of the files into postings, by a counting
// sort over the trigrams that occur.
func (w *Writer) writeTrigrams(sw *segWriter) error {
	if len(w.triIDs) == 0 {
		return nil
	}
	have := w.tri.seen // all clear, and cleared again below
	defer clear(have)
	for _, t := range w.triIDs {
		have[t>>6] |= 1 << (t & 63)
	}
	rank := make([]uint32, len(have)) // trigrams before those of each word of have
	n := uint32(0)
	for i, b := range have {
		rank[i] = n
		n += uint32(bits.OnesCount64(b))
	}
	number := func(t uint32) uint32 {
		return rank[t>>6] + uint32(bits.OnesCount64(have[t>>6]&(1<<(t&63)-1)))
	}
	at := make([]uint32, n+1)
	for _, t := range w.triIDs {
		at[number(t)+1]++
	}
	startOffsets(at)
	slots := w.scratch(len(w.triIDs))
	i := uint32(0)
	for file, end := range w.triEnd {
		for ; i < end; i++ {
			a := &at[number(w.triIDs[i])+1]
			slots[*a] = uint32(file)
			*a++
		}
	}
	n = 0
	for i, b := range have {
		for ; b != 0; b &= b - 1 {
			tri := uint32(i*64 + bits.TrailingZeros64(b))
			if err := sw.addTrigram(tri, slots[at[n]:at[n+1]]); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// triIter walks the trigram dictionary in order.
type triIter struct {
	s      *Segment
	blk    int
	n, i   int // entries done in the block, offset in triDict
	post   int
	tri    uint32
	df     int
	bitmap bool
	data   []byte
	err    error
}

func (s *Segment) triBlocks() int { return len(s.sec[secTriIndex]) / 12 }

func (t *triIter) enter(b int) {
	e := t.s.sec[secTriIndex][12*b:]
	t.blk, t.n, t.tri, t.i, t.post = b+1, 0, le32(e), int(le32(e[4:])), int(le32(e[8:]))
}

func (t *triIter) next() bool {
	dict, posts := t.s.sec[secTriDict], t.s.sec[secTriPost]
	if t.blk == 0 || t.n == triBlock {
		if t.blk >= t.s.triBlocks() {
			return false
		}
		t.enter(t.blk)
	} else if t.i >= len(dict) {
		return false
	}
	d, i := uv(dict, t.i)
	df, i := uv(dict, i)
	size, i := uv(dict, i)
	if i < 0 || d > 1<<24 || df>>1 > uint64(t.s.h.files) || uint(t.post) > uint(len(posts)) || size > uint64(len(posts)-t.post) ||
		df&1 == 1 && size != (uint64(t.s.h.files)+7)/8 {
		t.err = fmt.Errorf("trigram dictionary: %w", ErrCorrupt)
		return false
	}
	t.tri += uint32(d)
	t.df, t.bitmap, t.data = int(df>>1), df&1 == 1, posts[t.post:t.post+int(size)]
	t.i, t.post, t.n = i, t.post+int(size), t.n+1
	return true
}

// find moves to a trigram and reports whether it is there.
func (t *triIter) find(tri uint32) bool {
	idx := t.s.sec[secTriIndex]
	b := sort.Search(t.s.triBlocks(), func(i int) bool { return le32(idx[12*i:]) > tri })
	if b == 0 {
		return false
	}
	t.enter(b - 1)
	for t.n < triBlock && t.next() {
		if t.tri >= tri {
			return t.tri == tri
		}
	}
	return false
}

// files appends the files of the current trigram to dst.
func (t *triIter) files(dst []uint32) ([]uint32, error) {
	from, limit := len(dst), uint64(t.s.h.files)
	bad := fmt.Errorf("trigram postings: %w", ErrCorrupt)
	if t.bitmap {
		for i, c := range t.data {
			for ; c != 0; c &= c - 1 {
				dst = append(dst, uint32(8*i+bits.TrailingZeros8(c)))
			}
		}
		if n := len(dst); n > from && uint64(dst[n-1]) >= limit {
			return dst[:from], bad
		}
		return dst, nil
	}
	f, i := uint64(0), 0
	for n := range t.df {
		var d uint64
		if d, i = uv(t.data, i); i < 0 || d >= limit || n > 0 && d == 0 {
			return dst[:from], bad
		}
		if f += d; f >= limit {
			return dst[:from], bad
		}
		dst = append(dst, uint32(f))
	}
	return dst, nil
}
