package index

import "hash/crc32"

// OpenBytes is Open for a file in memory, which tests damage.
func OpenBytes(b []byte) (*Segment, error) { return newSegment(b) }

// SectionRange returns where a section is in a segment file, by number.
func SectionRange(b []byte, i int) (name string, off, size uint64, ok bool) {
	var h header
	if i >= int(numSections) || h.decode(b) != nil {
		return "", 0, 0, false
	}
	return section(i).String(), h.sections[i].off, h.sections[i].len, true
}

// FixHeader makes the checksum of a damaged header right, so that what it says
// is looked at.
func FixHeader(b []byte) {
	if len(b) < headerSize {
		return
	}
	copy(b, magic)
	copy(b[headerSize-4:], put32(nil, crc32.Checksum(b[:headerSize-4], castagnoli)))
}

// LowerSectionCap makes a Writer fail with ErrTooLarge past n bytes a section.
func (w *Writer) LowerSectionCap(n uint64) { w.cap = n }

// Holds evaluates a query on one text.
func (q TriQuery) Holds(text string) bool {
	var set triSet
	have := map[uint32]bool{}
	for _, t := range set.distinct(nil, text) {
		have[t] = true
	}
	return q.holds(have)
}

func (q TriQuery) holds(have map[uint32]bool) bool {
	for _, t := range q.tri {
		if !have[t] {
			return false
		}
	}
	for _, alts := range q.alts {
		any := false
		for _, a := range alts {
			any = any || a.holds(have)
		}
		if !any {
			return false
		}
	}
	return true
}
