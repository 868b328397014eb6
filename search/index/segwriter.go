package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A segWriter writes one segment file: files and documents first, then terms
// in key order, then trigrams in order. Postings, positions and payloads
// stream through files; the dictionary and the tables stay in memory.
type segWriter struct {
	path   string
	out    *stream // the segment itself, which begins with the postings
	pos    *stream // positions, moved behind the postings at the end
	pay    *stream // payloads, moved behind the positions
	h      header
	schema Schema
	sec    [numSections][]byte // the sections kept in memory
	cap    uint64              // most bytes of a section; tests lower it

	enc   termEnc
	terms int
	last  []byte // key of the last term

	names  []byte
	hashes []byte
	attrs  [][]uint32
	tris   int
	tri    uint32 // last trigram of the open block
}

func newSegWriter(path string, schema Schema) (*segWriter, error) {
	temp := stream{dir: filepath.Dir(path), owner: ownerOf(filepath.Base(path))}
	out, pos, pay := temp, temp, temp
	w := &segWriter{path: path, schema: schema, cap: maxSection, attrs: make([][]uint32, len(schema.Attrs)),
		out: &out, pos: &pos, pay: &pay}
	w.h.fields = uint32(len(schema.Fields))
	if err := w.out.open(); err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	if _, err := w.out.f.Write(make([]byte, headerSize)); err != nil {
		w.abort()
		return nil, fmt.Errorf("create segment: %w", err)
	}
	return w, nil
}

// abort removes what has been written. It does nothing after finish.
func (w *segWriter) abort() {
	w.out.remove()
	w.pos.remove()
	w.pay.remove()
}

func (w *segWriter) addFile(path string, hash Hash) {
	w.sec[secNames] = put32(w.sec[secNames], uint32(len(w.names)))
	w.names = append(w.names, path...)
	w.sec[secFiles] = put32(w.sec[secFiles], w.h.docs)
	w.hashes = append(w.hashes, hash[:]...)
	w.h.files++
}

func (w *segWriter) addDoc(start, end uint32, attrs []uint32, payload []byte) error {
	if w.h.docs == noDoc-1 {
		return fmt.Errorf("more than %d documents: %w", w.h.docs, ErrTooLarge)
	}
	w.sec[secDocs] = put32(put32(w.sec[secDocs], start), end)
	w.sec[secPayIndex] = put32(w.sec[secPayIndex], uint32(w.pay.len))
	w.pay.write(payload)
	for i := range w.attrs {
		v := uint32(0)
		if i < len(attrs) {
			v = attrs[i]
		}
		w.attrs[i] = append(w.attrs[i], v)
	}
	w.h.docs++
	return w.fits(w.pay.len, secPayload)
}

// fits reports ErrTooLarge when a section has outgrown the offsets into it.
func (w *segWriter) fits(n uint64, s section) error {
	if n > w.cap {
		return fmt.Errorf("section %s of %d bytes: %w", s, n, ErrTooLarge)
	}
	return nil
}

// endTables ends the tables of files and documents; terms follow.
// lens holds the token counts of the documents, by field.
func (w *segWriter) endTables(lens [][]uint32) {
	w.sec[secOrder] = encodeOrder(w.sec[secNames], w.names)
	w.sec[secNames] = append(put32(w.sec[secNames], uint32(len(w.names))), w.names...)
	w.sec[secFiles] = append(put32(w.sec[secFiles], w.h.docs), w.hashes...)
	w.sec[secPayIndex] = put32(w.sec[secPayIndex], uint32(w.pay.len))
	if w.pay.len == 0 {
		w.sec[secPayIndex] = nil
	}
	w.names, w.hashes = nil, nil
	for f, l := range lens {
		w.sec[secLens], w.h.lenWidth[f] = appendLens(w.sec[secLens], l)
		for _, n := range l {
			w.h.totalLen[f] += uint64(n)
		}
	}
	for i, col := range w.attrs {
		for _, v := range col {
			w.sec[secAttrs] = put32(w.sec[secAttrs], v)
		}
		w.attrs[i] = nil
	}
	w.sec[secSchema] = w.schema.encode()
}

// encodeOrder returns the file numbers in the order of their paths, and then
// the place of each file in that order.
func encodeOrder(ends, names []byte) []byte {
	n := len(ends) / 4
	name := func(i uint32) string {
		end := uint32(len(names))
		if int(i)+1 < n {
			end = le32(ends[4*i+4:])
		}
		return string(names[le32(ends[4*i:]):end])
	}
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(strings.Compare(name(a), name(b)), cmp.Compare(a, b))
	})
	rank := make([]uint32, n)
	var b []byte
	for i, f := range order {
		rank[f] = uint32(i)
		b = put32(b, f)
	}
	for _, r := range rank {
		b = put32(b, r)
	}
	return b
}

// appendLens appends lengths in the fewest bytes that hold all of them exactly:
// none when all are zero, else one, two or four each.
func appendLens(dst []byte, lens []uint32) ([]byte, uint8) {
	most := uint32(0)
	for _, n := range lens {
		most = max(most, n)
	}
	switch {
	case most == 0:
		return dst, 0
	case most <= 0xff:
		for _, n := range lens {
			dst = append(dst, byte(n))
		}
		return dst, 1
	case most <= 0xffff:
		for _, n := range lens {
			dst = put16(dst, uint16(n))
		}
		return dst, 2
	}
	for _, n := range lens {
		dst = put32(dst, n)
	}
	return dst, 4
}

func (w *segWriter) startTerm(field uint8) {
	avg := 1.0
	if field != pathField && w.h.docs > 0 {
		avg = float64(w.h.totalLen[field]) / float64(w.h.docs)
	}
	w.enc.reset(avg)
}

// endTerm writes the term whose documents have been added to w.enc and whose
// positions have been written to w.pos.
func (w *segWriter) endTerm(key []byte) error {
	e := &w.enc
	if e.df == 0 {
		return nil
	}
	skip, body := e.finish()
	d := w.sec[secDict]
	shared := 0
	if w.terms%dictBlock == 0 {
		w.sec[secDictIndex] = put64(put32(w.sec[secDictIndex], uint32(len(d))), keyPrefix(key))
		d = putUv(putUv(d, w.out.len), w.pos.len-uint64(e.posLen))
	} else {
		for shared < min(len(key), len(w.last)) && key[shared] == w.last[shared] {
			shared++
		}
	}
	d = putUv(putUv(d, uint64(shared)), uint64(len(key)-shared))
	d = append(d, key[shared:]...)
	w.sec[secDict] = putUv(putUv(putUv(d, uint64(e.df)), uint64(len(skip)+len(body))), uint64(e.posLen))
	w.out.write(skip)
	w.out.write(body)
	w.last = append(w.last[:0], key...)
	w.terms++
	return cmp.Or(w.fits(w.out.len, secPost), w.fits(w.pos.len, secPos), w.fits(uint64(len(d)), secDict))
}

// addTrigram writes the files of a trigram; trigrams come in ascending order.
func (w *segWriter) addTrigram(tri uint32, files []uint32) error {
	if len(files) == 0 {
		return nil
	}
	post := w.sec[secTriPost]
	if w.tris%triBlock == 0 {
		w.sec[secTriIndex] = put32(put32(put32(w.sec[secTriIndex], tri), uint32(len(w.sec[secTriDict]))), uint32(len(post)))
		w.tri = tri
	}
	n := len(post)
	last := uint32(0)
	for _, f := range files {
		post = putUv(post, uint64(f-last))
		last = f
	}
	kind := uint64(0)
	if size := (int(w.h.files) + 7) / 8; len(post)-n > size {
		kind, post = 1, append(post[:n], make([]byte, size)...)
		for _, f := range files {
			post[n+int(f/8)] |= 1 << (f % 8)
		}
	}
	d := putUv(w.sec[secTriDict], uint64(tri-w.tri))
	d = putUv(d, uint64(len(files))<<1|kind)
	w.sec[secTriDict] = putUv(d, uint64(len(post)-n))
	w.sec[secTriPost] = post
	w.tri = tri
	w.tris++
	return w.fits(uint64(len(post)), secTriPost)
}

// finish completes the file, makes it durable and gives it its name. The
// caller syncs the folder, which writing a manifest does.
func (w *segWriter) finish() error {
	if err := w.writeSections(); err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	if err := w.out.f.Close(); err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	if err := os.Rename(w.out.f.Name(), w.path); err != nil {
		return fmt.Errorf("name segment: %w", err)
	}
	w.out.f = nil
	w.abort()
	return nil
}

func (w *segWriter) writeSections() error {
	w.out.write(make([]byte, 8)) // unpack reads past the last block
	if err := w.out.flush(); err != nil {
		return err
	}
	f, off := w.out.f, uint64(headerSize)
	for i, s := range []*stream{w.out, w.pos, w.pay} {
		if s != w.out {
			if err := s.copyTo(f); err != nil {
				return err
			}
		}
		w.h.sections[i] = sectionRef{off, s.len, s.crc}
		off += s.len
	}
	for i := secDict; i < numSections; i++ {
		b := w.sec[i]
		if err := w.fits(uint64(len(b)), i); err != nil {
			return err
		}
		w.h.sections[i] = sectionRef{off, uint64(len(b)), crc32.Checksum(b, castagnoli)}
		if _, err := f.Write(b); err != nil {
			return err
		}
		off += uint64(len(b))
	}
	// The header goes last: a file without one is not a segment.
	if _, err := f.WriteAt(w.h.encode(), 0); err != nil {
		return err
	}
	if isTemp(w.path) {
		return nil // a part, which need not outlive a crash
	}
	return f.Sync()
}

// isTemp reports whether a file has the name of an unfinished one.
func isTemp(path string) bool { return strings.HasPrefix(filepath.Base(path), tempPrefix) }

// shiftFor returns the bits that hold every position below n.
func shiftFor(n uint32) int { return bits.Len32(n) }
