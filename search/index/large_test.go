package index_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// TestLargeDocumentsEqualModel has documents of more than 2^8 and 2^16 tokens,
// frequencies past what a block's bounds can say, many distinct words, and
// sections that do not fit in a stream's buffer.
func TestLargeDocumentsEqualModel(t *testing.T) {
	t.Parallel()
	g := newGen(13)
	m := newModel(entitySchema)
	var files []index.File
	for i := range 300 {
		f := index.File{Path: fmt.Sprintf("f%03d", i)}
		body := "common " + g.text(20)
		switch i {
		case 7:
			body = strings.Repeat("common filler ", 70_000)
		case 8:
			body = strings.Repeat("common words ", 200)
		case 200:
			var b strings.Builder
			for w := range 9000 {
				fmt.Fprintf(&b, "distinct%d common ", w)
			}
			body = b.String()
		}
		f.Docs = []index.Doc{{End: 1, Text: []string{"nameOf", "", body, "go"}, Payload: make([]byte, 2000)}}
		files = append(files, f)
		m.add(0, f)
	}
	big := writeSegment(t, segPath(t, 0), entitySchema, files)
	for name, s := range map[string]*index.Segment{"built": big, "merged": merge(t, []index.MergeInput{{Segment: big}})} {
		x := newIndex(t, index.Part{Segment: s})
		for _, q := range []query.Query{
			query.Term{Field: 2, Text: "common"},
			query.Or{query.Term{Field: 2, Text: "common"}, query.Term{Field: 2, Text: "aa"}},
			query.And{query.Term{Field: 2, Text: "common"}, query.Term{Field: 2, Text: "aa"}},
			query.Phrase{Field: 2, Words: []string{"common", "filler"}},
			query.Phrase{Field: 2, Words: []string{"distinct8999", "common"}},
			query.Prefix{Field: 2, Text: "distinct"},
			query.Term{Field: 1, Text: "name"},
		} {
			t.Run(name+" "+q.String(), func(t *testing.T) {
				check(t, x, m, q, index.Options{K: 1})
				check(t, x, m, q, index.Options{K: 20})
			})
		}
	}
}

// TestOnePartBecomesTheSegment has a budget that one file passes.
func TestOnePartBecomesTheSegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := index.NewWriter(index.WriterOptions{Schema: chunkSchema, Dir: dir, Budget: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(index.File{Path: "a", Text: "word", Docs: []index.Doc{{End: 4}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(filepath.Join(dir, "x.seg")); err != nil {
		t.Fatal(err)
	}
	s, err := index.Open(filepath.Join(dir, "x.seg"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := count(t, newIndex(t, index.Part{Segment: s}), "word"); n != 1 {
		t.Errorf("%d matches, want 1", n)
	}
}

// TestBM25ScoresAsSearchDoes computes a score from the statistics of an index,
// as callers do for pseudo-terms.
func TestBM25ScoresAsSearchDoes(t *testing.T) {
	t.Parallel()
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), chunkSchema, newGen(1).files(chunkSchema, "s", 40))})
	df, err := x.DF(0, "aa")
	if err != nil || df == 0 {
		t.Fatalf("df %d, %v", df, err)
	}
	err = x.Each(context.Background(), query.Term{Text: "aa"}, index.Options{}, func(m *index.Match) error {
		start, end := m.Range()
		idf := index.DefaultBM25.IDF(x.Docs(), df)
		for tf := 1.0; tf < float64(end-start); tf++ {
			got := index.DefaultBM25.Score(idf, tf, float64(m.Len(0)), x.AvgLen(0))
			if math.Abs(got-m.Score()) < 1e-9 {
				return nil
			}
		}
		return fmt.Errorf("score %g is that of no frequency", m.Score())
	})
	if err != nil {
		t.Error(err)
	}
}
