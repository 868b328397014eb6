package index

import (
	"fmt"
	"math/bits"
	"os"
)

// Finish writes a segment with everything that was added to path and empties
// the Writer. The segment becomes part of an index when a manifest names it.
func (w *Writer) Finish(path string) error {
	if len(w.done) == 0 {
		return w.flush(path)
	}
	parts, err := w.takeParts()
	if err != nil {
		return err
	}
	return mergeParts(parts, path)
}

// flush writes what is in memory as a segment.
func (w *Writer) flush(path string) error {
	sw, err := newSegWriter(path, w.opt.Schema)
	if err != nil {
		return err
	}
	sw.cap = w.cap
	defer sw.abort()
	if err := w.writeTables(sw); err != nil {
		return err
	}
	order := w.terms.sorted()
	for f, fd := range w.opt.Schema.Fields {
		if err := w.writeField(sw, uint8(f), w.source(f, fd), order); err != nil {
			return err
		}
	}
	if err := w.writeField(sw, pathField, w.pathSource(), order); err != nil {
		return err
	}
	if err := w.writeTrigrams(sw); err != nil {
		return err
	}
	if err := sw.finish(); err != nil {
		return err
	}
	w.clear()
	return nil
}

func (w *Writer) writeTables(sw *segWriter) error {
	d, n := 0, len(w.opt.Schema.Attrs)
	pay := uint32(0)
	for i, f := range w.files {
		sw.addFile(f.path, f.hash)
		end := len(w.docs)
		if i+1 < len(w.files) {
			end = int(w.files[i+1].doc)
		}
		for ; d < end; d++ {
			e := w.docs[d]
			if err := sw.addDoc(e.start, e.end, w.attrs[n*d:n*(d+1)], w.payload[pay:e.payEnd]); err != nil {
				return err
			}
			pay = e.payEnd
		}
	}
	sw.endTables(w.lens)
	return nil
}

// A termSource gives the occurrences of a field's terms.
type termSource struct {
	stream    *stream32
	terms     func(id uint32) []uint32 // of a token in the stream
	positions bool
	lens      []uint32 // nil for a field without lengths
}

func (w *Writer) source(f int, fd Field) termSource {
	src := termSource{stream: &w.streams[f], lens: w.lens[f]}
	switch fd.Kind {
	case Parts:
		src.stream, src.terms = &w.streams[fd.Of], w.partTerms
	case Keyword:
		ids := make([]uint32, w.terms.len())
		for i := range ids {
			ids[i] = uint32(i)
		}
		src.terms, src.lens = func(id uint32) []uint32 { return ids[id : id+1] }, nil
	default:
		src.terms, src.positions = w.wholeTerm, true
	}
	return src
}

// pathSource is the source of the paths' words, whole and in parts.
func (w *Writer) pathSource() termSource {
	var both []uint32
	return termSource{stream: &w.streams[len(w.lens)], terms: func(id uint32) []uint32 {
		both = append(append(both[:0], w.wholeTerm(id)...), w.partTerms(id)...)
		return both
	}}
}

func (w *Writer) wholeTerm(id uint32) []uint32 {
	if w.whole[id] == noTerm {
		return nil
	}
	return w.whole[id : id+1]
}

func (w *Writer) partTerms(id uint32) []uint32 { return w.parts[w.partAt[id]:w.partAt[id+1]] }

// writeField turns a stream of tokens into postings.
func (w *Writer) writeField(sw *segWriter, field uint8, src termSource, order []uint32) error {
	shift := 0
	if src.positions {
		shift = shiftFor(w.longest)
	}
	if bits.Len(uint(len(src.stream.ends)))+shift > 32 {
		return fmt.Errorf("field %d: %d documents of up to %d tokens: %w", field, len(src.stream.ends), w.longest, ErrTooLarge)
	}
	at, slots := w.sortTokens(src, shift)
	key := []byte{field}
	for _, t := range order {
		list := slots[at[t]:at[t+1]]
		if len(list) == 0 {
			continue
		}
		sw.startTerm(field)
		w.encodeTerm(sw, src, list, shift)
		key = append(key[:1], w.terms.bytes(t)...)
		if err := sw.endTerm(key); err != nil {
			return err
		}
	}
	return nil
}

// sortTokens is the counting sort: slots holds document<<shift | position of
// each occurrence of term t, ascending, from at[t] to at[t+1].
func (w *Writer) sortTokens(src termSource, shift int) (at, slots []uint32) {
	ids := w.raw.len()
	if src.terms != nil && !src.positions {
		ids = max(ids, w.terms.len()) // the ids of a Keyword field are terms
	}
	count := make([]uint32, ids)
	for _, id := range src.stream.toks {
		count[id]++
	}
	at = make([]uint32, w.terms.len()+1) // at[t+1]: first slot of term t, later its end
	total := uint32(0)
	for id, n := range count {
		if n == 0 {
			continue
		}
		for _, t := range src.terms(uint32(id)) {
			at[t+1] += n
			total += n
		}
	}
	startOffsets(at)
	slots = w.scratch(int(total))
	i := uint32(0)
	for doc, end := range src.stream.ends {
		v, step := uint32(doc)<<shift, uint32(0)
		if src.positions {
			step = 1
		}
		for ; i < end; i++ {
			for _, t := range src.terms(src.stream.toks[i]) {
				slots[at[t+1]] = v
				at[t+1]++
			}
			v += step
		}
	}
	return at, slots
}

// encodeTerm adds the documents and positions of one term.
func (w *Writer) encodeTerm(sw *segWriter, src termSource, list []uint32, shift int) {
	pos := w.buf[:0]
	for j := 0; j < len(list); {
		doc := list[j] >> shift
		n, last, from := j, uint32(0), len(pos)
		for ; n < len(list) && list[n]>>shift == doc; n++ {
			if !src.positions {
				continue
			}
			p := list[n] & (1<<shift - 1)
			pos = putUv(pos, uint64(p-last))
			last = p
		}
		docLen := uint32(0)
		if src.lens != nil {
			docLen = src.lens[doc]
		}
		sw.enc.add(doc, uint32(n-j), docLen, len(pos)-from)
		j = n
	}
	sw.pos.write(pos)
	w.buf = pos
}

// startOffsets turns counts, of which at[i+1] is that of i, into the places
// where each begins, in at[i+1]; once filled, at[i] to at[i+1] is the range of i.
func startOffsets(at []uint32) {
	sum := uint32(0)
	for i := 1; i < len(at); i++ {
		at[i], sum = sum, sum+at[i]
	}
}

// scratch returns n numbers that a counting sort may write to.
func (w *Writer) scratch(n int) []uint32 {
	if cap(w.slots) < n {
		w.slots = make([]uint32, n+n/8)
	}
	return w.slots[:n]
}

// mergeParts merges whole segments into one at path and removes them, also
// after an error.
func mergeParts(parts []string, path string) error {
	defer func() {
		for _, p := range parts {
			os.Remove(p)
		}
	}()
	if len(parts) == 1 {
		return namePart(parts[0], path)
	}
	var in []MergeInput
	for _, p := range parts {
		s, err := Open(p)
		if err != nil {
			return err
		}
		defer s.Close()
		in = append(in, MergeInput{Segment: s})
	}
	return Merge(path, in)
}

// namePart makes a part durable and gives it the name of a segment.
func namePart(part, path string) error {
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("name segment: %w", err)
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return fmt.Errorf("name segment: %w", err)
	}
	return nil
}
