package index_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// check compares an index with the model: counts, order, scores, stored values.
func check(t *testing.T, x *index.Index, m *model, q query.Query, opt index.Options) {
	t.Helper()
	ctx := context.Background()
	opt.BM25 = m.bm
	want := m.search(q)
	if n, err := x.Count(ctx, q, opt); err != nil || n != len(want) {
		t.Fatalf("%s: count %d, %v; want %d", q, n, err, len(want))
	}
	got, err := x.Search(ctx, q, opt)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	want = want[min(opt.Offset, len(want)):]
	if len(got) != min(opt.K, len(want)) {
		t.Fatalf("%s: %d hits, want %d", q, len(got), min(opt.K, len(want)))
	}
	for i, h := range got {
		w := want[i]
		if h.Path != w.path || h.Source != w.source || h.Start != w.start || h.End != w.end ||
			math.Abs(h.Score-w.score) > 1e-5 || string(h.Payload) != w.payload || !slices.Equal(h.Attrs, w.attrs) {
			t.Fatalf("%s: hit %d of %d is %+v, want %+v", q, i, len(want), h, w)
		}
	}
}

func checkAll(t *testing.T, x *index.Index, m *model, qs []query.Query) {
	t.Helper()
	if x.Docs() != len(m.docs) {
		t.Fatalf("%d documents, want %d", x.Docs(), len(m.docs))
	}
	for i, q := range qs {
		check(t, x, m, q, index.Options{K: 1 + i%10, Offset: i % 3})
		check(t, x, m, q, index.Options{K: 1000000})
	}
}

// TestSearchEqualsModel is the differential test: random trees over random
// corpora, in every state that an index can be in.
func TestSearchEqualsModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		schema := []index.Schema{chunkSchema, entitySchema}[seed%2]
		t.Run(fmt.Sprintf("%s %d", schema.Fields[0].Name, seed), func(t *testing.T) {
			t.Parallel()
			differential(t, newGen(seed), schema)
		})
	}
}

func differential(t *testing.T, g gen, schema index.Schema) {
	var qs []query.Query
	for range 60 {
		qs = append(qs, g.query(schema, 3))
	}
	bm := []index.BM25{index.DefaultBM25, {K1: 0.9, B: 0.3}, {K1: 2, B: 1}}[g.IntN(3)]
	all := newModel(schema)
	all.bm = bm
	var sets [][]index.File
	var parts []index.Part
	for i := range 3 {
		files := g.files(schema, fmt.Sprintf("s%d", i), 80)
		s := writeSegment(t, segPath(t, i), schema, files)
		sets, parts = append(sets, files), append(parts, index.Part{Segment: s})
		for _, f := range files {
			all.add(0, f)
		}
	}
	checkAll(t, newIndex(t, parts...), all, qs)

	// Deleted files leave no trace in counts, order and scores.
	live := newModel(schema)
	live.bm = bm
	var kept []index.File
	var in []index.MergeInput
	for i, p := range parts {
		for n, f := range sets[i] {
			if g.IntN(4) == 0 {
				no, ok, err := p.Segment.Find(f.Path)
				if err != nil || !ok {
					t.Fatalf("find %s: %v, %v", f.Path, ok, err)
				}
				parts[i].Deleted.Add(no)
				continue
			}
			live.add(0, sets[i][n])
			kept = append(kept, f)
		}
		in = append(in, index.MergeInput{Segment: p.Segment, Deleted: parts[i].Deleted})
	}
	checkAll(t, newIndex(t, parts...), live, qs)

	// Merged, in part and in whole, and built afresh: the same.
	half := merge(t, in[:2])
	checkAll(t, newIndex(t, index.Part{Segment: half}, parts[2]), live, qs)
	checkAll(t, newIndex(t, index.Part{Segment: merge(t, in)}), live, qs)
	checkAll(t, newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 9), schema, kept)}), live, qs)
}

func merge(t *testing.T, in []index.MergeInput) *index.Segment {
	t.Helper()
	path := segPath(t, 0)
	if err := index.Merge(path, in); err != nil {
		t.Fatal(err)
	}
	s, err := index.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLongListsEqualModel has terms with many blocks, so that bounds and skips
// come into play.
func TestLongListsEqualModel(t *testing.T) {
	t.Parallel()
	g := newGen(7)
	var files []index.File
	m := newModel(chunkSchema)
	for i := range 2500 {
		f := index.File{Path: fmt.Sprintf("p%d/x.go", (i*7919)%2500), Text: g.text(5 + g.IntN(60))}
		f.Docs = []index.Doc{{End: uint32(len(f.Text))}}
		files = append(files, f)
		m.add(0, f)
	}
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), chunkSchema, files)})
	for range 25 {
		check(t, x, m, g.query(chunkSchema, 2), index.Options{K: 10})
	}
	for _, q := range []query.Query{
		query.And{query.Term{Text: "aa"}, query.Term{Text: "ba"}},
		query.And{query.Term{Text: "aa"}, query.Or{query.Term{Text: "ca"}, query.Phrase{Words: []string{"da", "ba"}}}},
		query.Phrase{Words: []string{"aa", "ba"}},
		query.Or{query.Phrase{Words: []string{"aa", "ba"}}, query.Term{Text: "ca"}},
		query.Or{query.Term{Text: "aa"}, query.Term{Text: "ba"}, query.Term{Text: "ca"}, query.Term{Text: "az"}},
		query.And{query.Or{query.Term{Text: "aa"}, query.Term{Text: "ba"}}, query.PathMatch("p1")},
	} {
		for _, k := range []int{1, 10, 100} {
			check(t, x, m, q, index.Options{K: k})
		}
	}
}

// TestJoinedIndexesScoreAsOne searches repositories with the same paths at once.
func TestJoinedIndexesScoreAsOne(t *testing.T) {
	t.Parallel()
	g := newGen(11)
	m := newModel(entitySchema)
	var xs []*index.Index
	for i := range 5 {
		files := g.files(entitySchema, "same", 30)
		for _, f := range files {
			m.add(i, f)
		}
		xs = append(xs, newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, i), entitySchema, files)}))
	}
	x, err := index.Join(xs...)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, y := range xs {
		y.Close() // the joined index has references of its own
	}
	var qs []query.Query
	for range 60 {
		qs = append(qs, g.query(entitySchema, 3))
	}
	checkAll(t, x, m, qs)
}
