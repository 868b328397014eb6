//go:build darwin || linux

package index_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codesage/search/index"
	"codesage/search/query"
)

// childEnv names what a child process of the tests is to do, and where.
const (
	childEnv    = "INDEX_TEST_CHILD"
	childDirEnv = "INDEX_TEST_DIR"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "publish":
		publishForever(os.Getenv(childDirEnv))
	case "full":
		buildOnAFullDisk(os.Getenv(childDirEnv))
	}
}

func child(ctx context.Context, what, dir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// runFile is the file of a run; its text tells the run.
func runFile(n int) index.File {
	text := fmt.Sprintf("run%d %s", n, strings.Repeat("filler words of the run ", 500))
	f := index.File{Path: fmt.Sprintf("f%d", n), Text: text}
	f.Docs = chunks(text, 512, 64)
	return f
}

// publishForever adds a file a run, merging now and then, and says which
// manifest is written.
func publishForever(dir string) {
	var m index.Manifest
	for n := 1; ; n++ {
		owner, err := index.NewOwner(dir)
		exitOn(err)
		w, err := index.NewWriter(index.WriterOptions{Schema: chunkSchema, Dir: dir, Owner: owner.Name(), Budget: 1})
		exitOn(err)
		name := owner.NewSegment()
		exitOn(w.Add(runFile(n)))
		exitOn(w.Finish(filepath.Join(dir, name)))
		m.Segments = append(m.Segments, index.ManifestSegment{Name: name})
		if len(m.Segments) > 3 {
			exitOn(mergeAll(dir, &m, owner.NewSegment()))
		}
		exitOn(owner.WriteManifest(fmt.Sprintf("run-%d.json", n), m))
		owner.End()
		fmt.Println(n)
		exitOn(sweep(dir, fmt.Sprintf("run-%d.json", n)))
	}
}

func sweep(dir string, keep ...string) error {
	s, err := index.Look(dir)
	if err != nil {
		return err
	}
	_, err = s.Remove(keep)
	return err
}

func mergeAll(dir string, m *index.Manifest, name string) error {
	var in []index.MergeInput
	for _, e := range m.Segments {
		s, err := index.Open(filepath.Join(dir, e.Name))
		if err != nil {
			return err
		}
		defer s.Close()
		in = append(in, index.MergeInput{Segment: s, Deleted: e.Deleted})
	}
	m.Segments = []index.ManifestSegment{{Name: name}}
	return index.Merge(filepath.Join(dir, name), in)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestKillLeavesAWholeState kills a writer at random moments. What it had
// published is there, whole, and a sweep removes the rest.
func TestKillLeavesAWholeState(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		dir := t.TempDir()
		cmd := child(t.Context(), "publish", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The moment of the kill is counted from a published state, so that
		// there is one to look for.
		published := bufio.NewScanner(out)
		for range 1 + i {
			if !published.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		time.AfterFunc(time.Duration(i)*1700*time.Microsecond, func() { cmd.Process.Kill() })
		for published.Scan() {
		}
		last := published.Text()
		cmd.Wait()
		checkKilled(t, dir, last)
	}
}

func checkKilled(t *testing.T, dir, last string) {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(dir, "run-*.json"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifest after run %s: %v", last, err)
	}
	newest := 0
	for _, path := range manifests {
		var n int
		fmt.Sscanf(filepath.Base(path), "run-%d.json", &n)
		newest = max(newest, n)
	}
	var said int
	if fmt.Sscan(last, &said); said > newest {
		t.Fatalf("run %d was published and the newest manifest is of run %d", said, newest)
	}
	name := fmt.Sprintf("run-%d.json", newest)
	if err := sweep(dir, name); err != nil {
		t.Fatal(err)
	}
	x := openIndex(t, dir, name, nil)
	for _, p := range x.Parts() {
		if err := p.Segment.Verify(); err != nil {
			t.Error(err)
		}
	}
	for n := 1; n <= newest+1; n++ {
		if got, want := count(t, x, fmt.Sprintf("run%d", n)) > 0, n <= newest; got != want {
			t.Errorf("state of run %d has run %d: %v", newest, n, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1+len(x.Parts()) {
		t.Errorf("%v is left, want a manifest and its %d segments", left, len(x.Parts()))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tmp-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestFullDiskIsAnError builds where files may not grow past a limit.
func TestFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := child(t.Context(), "full", dir).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// buildOnAFullDisk fails unless every build fails for the right reason.
func buildOnAFullDisk(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	files := newGen(1).files(chunkSchema, "s", 300)
	for _, limit := range []uint64{100, 60_000} {
		exitOn(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: 1 << 40}))
		for _, budget := range []int{1 << 20, 100 << 10} {
			err := writeFiles(filepath.Join(dir, "x.seg"), index.WriterOptions{Schema: chunkSchema, Budget: budget}, files)
			if !errors.Is(err, syscall.EFBIG) {
				exitOn(fmt.Errorf("limit %d, budget %d: %v, want EFBIG", limit, budget, err))
			}
		}
		owner, err := index.NewOwner(dir)
		exitOn(err)
		if err := owner.WriteManifest("m.json", index.Manifest{Segments: nil}); limit < 80 && err == nil {
			exitOn(errors.New("a manifest is written on a full disk"))
		}
		owner.End()
		os.Remove(filepath.Join(dir, "m.json"))
	}
}

// TestFileCutWhileMappedIsAnError takes the pages away from under a search.
func TestFileCutWhileMappedIsAnError(t *testing.T) {
	t.Parallel()
	path := segPath(t, 0)
	s := writeSegment(t, path, chunkSchema, newGen(1).files(chunkSchema, "s", 400))
	x := newIndex(t, index.Part{Segment: s})
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	_, err := x.Search(ctx, query.Term{Text: "aa"}, index.Options{K: 5})
	if !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("search: %v, want ErrCorrupt", err)
	}
	for name, err := range map[string]error{
		"verify":     s.Verify(),
		"candidates": x.Candidates(ctx, index.Literal("abc"), func(*index.FileMatch) error { return nil }),
		"merge":      index.Merge(segPath(t, 1), []index.MergeInput{{Segment: s}}),
	} {
		if !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
	if _, _, err := s.Find("x"); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("find: %v, want ErrCorrupt", err)
	}
	var nothing *index.Index
	defer func() {
		if recover() == nil {
			t.Error("a nil pointer in the caller's function is taken for damage")
		}
	}()
	y := newIndex(t, index.Part{Segment: writeSegment(t, segPath(t, 2), chunkSchema, newGen(1).files(chunkSchema, "s", 10))})
	y.EachFile(ctx, func(*index.FileMatch) error { return fmt.Errorf("%d", nothing.Docs()) })
}
