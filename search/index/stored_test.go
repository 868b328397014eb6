package index_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// TestTieOrdersEqualScores ranks by attributes before path.
func TestTieOrdersEqualScores(t *testing.T) {
	t.Parallel()
	files := newGen(4).files(entitySchema, "s", 60)
	m := newModel(entitySchema)
	for _, f := range files {
		m.add(0, f)
	}
	x := newIndex(t,
		index.Part{Segment: writeSegment(t, segPath(t, 0), entitySchema, files[:30])},
		index.Part{Segment: writeSegment(t, segPath(t, 1), entitySchema, files[30:])})
	want := m.search(query.All{})
	slices.SortStableFunc(want, func(a, b modelHit) int {
		return cmp.Or(cmp.Compare(a.attrs[0], b.attrs[0]), cmp.Compare(b.attrs[1], a.attrs[1]))
	})
	got, err := x.Search(context.Background(), query.All{}, index.Options{K: 40, Tie: func(a, b *index.Match) int {
		return cmp.Or(cmp.Compare(a.Attr(0), b.Attr(0)), cmp.Compare(b.Attr(1), a.Attr(1)))
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range got {
		if h.Path != want[i].path || h.Start != want[i].start {
			t.Fatalf("hit %d is %s %d, want %s %d", i, h.Path, h.Start, want[i].path, want[i].start)
		}
	}
}

// TestEachGivesWhatSearchGives visits all matches, and loads them afterwards.
func TestEachGivesWhatSearchGives(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newGen(6)
	x := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), entitySchema, g.files(entitySchema, "s", 60))})
	for range 40 {
		q := g.query(entitySchema, 2)
		want, err := x.Search(ctx, q, index.Options{K: 1000})
		if err != nil {
			t.Fatal(err)
		}
		scores := map[index.Ref]float64{}
		err = x.Each(ctx, q, index.Options{}, func(m *index.Match) error {
			if _, ok := scores[m.Ref()]; ok {
				t.Errorf("%s: document %v twice", q, m.Ref())
			}
			scores[m.Ref()] = m.Score()
			return nil
		})
		if err != nil || len(scores) != len(want) {
			t.Fatalf("%s: %d matches, %v; want %d", q, len(scores), err, len(want))
		}
		for _, h := range want {
			got, err := x.Load(h.Ref, scores[h.Ref])
			if err != nil || fmt.Sprint(got) != fmt.Sprint(h) {
				t.Fatalf("%s: loaded %v, %v; want %v", q, got, err, h)
			}
		}
	}
	for _, r := range []index.Ref{{Part: 1}, {Part: -1}, {Doc: 1 << 20}} {
		if _, err := x.Load(r, 0); err == nil {
			t.Errorf("document %v is loaded", r)
		}
	}
}

// TestFilesKeepPathHashAndDocuments reads back what was stored, also after a
// merge that drops some.
func TestFilesKeepPathHashAndDocuments(t *testing.T) {
	t.Parallel()
	files := newGen(8).files(entitySchema, "s", 50)
	s := writeSegment(t, segPath(t, 0), entitySchema, files)
	p := index.Part{Segment: s}
	for i := range files {
		if path, hash, err := s.FileInfo(i); err != nil || path != files[i].Path || hash != files[i].Hash {
			t.Fatalf("file %d is %s %v, %v", i, path, hash, err)
		}
		if i%3 == 1 {
			p.Deleted.Add(i)
		}
	}
	if _, _, err := s.FileInfo(len(files)); err == nil {
		t.Error("a file past the last is read")
	}
	merged := index.Part{Segment: merge(t, []index.MergeInput{{Segment: s, Deleted: p.Deleted}})}
	for name, x := range map[string]*index.Index{"deleted": newIndex(t, p), "merged": newIndex(t, merged)} {
		var got []index.File
		err := x.EachFile(context.Background(), func(f *index.FileMatch) error {
			_, n := f.Docs()
			got = append(got, index.File{Path: f.Path(), Hash: f.Hash(), Docs: make([]index.Doc, n)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for n, f := range files {
			if n%3 == 1 {
				continue
			}
			if i >= len(got) || got[i].Path != f.Path || got[i].Hash != f.Hash || len(got[i].Docs) != len(f.Docs) {
				t.Fatalf("%s: file %d is not %s", name, i, f.Path)
			}
			i++
		}
		if i != len(got) || x.Files() != i {
			t.Errorf("%s: %d files, want %d", name, len(got), i)
		}
	}
	var b strings.Builder
	if err := s.WriteStats(&b); err != nil || !strings.Contains(b.String(), "postings") {
		t.Errorf("stats: %q, %v", b.String(), err)
	}
}

func ExampleIndex_Search() {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	owner, err := index.NewOwner(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer owner.End()
	segment := owner.NewSegment()
	w, _ := index.NewWriter(index.WriterOptions{Dir: dir, Owner: owner.Name(), Schema: index.Schema{Fields: []index.Field{
		{Name: "content", Kind: index.Content}, {Name: "parts", Kind: index.Parts, Of: 0}}}})
	for path, text := range map[string]string{"a.go": "func newMutex() Mutex", "b.go": "the mutex of the pool, a mutex"} {
		w.Add(index.File{Path: path, Text: text, Docs: []index.Doc{{Start: 0, End: uint32(len(text))}}})
	}
	w.Finish(dir + "/" + segment)
	owner.WriteManifest("run-1.json", index.Manifest{Segments: []index.ManifestSegment{{Name: segment}}})

	x, err := index.OpenIndex(dir, "run-1.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	word := index.Fold("Mutex")
	q := query.Or{query.Term{Field: 0, Text: word}, query.Term{Field: 1, Text: word, Weight: 0.5}}
	hits, _ := x.Search(context.Background(), q, index.Options{K: 10})
	for _, h := range hits {
		fmt.Printf("%s %d-%d %.2f\n", h.Path, h.Start, h.End, h.Score)
	}
	// Output:
	// a.go 0-21 0.46
	// b.go 0-30 0.23
}
