package index

import (
	"slices"

	"codesage/search/query"
)

// A phraseIter walks the documents that have words at given distances.
type phraseIter struct {
	scorer // of the phrase: its idf is the sum of the words'
	words  []phraseWord
	stop   *stopper
	count  uint32 // occurrences in the current document
	bufs   [2][]uint32
	err    error
	place
}

type phraseWord struct {
	postings
	offset uint32 // distance from the first word of the phrase
}

// phrase makes the cursor of a phrase in segment i.
func (p *plan) phrase(i int, q query.Phrase) (cursor, error) {
	s := p.x.parts[i].seg
	ph := &phraseIter{stop: p.stop, scorer: scorer{norms: p.norms[q.Field], lens: s.lens[q.Field]}}
	for off, w := range q.Words {
		if w == "" {
			continue
		}
		t := p.terms[string(termKey(uint8(q.Field), w))]
		if t.parts[i].df == 0 {
			return none{}, nil
		}
		ph.words = append(ph.words, phraseWord{offset: uint32(off)})
		if err := s.postings(t.parts[i], &ph.words[len(ph.words)-1].postings); err != nil {
			return nil, err
		}
		ph.idf += t.idf
	}
	if len(ph.words) == 0 {
		return none{}, nil
	}
	if q.Weight != 0 {
		ph.idf *= q.Weight
	}
	slices.SortStableFunc(ph.words, func(a, b phraseWord) int { return int(a.df) - int(b.df) })
	return ph, nil
}

func (p *phraseIter) advance(target uint32) uint32 {
	if p.stays(target) {
		return p.doc
	}
next:
	for target != noDoc && p.stop.ok() {
		doc := p.words[0].advance(target)
		if doc == noDoc {
			break
		}
		for i := range p.words[1:] {
			if d := p.words[i+1].advance(doc); d != doc {
				target = d
				continue next
			}
		}
		if p.count = p.occurrences(); p.count > 0 {
			return p.set(doc)
		}
		if p.err != nil {
			break
		}
		target = doc + 1
	}
	return p.set(noDoc)
}

// occurrences counts the phrase in the document that all words are at. It
// starts from the rarest word and keeps the places where the others fit.
func (p *phraseIter) occurrences() uint32 {
	first := &p.words[0]
	if len(p.words) == 1 && first.offset == 0 {
		return first.tf()
	}
	at := first.positions(p.bufs[0][:0])
	n := 0
	for _, v := range at { // to the place of the phrase's first word
		if v >= first.offset {
			at[n] = v - first.offset
			n++
		}
	}
	at = at[:n]
	p.bufs[0] = at
	for i := range p.words[1:] {
		w := &p.words[i+1]
		if len(at) == 0 {
			break
		}
		other := w.positions(p.bufs[1][:0])
		p.bufs[1] = other
		n, j := 0, 0
		for _, v := range at {
			for j < len(other) && other[j] < v+w.offset {
				j++
			}
			if j < len(other) && other[j] == v+w.offset {
				at[n] = v
				n++
			}
		}
		at = at[:n]
	}
	for i := range p.words {
		if err := p.words[i].err; err != nil {
			p.err = err
			return 0
		}
	}
	return uint32(len(at))
}

func (p *phraseIter) score() float64 { return p.of(p.doc, p.count) }
func (p *phraseIter) cost() int      { return int(p.words[0].df) }

// bound uses that a phrase occurs at most as often as each of its words.
func (p *phraseIter) bound(target uint32) (float64, uint32) {
	best, last := -1.0, noDoc
	for i := range p.words {
		w := &p.words[i].postings
		if !w.shallow(target) {
			return 0, noDoc
		}
		if s := p.block(w, w.cur); best < 0 || s < best {
			best = s
		}
		last = min(last, w.last(w.cur))
	}
	return best, last
}

func (p *phraseIter) fail() error {
	if p.err != nil {
		return p.err
	}
	for i := range p.words {
		if err := p.words[i].err; err != nil {
			return err
		}
	}
	return nil
}
