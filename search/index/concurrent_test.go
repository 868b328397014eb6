package index_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// TestSearchesOutliveSwapAndClose searches while a writer swaps states under
// the searchers' feet: every search sees one state whole, or ErrClosed.
func TestSearchesOutliveSwapAndClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	oneWord(t, dir, "a.seg", "one", "two", "three")
	oneWord(t, dir, "b.seg", "four", "five")
	for name, m := range map[string]index.Manifest{"small.json": manifestOf("a.seg"), "large.json": manifestOf("a.seg", "b.seg")} {
		if err := newOwner(t, dir).WriteManifest(name, m); err != nil {
			t.Fatal(err)
		}
	}
	var cur atomic.Pointer[index.Index]
	cur.Store(openIndex(t, dir, "small.json", nil))
	done := make(chan struct{})
	var wg sync.WaitGroup
	var searched, closed atomic.Int64
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := cur.Load().Search(context.Background(), query.All{}, index.Options{K: 10})
				switch {
				case errors.Is(err, index.ErrClosed):
					closed.Add(1)
				case err != nil || len(hits) != 3 && len(hits) != 5:
					t.Errorf("%d hits, %v", len(hits), err)
					return
				}
				searched.Add(1)
			}
		})
	}
	for i := 0; i < 300 || searched.Load() < 100; i++ {
		old := cur.Load()
		x, err := index.OpenIndex(dir, []string{"large.json", "small.json"}[i%2], old)
		if err != nil {
			t.Fatal(err)
		}
		cur.Store(x)
		old.Close()
	}
	close(done)
	wg.Wait()
	last := cur.Load()
	last.Close()
	if err := last.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := last.Search(context.Background(), query.All{}, index.Options{K: 1}); !errors.Is(err, index.ErrClosed) {
		t.Errorf("search after close: %v, want ErrClosed", err)
	}
	t.Logf("%d searches, %d of a closed index", searched.Load(), closed.Load())
}

// TestSegmentStaysMappedForItsIndex closes the opener's reference first, and
// the Index within a search.
func TestSegmentStaysMappedForItsIndex(t *testing.T) {
	t.Parallel()
	path := segPath(t, 0)
	files := newGen(1).files(entitySchema, "s", 20)
	writeSegment(t, path, entitySchema, files)
	s, err := index.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x := newIndex(t, index.Part{Segment: s})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = x.Each(context.Background(), query.All{}, index.Options{}, func(m *index.Match) error {
		x.Close()
		n += len(m.Path()) + len(m.Payload())
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("close within a search: %v", err)
	}
	if _, _, err := s.FileInfo(0); !errors.Is(err, index.ErrClosed) {
		t.Errorf("use after the last close: %v, want ErrClosed", err)
	}
	if err := s.Close(); !errors.Is(err, index.ErrClosed) {
		t.Errorf("close once too often: %v, want ErrClosed", err)
	}
	if _, err := index.NewIndex([]index.Part{{Segment: s}}); !errors.Is(err, index.ErrClosed) {
		t.Errorf("index of a closed segment: %v, want ErrClosed", err)
	}
}
