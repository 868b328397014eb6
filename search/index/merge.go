package index

import (
	"bytes"
	"fmt"
)

// A MergeInput is a segment to merge and the files in it to leave out.
type MergeInput struct {
	Segment *Segment
	Deleted FileSet
}

// remap holds the new number of each file and document, noDoc if it is dropped.
type remap struct {
	seg         *Segment
	files, docs []uint32
}

// Merge writes one segment to path that holds the files of all inputs, in their
// order. Postings are copied, not made again from text. The inputs must have
// equal schemas and stay open. Nothing is left at path after an error.
func Merge(path string, inputs []MergeInput) error {
	if len(inputs) == 0 {
		return fmt.Errorf("merge %s: no inputs", path)
	}
	for _, in := range inputs {
		if in.Segment.code != inputs[0].Segment.code {
			return fmt.Errorf("merge %s: segments %s and %s have different schemas", path, inputs[0].Segment.path, in.Segment.path)
		}
		if !in.Segment.retain() {
			return fmt.Errorf("merge %s: segment %s: %w", path, in.Segment.path, ErrClosed)
		}
		defer in.Segment.Close()
	}
	w, err := newSegWriter(path, inputs[0].Segment.schema)
	if err != nil {
		return err
	}
	defer w.abort()
	return guard(func() error { return merge(w, inputs) })
}

func merge(w *segWriter, inputs []MergeInput) (err error) {
	maps := make([]remap, len(inputs))
	lens := make([][]uint32, len(w.schema.Fields))
	for i, in := range inputs {
		if maps[i], err = mergeTables(w, in, lens); err != nil {
			return fmt.Errorf("merge %s: %w", in.Segment.path, err)
		}
	}
	w.endTables(lens)
	if err := mergeTerms(w, maps, lens); err != nil {
		return fmt.Errorf("merge into %s: %w", w.path, err)
	}
	if err := mergeTrigrams(w, maps); err != nil {
		return fmt.Errorf("merge into %s: %w", w.path, err)
	}
	return w.finish()
}

func mergeTables(w *segWriter, in MergeInput, lens [][]uint32) (remap, error) {
	s := in.Segment
	m := remap{s, make([]uint32, s.h.files), make([]uint32, s.h.docs)}
	attrs := make([]uint32, len(s.schema.Attrs))
	doc := uint32(0)
	for f := range m.files {
		end := s.firstDoc(f + 1)
		if in.Deleted.Has(f) {
			m.files[f] = noDoc
			for ; doc < end; doc++ {
				m.docs[doc] = noDoc
			}
			continue
		}
		m.files[f] = w.h.files
		w.addFile(string(s.name(f)), s.hash(f))
		for ; doc < end; doc++ {
			m.docs[doc] = w.h.docs
			for i := range attrs {
				attrs[i] = s.attr(i, doc)
			}
			start, stop := s.docRange(doc)
			if err := w.addDoc(start, stop, attrs, s.payload(doc)); err != nil {
				return m, err
			}
			for i := range lens {
				lens[i] = append(lens[i], s.lens[i].of(doc))
			}
		}
	}
	if doc != s.h.docs {
		return m, fmt.Errorf("files: %w", ErrCorrupt)
	}
	return m, nil
}

func mergeTerms(w *segWriter, maps []remap, lens [][]uint32) error {
	its := make([]dictIter, len(maps))
	live := make([]bool, len(maps))
	for i, m := range maps {
		its[i].s = m.seg
		live[i] = its[i].next()
	}
	var key []byte
	var p postings
	for {
		first := -1
		for i := range its {
			if its[i].err != nil {
				return its[i].err
			}
			if live[i] && (first < 0 || bytes.Compare(its[i].key, its[first].key) < 0) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		key = append(key[:0], its[first].key...)
		w.startTerm(key[0])
		for i := range its {
			if !live[i] || !bytes.Equal(its[i].key, key) {
				continue
			}
			if err := mergePostings(w, &p, its[i].info, maps[i], lens); err != nil {
				return err
			}
			live[i] = its[i].next()
			if live[i] && bytes.Compare(its[i].key, key) <= 0 {
				return errDict
			}
		}
		if err := w.endTerm(key); err != nil {
			return err
		}
	}
}

// mergePostings appends the postings of one input to the open term.
func mergePostings(w *segWriter, p *postings, t termInfo, m remap, lens [][]uint32) error {
	if err := m.seg.postings(t, p); err != nil {
		return err
	}
	ids := m.docs
	if t.field == pathField {
		ids = m.files
	}
	// A term has positions for all its documents or for none.
	hasPos := len(t.pos) > 0
	from, off := 0, 0 // positions to copy, end of those seen
	for b := range p.nblk {
		if err := p.load(b); err != nil {
			return err
		}
		p.i = 0
		p.tf()
		for i, old := range p.docs[:p.n] {
			tf, n, docLen := p.tfs[i], 0, uint32(0)
			if uint64(old) >= uint64(len(ids)) {
				return errPostings
			}
			doc := ids[old]
			if hasPos {
				end := skipUv(t.pos, off, tf)
				if end < 0 {
					return errPositions
				}
				n = end - off
				if doc == noDoc {
					w.pos.write(t.pos[from:off])
					from = end
				}
				off = end
			}
			if doc == noDoc {
				continue
			}
			if t.field != pathField {
				docLen = lens[t.field][doc]
			}
			w.enc.add(doc, tf, docLen, n)
		}
	}
	w.pos.write(t.pos[from:off])
	return nil
}

func mergeTrigrams(w *segWriter, maps []remap) error {
	its := make([]triIter, len(maps))
	live := make([]bool, len(maps))
	for i, m := range maps {
		its[i].s = m.seg
		live[i] = its[i].next()
	}
	var files, tmp []uint32
	for {
		tri := noDoc
		for i := range its {
			if its[i].err != nil {
				return its[i].err
			}
			if live[i] {
				tri = min(tri, its[i].tri)
			}
		}
		if tri == noDoc {
			return nil
		}
		files = files[:0]
		for i := range its {
			t := &its[i]
			if !live[i] || t.tri != tri {
				continue
			}
			var err error
			if tmp, err = t.files(tmp[:0]); err != nil {
				return err
			}
			for _, f := range tmp {
				if n := maps[i].files[f]; n != noDoc {
					files = append(files, n)
				}
			}
			live[i] = t.next()
			if live[i] && t.tri <= tri {
				return fmt.Errorf("trigram dictionary: %w", ErrCorrupt)
			}
		}
		if err := w.addTrigram(tri, files); err != nil {
			return err
		}
	}
}
