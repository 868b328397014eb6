package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

func TestQueriesOverALimitAreRefused(t *testing.T) {
	t.Parallel()
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), entitySchema, newGen(5).files(entitySchema, "s", 50))})
	deep := query.Query(query.Term{Text: "aa"})
	for range 300 {
		deep = query.And{deep}
	}
	wide := query.Or{}
	for i := range 2000 {
		wide = append(wide, query.Term{Text: fmt.Sprint(i)})
	}
	for _, tc := range []struct {
		name string
		q    query.Query
		opt  index.Options
		want string
	}{
		{"deep", deep, index.Options{}, "nested more than 200 deep"},
		{"wide", wide, index.Options{}, "more than 1024 nodes"},
		{"long phrase", query.Phrase{Words: make([]string, 2000)}, index.Options{}, "more than 1024 words"},
		{"prefix", query.Prefix{Field: 2, Text: ""}, index.Options{MaxTerms: 3}, `prefix "" stands for more than 3 terms`},
		{"no such field", query.Term{Field: 9}, index.Options{}, "no field 9"},
		{"negative field", query.Prefix{Field: -1}, index.Options{}, "no field -1"},
		{"term in a keyword field", query.Term{Field: 3, Text: "go"}, index.Options{}, "field 3 is a keyword field"},
		{"keyword in a text field", query.Keyword{Text: "go"}, index.Options{}, "field 0 is no keyword field"},
		{"phrase in parts", query.Phrase{Field: 1, Words: []string{"a", "b"}}, index.Options{}, "no positions"},
		{"no such attribute", query.Attr{Attr: 2}, index.Options{}, "no attribute 2"},
		{"negative weight", query.Term{Text: "a", Weight: -1}, index.Options{}, "weight -1"},
		{"weight that is no number", query.Term{Text: "a", Weight: math.NaN()}, index.Options{}, "weight NaN"},
		{"endless score", query.Const{Q: query.All{}, Score: math.Inf(1)}, index.Options{}, "score +Inf"},
		{"nil", nil, index.Options{}, "nil node"},
		{"nil member", query.And{nil}, index.Options{}, "nil node"},
		{"nil function", query.PathFunc{Name: "f"}, index.Options{}, `path function "f" is nil`},
		{"parameters", query.All{}, index.Options{BM25: index.BM25{K1: 1, B: 2}}, "parameters k1 1, b 2"},
	} {
		tc.opt.K = 1
		_, err := x.Search(context.Background(), tc.q, tc.opt)
		if !errors.Is(err, index.ErrQuery) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want ErrQuery with %q", tc.name, err, tc.want)
		}
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var files []index.File
	for i := range 30 {
		files = append(files, index.File{Path: fmt.Sprint(i), Text: "word", Docs: make([]index.Doc, 1000)})
	}
	for _, f := range files {
		for i := range f.Docs {
			f.Docs[i].End = 4
		}
	}
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), chunkSchema, files)})
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(done, query.Term{Text: "word"}, index.Options{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v, want Canceled", err)
	}
	if err := x.EachFile(done, func(*index.FileMatch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("files: %v, want Canceled", err)
	}
	for _, q := range []query.Query{
		query.Term{Text: "word"}, query.All{}, query.Prefix{Text: "w"}, query.Phrase{Words: []string{"word"}},
		query.And{query.All{}, query.Term{Text: "word"}}, query.Not{Q: query.All{}, Except: query.Term{Text: "none"}},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		err := x.Each(ctx, q, index.Options{}, func(*index.Match) error {
			cancel()
			n++
			return nil
		})
		if !errors.Is(err, context.Canceled) || n > 2000 {
			t.Errorf("%s: %v after %d matches, want Canceled soon", q, err, n)
		}
	}
	stop := errors.New("stop")
	if err := x.Each(context.Background(), query.All{}, index.Options{}, func(*index.Match) error { return stop }); err != stop {
		t.Errorf("got %v, want the error of the callback", err)
	}
}

func TestWriterRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		s    index.Schema
	}{
		{"no fields", index.Schema{}},
		{"too many fields", index.Schema{Fields: make([]index.Field, 17)}},
		{"too many attributes", index.Schema{Fields: make([]index.Field, 1), Attrs: make([]string, 17)}},
		{"parts of nothing", index.Schema{Fields: []index.Field{{Kind: index.Parts, Of: 1}}}},
		{"parts of parts", index.Schema{Fields: []index.Field{{Kind: index.Parts}}}},
		{"unknown kind", index.Schema{Fields: []index.Field{{Kind: 9}}}},
		{"long tokens", index.Schema{Fields: make([]index.Field, 1), MaxToken: 1000}},
	} {
		if _, err := index.NewWriter(index.WriterOptions{Schema: tc.s}); err == nil {
			t.Errorf("%s: the schema is accepted", tc.name)
		}
	}
	w := newWriter(t, t.TempDir(), chunkSchema)
	for _, d := range []index.Doc{{Start: 2, End: 1}, {End: 99}, {Text: make([]string, 3)}, {Attrs: []uint32{1}}} {
		if err := w.Add(index.File{Path: "a", Text: "text", Docs: []index.Doc{d}}); err == nil {
			t.Errorf("document %+v is accepted", d)
		}
	}
}

func newWriter(t *testing.T, dir string, schema index.Schema) *index.Writer {
	t.Helper()
	w, err := index.NewWriter(index.WriterOptions{Schema: schema, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSectionPastItsCapIsTooLarge lowers the cap of 4 GiB to reach it.
func TestSectionPastItsCapIsTooLarge(t *testing.T) {
	t.Parallel()
	files := newGen(2).files(entitySchema, "s", 100)
	for _, n := range []uint64{10, 500, 5000} {
		dir := t.TempDir()
		w := newWriter(t, dir, entitySchema)
		w.LowerSectionCap(n)
		for _, f := range files {
			if err := w.Add(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(filepath.Join(dir, "x.seg")); !errors.Is(err, index.ErrTooLarge) {
			t.Errorf("cap %d: %v, want ErrTooLarge", n, err)
		}
		w.Abort()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("cap %d: %v is left", n, left)
		}
	}
}

// TestWriterIsUsedAgain checks that nothing of one segment gets into the next.
func TestWriterIsUsedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWriter(t, dir, chunkSchema)
	for i, word := range []string{"first", "second", "third"} {
		if err := w.Add(index.File{Path: word, Text: word, Docs: []index.Doc{{End: uint32(len(word))}}}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.seg", i))
		if err := w.Finish(path); err != nil {
			t.Fatal(err)
		}
		s, err := index.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		x := newIndex(t, index.Part{Segment: s})
		s.Close()
		for _, other := range []string{"first", "second", "third"} {
			if got, want := count(t, x, other) == 1, other == word; got != want {
				t.Errorf("segment %s has %s: %v", word, other, got)
			}
		}
		if x.Files() != 1 || x.Docs() != 1 {
			t.Errorf("segment %s has %d files, %d documents", word, x.Files(), x.Docs())
		}
	}
}

func TestAnAbortedWriterLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := index.NewWriter(index.WriterOptions{Schema: chunkSchema, Dir: dir, Budget: 50 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range newGen(2).files(chunkSchema, "s", 150) {
		if err := w.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	if parts, _ := os.ReadDir(dir); len(parts) < 2 {
		t.Fatalf("only %d parts were written", len(parts))
	}
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestMergeRefusesDifferentSchemas(t *testing.T) {
	t.Parallel()
	a := writeSegment(t, segPath(t, 0), chunkSchema, nil)
	b := writeSegment(t, segPath(t, 1), entitySchema, nil)
	path := segPath(t, 2)
	if err := index.Merge(path, []index.MergeInput{{Segment: a}, {Segment: b}}); err == nil {
		t.Error("segments of different schemas are merged")
	}
	if err := index.Merge(path, nil); err == nil {
		t.Error("a merge of nothing is accepted")
	}
	if _, err := index.NewIndex([]index.Part{{Segment: a}, {Segment: b}}); err == nil {
		t.Error("segments of different schemas make an index")
	}
}
