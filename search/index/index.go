package index

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
)

// A Part is a segment of an index and the files of it that are deleted.
type Part struct {
	Segment *Segment
	Deleted FileSet
}

// An Index searches a list of segments as one. It is safe for concurrent use
// and never changes: an update makes a new one. Close it when no new search
// will begin; searches that are running finish first.
//
// Deleted files count in nothing: document frequencies, average lengths and
// counts are those of an index that never had them.
type Index struct {
	parts  []part
	refs   atomic.Int32
	closed atomic.Bool
	schema Schema
	code   string // the schema as encoded; "" with no segments
	docs   int
	tokens [MaxFields]uint64 // in live documents, by field
}

type part struct {
	seg     *Segment
	source  int // which of the joined indexes
	deleted FileSet
	gone    []uint64    // bitmap of deleted documents; nil for none
	ranges  [][2]uint32 // deleted documents as ascending ranges, end exclusive
	dead    int         // deleted documents
}

// NewIndex makes an Index of segments with equal schemas. It takes its own
// references and copies the file sets, so the caller may close its own
// references and change its sets at once.
func NewIndex(parts []Part) (*Index, error) {
	x := &Index{}
	x.refs.Store(1)
	for _, p := range parts {
		if err := x.add(p, 0); err != nil {
			x.Close()
			return nil, err
		}
	}
	return x, nil
}

// Join makes an Index that searches several as one, with document frequencies
// and average lengths over all of them, so that scores compare. Hit.Source is
// the position of the hit's index in the list. The schemas must be equal. The
// given indexes may be closed before the result.
func Join(indexes ...*Index) (*Index, error) {
	x := &Index{}
	x.refs.Store(1)
	for i, y := range indexes {
		err := y.use(func() error {
			for _, p := range y.parts {
				if err := x.add(Part{p.seg, p.deleted}, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			x.Close()
			return nil, err
		}
	}
	return x, nil
}

func (x *Index) add(p Part, source int) error {
	s := p.Segment
	if !s.retain() {
		return fmt.Errorf("segment %s: %w", s.path, ErrClosed)
	}
	if len(x.parts) > 0 && s.code != x.code {
		s.Close()
		return fmt.Errorf("segments %s and %s have different schemas", x.parts[0].seg.path, s.path)
	}
	n := part{seg: s, source: source, deleted: p.Deleted.Clone()}
	x.parts = append(x.parts, n)
	x.schema, x.code = s.schema, s.code
	return guard(func() error {
		last := &x.parts[len(x.parts)-1]
		last.bury()
		x.count(last)
		return nil
	})
}

// bury finds the documents of the deleted files.
func (p *part) bury() {
	if p.deleted.Len() == 0 {
		return
	}
	p.gone = make([]uint64, (p.seg.Docs()+63)/64)
	for f := range p.seg.Files() {
		if !p.deleted.Has(f) {
			continue
		}
		lo, hi := p.seg.firstDoc(f), p.seg.firstDoc(f+1)
		if lo >= hi {
			continue
		}
		if n := len(p.ranges); n > 0 && p.ranges[n-1][1] == lo {
			p.ranges[n-1][1] = hi
		} else {
			p.ranges = append(p.ranges, [2]uint32{lo, hi})
		}
		for d := lo; d < hi; d++ {
			if w, m := &p.gone[d/64], uint64(1)<<(d%64); *w&m == 0 {
				*w |= m
				p.dead++
			}
		}
	}
}

// count adds the live documents of a part to the totals.
func (x *Index) count(p *part) {
	x.docs += p.seg.Docs() - p.dead
	for f := range p.seg.schema.Fields {
		n := p.seg.h.totalLen[f]
		for _, r := range p.ranges {
			for d := r[0]; d < r[1]; d++ {
				n -= min(n, uint64(p.seg.lens[f].of(d)))
			}
		}
		x.tokens[f] += n
	}
}

func (p *part) isDeleted(doc uint32) bool {
	return p.gone != nil && p.gone[doc/64]>>(doc%64)&1 == 1
}

// Close gives up the Index. Its segments are let go when the searches that are
// running have finished; new ones return ErrClosed. Further calls do nothing.
func (x *Index) Close() error {
	if x.closed.Swap(true) {
		return nil
	}
	return x.release()
}

func (x *Index) release() (err error) {
	if x.refs.Add(-1) > 0 {
		return nil
	}
	for _, p := range x.parts {
		if e := p.seg.Close(); err == nil {
			err = e
		}
	}
	return err
}

// use runs fn while the segments are mapped, and makes faults errors.
func (x *Index) use(fn func() error) error {
	if x.closed.Load() || !retain(&x.refs) {
		return ErrClosed
	}
	defer func() { _ = x.release() }() // of use to Close only
	return guard(fn)
}

// Schema returns the schema of the segments; it is zero when there are none.
func (x *Index) Schema() Schema { return x.schema }

// Docs returns the number of live documents.
func (x *Index) Docs() int { return x.docs }

// AvgLen returns the average number of tokens in a field of a live document.
func (x *Index) AvgLen(field int) float64 {
	if field < 0 || field >= MaxFields || x.docs == 0 {
		return 0
	}
	return float64(x.tokens[field]) / float64(x.docs)
}

// Files returns the number of live files.
func (x *Index) Files() int {
	n := 0
	for _, p := range x.parts {
		for f := range p.seg.Files() {
			if !p.deleted.Has(f) {
				n++
			}
		}
	}
	return n
}

// Parts returns the segments with their deleted files, in order. They stay open
// while the Index does. Do not change the file sets: Clone them.
func (x *Index) Parts() []Part {
	parts := make([]Part, len(x.parts))
	for i, p := range x.parts {
		parts[i] = Part{p.seg, p.deleted}
	}
	return parts
}

// Find returns the segment and the number there of the live file with a path.
// In a joined index it is that of the first index that has the path.
func (x *Index) Find(path string) (part, file int, ok bool, err error) {
	err = x.use(func() error {
		for i, p := range x.parts {
			f, found, err := p.seg.Find(path)
			if err != nil {
				return err
			}
			if found && !p.deleted.Has(f) {
				part, file, ok = i, f, true
				return nil
			}
		}
		return nil
	})
	return part, file, ok, err
}

// OpenIndex opens the index that the manifest of a name in dir describes. See
// OpenManifest.
func OpenIndex(dir, name string, prev *Index) (*Index, error) {
	m, err := ReadManifest(dir, name)
	if err != nil {
		return nil, err
	}
	x, err := OpenManifest(dir, m, prev)
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", name, err)
	}
	return x, nil
}

// OpenManifest opens the index in dir that a manifest describes. Segments that
// prev, which may be nil, has open already are shared with it, not opened again.
// The error is fs.ErrNotExist when a segment is gone: somebody swept the folder
// without keeping the manifest.
func OpenManifest(dir string, m Manifest, prev *Index) (_ *Index, err error) {
	shared := map[string]*Segment{}
	if prev != nil {
		for _, p := range prev.parts {
			shared[p.seg.path] = p.seg
		}
	}
	var parts []Part
	defer func() {
		for _, p := range parts {
			p.Segment.Close()
		}
	}()
	for _, e := range m.Segments {
		path := filepath.Join(dir, e.Name)
		s := shared[path]
		if s == nil || !s.retain() {
			if s, err = Open(path); err != nil {
				return nil, err
			}
		}
		parts = append(parts, Part{s, e.Deleted})
	}
	return NewIndex(parts)
}
