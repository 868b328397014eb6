package index_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"codesage/search/index"
)

// sampleBytes is a small segment file of each schema.
func sampleBytes(t testing.TB, files int) [][]byte {
	t.Helper()
	var out [][]byte
	for i, schema := range []index.Schema{chunkSchema, entitySchema} {
		path := segPath(t, i)
		writeSegment(t, path, schema, newGen(uint64(i)).files(schema, "s", files))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// exercise uses everything of a segment that may be damaged and returns the
// first error. It must not panic and must end.
func exercise(s *index.Segment, g gen, dir string) (first error) {
	ctx := context.Background()
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	var del index.FileSet
	del.Add(1)
	x, err := index.NewIndex([]index.Part{{Segment: s, Deleted: del}})
	if err != nil {
		return err
	}
	defer x.Close()
	schema := s.Schema()
	if len(schema.Attrs) < 2 && len(schema.Fields) > 3 || len(schema.Fields) < 2 {
		return nil // the random queries are for the two schemas of the tests
	}
	for range 6 {
		q := g.query(schema, 3)
		_, err := x.Search(ctx, q, index.Options{K: 10})
		note(err)
		_, err = x.Count(ctx, q, index.Options{})
		note(err)
	}
	note(x.Candidates(ctx, index.Literal("aa.ba"), func(f *index.FileMatch) error { f.Docs(); f.Path(); return nil }))
	_, err = x.Near(ctx, 0, "aa", 10)
	note(err)
	_, err = x.Terms(ctx, 0, "", 1000)
	note(err)
	_, _, err = s.Find("d1/s/fileName1.go")
	note(err)
	if dir != "" {
		path := filepath.Join(dir, "m.seg")
		note(index.Merge(path, []index.MergeInput{{Segment: s, Deleted: del}, {Segment: s}}))
		os.Remove(path)
	}
	return first
}

// TestDamageIsAnErrorOrAnAnswer reads cut and altered files.
func TestDamageIsAnErrorOrAnAnswer(t *testing.T) {
	t.Parallel()
	whole, dir := sampleBytes(t, 40), t.TempDir()
	g := newGen(uint64(rand.Uint32()))
	n, refused, failed, fine, unseen := 0, 0, 0, 0, 0
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end) && n < 2500; n++ {
		b := slices.Clone(whole[n%2])
		if g.IntN(6) == 0 {
			b = b[:g.IntN(len(b))]
		} else {
			damage(g, b)
		}
		if slices.Equal(b, whole[n%2]) {
			continue // the flips fell on an empty section
		}
		s, err := index.OpenBytes(b)
		if err != nil {
			refused++
			continue
		}
		mergeDir := ""
		if n%40 == 0 {
			mergeDir = dir
		}
		if err := exercise(s, g, mergeDir); err != nil {
			failed++
			continue
		}
		fine++
		if s.Verify() == nil {
			unseen++
		}
	}
	t.Logf("%d damaged files: %d refused at open, %d gave an error, %d gave none", n, refused, failed, fine)
	if unseen > 0 {
		t.Errorf("%d damaged files passed Verify", unseen)
	}
}

// damage flips one to many bits, evenly over the sections.
func damage(g gen, b []byte) {
	for range 1 << g.IntN(8) {
		_, off, size, ok := index.SectionRange(b, g.IntN(16))
		if ok && size > 0 {
			b[off+uint64(g.Int64N(int64(size)))] ^= 1 << g.IntN(8)
		}
	}
}

// TestVerifyFindsEverySingleFlip flips one bit in each section.
func TestVerifyFindsEverySingleFlip(t *testing.T) {
	t.Parallel()
	for _, whole := range sampleBytes(t, 10) {
		for i := 0; ; i++ {
			name, off, size, ok := index.SectionRange(whole, i)
			if !ok {
				break
			}
			for at := uint64(0); at < size; at += 1 + size/7 {
				b := slices.Clone(whole)
				b[off+at] ^= 4
				if s, err := index.OpenBytes(b); err == nil && s.Verify() == nil {
					t.Errorf("a flip at %d of section %s passes Verify", at, name)
				}
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, b := range sampleBytes(f, 6) {
		f.Add(b, uint64(1))
		f.Add(b[:len(b)/2], uint64(2))
		for i := range 4 {
			c := slices.Clone(b)
			damage(newGen(uint64(i)), c)
			f.Add(c, uint64(i))
		}
	}
	f.Add([]byte("CSINDEX\x01"), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		index.FixHeader(b)
		s, err := index.OpenBytes(b)
		if err != nil {
			return
		}
		exercise(s, newGen(seed), "")
		s.Verify()
	})
}

// TestQueriesOfEveryKindOnAnEmptyIndex must find nothing and not fail.
func TestQueriesOfEveryKindOnAnEmptyIndex(t *testing.T) {
	t.Parallel()
	g := newGen(1)
	empty := newIndex(t)
	noFiles := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 0), entitySchema, nil)})
	for range 200 {
		q := g.query(entitySchema, 3)
		for _, x := range []*index.Index{empty, noFiles} {
			if hits, err := x.Search(context.Background(), q, index.Options{K: 3}); err != nil || len(hits) > 0 {
				t.Fatalf("%s: %v, %v", q, hits, err)
			}
		}
	}
	if _, err := empty.Near(context.Background(), 0, "word", 3); err != nil {
		t.Error(err)
	}
}
