package index

// A SegmentSize is what MergePlan knows of a segment.
type SegmentSize struct {
	Files   int   // deleted ones included
	Deleted int   // files
	Bytes   int64 // of the file
}

// When segments are merged.
const (
	mergeDeltas   = 8       // deltas
	mergeShare    = 10      // deltas hold 1/10 of the files
	rewriteShare  = 5       // 1/5 of the files are deleted
	mergeMaxBytes = 2 << 30 // larger segments stay, so that no section outgrows its offsets
)

// MergePlan returns which segments to merge into one, by their place in the
// list, nil for none. The largest is the base and the others are deltas:
//
//   - when a fifth of all files is deleted, or the deltas hold a tenth of the
//     files of the base, everything is merged;
//   - otherwise, at eight deltas, these are.
//
// Segments of more than 2 GiB are merged only when a fifth of their own files
// is deleted.
func MergePlan(sizes []SegmentSize) []int {
	var can []int
	base, files, deleted := -1, 0, 0
	for i, s := range sizes {
		if s.Bytes > mergeMaxBytes && s.Deleted*rewriteShare < s.Files {
			continue
		}
		can = append(can, i)
		files += s.Files
		deleted += s.Deleted
		if base < 0 || s.Files > sizes[base].Files {
			base = i
		}
	}
	switch {
	case len(can) == 0 || len(can) == 1 && deleted == 0:
		return nil
	case deleted > 0 && deleted*rewriteShare >= files:
		return can
	case len(can) > 1 && (files-sizes[base].Files)*mergeShare >= sizes[base].Files:
		return can
	case len(can)-1 < mergeDeltas:
		return nil
	}
	deltas := make([]int, 0, len(can)-1)
	for _, i := range can {
		if i != base {
			deltas = append(deltas, i)
		}
	}
	return deltas
}

// Sizes returns what MergePlan needs to know of the segments of an index.
func (x *Index) Sizes() []SegmentSize {
	sizes := make([]SegmentSize, len(x.parts))
	for i, p := range x.parts {
		sizes[i] = SegmentSize{Files: p.seg.Files(), Deleted: p.deleted.Len(), Bytes: p.seg.Size()}
	}
	return sizes
}
