package index_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"codesage/search/index"
	"codesage/search/query"
)

// oneWord writes a segment with a file for each word.
func oneWord(t testing.TB, dir, name string, words ...string) {
	t.Helper()
	var files []index.File
	for i, w := range words {
		files = append(files, index.File{Path: fmt.Sprintf("%s/%d", name, i), Text: w, Docs: []index.Doc{{End: uint32(len(w))}}})
	}
	writeSegment(t, filepath.Join(dir, name), chunkSchema, files)
}

func manifestOf(names ...string) (m index.Manifest) {
	for _, n := range names {
		m.Segments = append(m.Segments, index.ManifestSegment{Name: n})
	}
	return m
}

// newOwner begins to write in a folder until the test ends.
func newOwner(t testing.TB, dir string) *index.Owner {
	t.Helper()
	o, err := index.NewOwner(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.End)
	return o
}

func count(t testing.TB, x *index.Index, word string) int {
	t.Helper()
	n, err := x.Count(context.Background(), query.Term{Text: word}, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func openIndex(t testing.TB, dir, name string, prev *index.Index) *index.Index {
	t.Helper()
	x, err := index.OpenIndex(dir, name, prev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestManifestsAreStatesOfOneFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	oneWord(t, dir, "a.seg", "old", "same")
	if err := newOwner(t, dir).WriteManifest("run-1.json", manifestOf("a.seg")); err != nil {
		t.Fatal(err)
	}
	first := openIndex(t, dir, "run-1.json", nil)

	// A run that has written its segment and died before its manifest
	// leaves the state as it was.
	oneWord(t, dir, "b.seg", "new")
	if x := openIndex(t, dir, "run-1.json", nil); count(t, x, "old") != 1 || count(t, x, "new") != 0 {
		t.Error("a segment that no manifest names is seen")
	}
	if _, err := index.OpenIndex(dir, "run-2.json", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open before the manifest: %v, want ErrNotExist", err)
	}

	part, file, ok, err := first.Find("a.seg/0")
	if err != nil || !ok || part != 0 {
		t.Fatalf("find: %d, %v, %v", part, ok, err)
	}
	m := manifestOf("a.seg", "b.seg")
	m.Segments[0].Deleted.Add(file)
	if err := newOwner(t, dir).WriteManifest("run-2.json", m); err != nil {
		t.Fatal(err)
	}
	second := openIndex(t, dir, "run-2.json", first)
	if second.Parts()[0].Segment != first.Parts()[0].Segment {
		t.Error("the segment of both states is mapped twice")
	}
	first.Close()
	for word, want := range map[string]int{"old": 0, "same": 1, "new": 1} {
		if got := count(t, second, word); got != want {
			t.Errorf("%s: %d matches in the second state, want %d", word, got, want)
		}
	}
	if _, _, ok, _ := second.Find("a.seg/0"); ok || second.Files() != 2 {
		t.Errorf("the deleted file is found, or %d files are not 2", second.Files())
	}
	if x := openIndex(t, dir, "run-1.json", second); count(t, x, "old") != 1 {
		t.Error("the first state has changed")
	}
}

func TestManifestRefusesBadNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	oneWord(t, dir, "a.seg", "x")
	for _, name := range []string{"", ".json", "a.seg", "../x.json", "sub/x.json", ".tmp-1.json", `a\b.json`} {
		if err := newOwner(t, dir).WriteManifest(name, index.Manifest{}); err == nil {
			t.Errorf("manifest %q is written", name)
		}
	}
	for _, name := range []string{"../a.seg", "gone.seg", "a.txt", "lock"} {
		if err := newOwner(t, dir).WriteManifest("m.json", manifestOf(name)); err == nil {
			t.Errorf("a manifest with segment %q is written", name)
		}
	}
}

func TestDamagedManifestIsCorrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	oneWord(t, dir, "a.seg", "x", "y", "z")
	m := manifestOf("a.seg")
	m.Segments[0].Deleted.Add(1)
	if err := newOwner(t, dir).WriteManifest("m.json", m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "m.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		b := slices.Clone(whole)
		b[i] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := index.ReadManifest(dir, "m.json")
		if err == nil && (got.Segments[0].Name != "a.seg" || got.Segments[0].Deleted.Len() != 1 || !got.Segments[0].Deleted.Has(1)) {
			t.Errorf("a flip at byte %d of %s reads as %+v", i, whole, got)
		} else if err != nil && !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("a flip at byte %d: %v, want ErrCorrupt", i, err)
		}
	}
}

func TestMergePlan(t *testing.T) {
	t.Parallel()
	deltas := func(n, files int) (s []index.SegmentSize) {
		for range n {
			s = append(s, index.SegmentSize{Files: files})
		}
		return s
	}
	base := index.SegmentSize{Files: 1000}
	for _, tc := range []struct {
		name  string
		sizes []index.SegmentSize
		want  []int
	}{
		{"nothing", nil, nil},
		{"one segment", []index.SegmentSize{base}, nil},
		{"few small deltas", append([]index.SegmentSize{base}, deltas(7, 1)...), nil},
		{"eight deltas", append(deltas(8, 1), base), []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"a tenth in deltas", append([]index.SegmentSize{base}, deltas(2, 50)...), []int{0, 1, 2}},
		{"a fifth deleted", []index.SegmentSize{{Files: 1000, Deleted: 200}}, []int{0}},
		{"less deleted", []index.SegmentSize{{Files: 1000, Deleted: 199}}, nil},
		{"all deleted", []index.SegmentSize{{Files: 1, Deleted: 1}}, []int{0}},
		{"huge ones stay", append([]index.SegmentSize{{Files: 1000, Bytes: 3 << 30}, base}, deltas(3, 1)...), nil},
		{"huge and half dead", []index.SegmentSize{{Files: 1000, Deleted: 500, Bytes: 3 << 30}}, []int{0}},
		{"no files", []index.SegmentSize{{}, {}}, []int{0, 1}},
	} {
		if got := index.MergePlan(tc.sizes); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
