package index

import "strings"

// An allIter walks every document.
type allIter struct {
	docs uint32
	filter
}

func (a *allIter) advance(target uint32) uint32 {
	if target >= a.docs {
		return noDoc
	}
	return target
}

func (a *allIter) cost() int   { return int(a.docs) }
func (a *allIter) fail() error { return nil }

// An attrIter walks the documents with an attribute in a range.
type attrIter struct {
	seg      *Segment
	attr     int
	min, max uint32
	stop     *stopper
	place
	filter
}

func (a *attrIter) advance(target uint32) uint32 {
	if a.stays(target) {
		return a.doc
	}
	for ; target < a.seg.h.docs && a.stop.ok(); target++ {
		if v := a.seg.attr(a.attr, target); v >= a.min && v <= a.max {
			return a.set(target)
		}
	}
	return a.set(noDoc)
}

func (a *attrIter) cost() int   { return int(a.seg.h.docs) }
func (a *attrIter) fail() error { return nil }

// A fileIter walks the documents of the files in a postings list.
type fileIter struct {
	seg   *Segment
	files postings
	place
	filter
}

func (f *fileIter) advance(target uint32) uint32 {
	if f.stays(target) {
		return f.doc
	}
	if target >= f.seg.h.docs {
		return f.set(noDoc)
	}
	for file := f.files.advance(uint32(f.seg.fileOf(target))); file != noDoc; file = f.files.advance(file + 1) {
		if target = max(target, f.seg.firstDoc(int(file))); target < f.seg.firstDoc(int(file)+1) {
			return f.set(target)
		}
	}
	return f.set(noDoc)
}

func (f *fileIter) cost() int {
	return int(uint64(f.files.df) * uint64(f.seg.h.docs) / uint64(max(1, f.seg.h.files)))
}
func (f *fileIter) fail() error { return f.files.err }

// A pathIter walks the documents of the files whose path is accepted.
type pathIter struct {
	seg    *Segment
	accept func(path []byte) bool
	stop   *stopper
	end    uint32 // end of the documents of the accepted file
	place
	filter
}

func (p *pathIter) advance(target uint32) uint32 {
	if p.stays(target) {
		return p.doc
	}
	if target < p.end {
		return p.set(target)
	}
	if target >= p.seg.h.docs {
		return p.set(noDoc)
	}
	for f := p.seg.fileOf(target); f < p.seg.Files() && p.stop.ok(); f++ {
		lo, hi := max(target, p.seg.firstDoc(f)), p.seg.firstDoc(f+1)
		if lo < hi && p.accept(p.seg.name(f)) {
			p.end = hi
			return p.set(lo)
		}
	}
	return p.set(noDoc)
}

// cost is high, so that other members of an And come first.
func (p *pathIter) cost() int   { return int(p.seg.h.docs) }
func (p *pathIter) fail() error { return nil }

// containsFold returns a function that reports whether a path contains text
// without regard to case.
func containsFold(text string) func(path []byte) bool {
	want := Fold(text)
	var buf []byte
	return func(path []byte) bool {
		buf = appendFold(buf[:0], string(path))
		return strings.Contains(string(buf), want)
	}
}
