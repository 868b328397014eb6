package index

import (
	"context"
	"fmt"
	"slices"
)

// A FileMatch is a live file during a call of EachFile or Candidates, and not
// after it.
type FileMatch struct {
	x    *Index
	part int
	file int
}

// Source returns which of the joined indexes the file is of.
func (f *FileMatch) Source() int { return f.x.parts[f.part].source }

// Part returns the segment of the file and its number there, as FileSet has it.
func (f *FileMatch) Part() (part, file int) { return f.part, f.file }

// Path returns the path.
func (f *FileMatch) Path() string { return string(f.x.parts[f.part].seg.name(f.file)) }

// Hash returns the content hash.
func (f *FileMatch) Hash() Hash { return f.x.parts[f.part].seg.hash(f.file) }

// Docs returns the file's first document and their number; they follow each
// other.
func (f *FileMatch) Docs() (first Ref, n int) {
	s := f.x.parts[f.part].seg
	lo, hi := s.firstDoc(f.file), s.firstDoc(f.file+1)
	return Ref{f.part, lo}, int(max(hi, lo) - lo)
}

// EachFile calls fn for every live file, in the order of segments and files,
// until fn returns an error, which EachFile returns.
func (x *Index) EachFile(ctx context.Context, fn func(*FileMatch) error) error {
	return x.Candidates(ctx, TriQuery{}, fn)
}

// Candidates calls fn for every live file for which q holds, in the order of
// segments and files, until fn returns an error, which Candidates returns. A
// file that is left out cannot match what q was made from; one that is not must
// still be looked at. Without trigrams in the schema every file is a candidate.
func (x *Index) Candidates(ctx context.Context, q TriQuery, fn func(*FileMatch) error) error {
	return x.use(func() error {
		stop := &stopper{ctx: ctx}
		for i := range x.parts {
			p := &x.parts[i]
			files, err := p.seg.candidates(q, stop)
			if err != nil {
				return fmt.Errorf("candidates in %s: %w", p.seg.path, err)
			}
			for _, f := range files {
				if err := ctx.Err(); err != nil {
					return err
				}
				if p.deleted.Has(int(f)) {
					continue
				}
				if err := fn(&FileMatch{x, i, int(f)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Past this many trigrams, with this few files left, looking at the files costs
// less than reading more of the index.
const (
	enoughTrigrams = 4
	fewFiles       = 8
)

// candidates returns the files, ascending, for which q holds, and perhaps a few
// more.
func (s *Segment) candidates(q TriQuery, stop *stopper) ([]uint32, error) {
	if !stop.ok() {
		return nil, stop.err
	}
	if q.Empty() || !s.schema.Trigrams {
		all := make([]uint32, s.h.files)
		for i := range all {
			all[i] = uint32(i)
		}
		return all, nil
	}
	cur, err := s.withTrigrams(q.tri)
	if err != nil {
		return nil, err
	}
	for i, alts := range q.alts {
		if len(q.tri) > 0 && len(cur) <= fewFiles {
			break
		}
		var union []uint32
		for _, a := range alts {
			l, err := s.candidates(a, stop)
			if err != nil {
				return nil, err
			}
			union = append(union, l...)
		}
		slices.Sort(union)
		union = slices.Compact(union)
		if i == 0 && len(q.tri) == 0 {
			cur = union
		} else {
			cur = intersect(cur, union)
		}
	}
	return cur, nil
}

// withTrigrams returns the files that have all the trigrams.
func (s *Segment) withTrigrams(tri []uint32) ([]uint32, error) {
	var its []triIter
	for _, t := range tri {
		it := triIter{s: s}
		if !it.find(t) {
			return nil, it.err
		}
		its = append(its, it)
	}
	slices.SortFunc(its, func(a, b triIter) int { return a.df - b.df })
	var cur, tmp []uint32
	for i := range its {
		it := &its[i]
		if i >= enoughTrigrams && len(cur) < fewFiles {
			break
		}
		if i > 0 && it.bitmap {
			cur = slices.DeleteFunc(cur, func(f uint32) bool { return it.data[f/8]>>(f%8)&1 == 0 })
			continue
		}
		var err error
		if tmp, err = it.files(tmp[:0]); err != nil {
			return nil, err
		}
		if i == 0 {
			cur = slices.Clone(tmp)
		} else {
			cur = intersect(cur, tmp)
		}
	}
	return cur, nil
}

// intersect keeps the members of a that are in b; both ascend.
func intersect(a, b []uint32) []uint32 {
	out, j := a[:0], 0
	for _, v := range a {
		for j < len(b) && b[j] < v {
			j++
		}
		if j < len(b) && b[j] == v {
			out = append(out, v)
		}
	}
	return out
}
