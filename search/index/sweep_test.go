package index_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codesage/search/index"
)

func look(t *testing.T, dir string) *index.Sweep {
	t.Helper()
	s, err := index.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// left returns the names in a folder, without the locks of owners at work.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

func wantLeft(t *testing.T, dir string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := left(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func write(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSweepKeepsWhatManifestsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, s := range []string{"a.seg", "b.seg", "c.seg"} {
		oneWord(t, dir, s, "x")
	}
	for name, segs := range map[string][]string{"run-1.json": {"a.seg"}, "run-2.json": {"a.seg", "b.seg"}, "run-3.json": {"c.seg"}} {
		if err := newOwner(t, dir).WriteManifest(name, manifestOf(segs...)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, ".tmp-123", ".tmp-dead-9", ".tmp-dead.lock", "dead.lock", "notes.txt")
	open := openIndex(t, dir, "run-3.json", nil)
	if removed, err := look(t, dir).Remove([]string{"run-2.json", "run-9.json"}); err != nil || removed != nil {
		t.Errorf("sweep with a manifest that is not there: %v, %v", removed, err)
	}
	if _, err := look(t, dir).Remove([]string{"run-2.json"}); err != nil {
		t.Fatal(err)
	}
	wantLeft(t, dir, "a.seg", "b.seg", "notes.txt", "run-2.json")
	if _, err := os.Stat(filepath.Join(dir, "dead.lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of an owner that is dead: %v", err)
	}
	if count(t, open, "x") != 1 {
		t.Error("a reader lost a segment that it has open")
	}
}

func TestSweepOfADamagedManifestKeepsItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.seg", "run-1.json")
	if _, err := look(t, dir).Remove([]string{"run-1.json"}); err != nil {
		t.Fatal(err)
	}
	wantLeft(t, dir, "run-1.json")
}

func TestSweepSparesOwnersAtWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOwner(t, dir)
	segment := o.NewSegment()
	temp := ".tmp-" + o.Name() + "-1"
	write(t, dir, segment, temp, "dead-1.seg")
	s := look(t, dir)
	if _, err := s.Remove(nil); err != nil || !s.IsLive() {
		t.Fatalf("an owner is at work: %t, %v", s.IsLive(), err)
	}
	wantLeft(t, dir, segment, temp)
	o.End()
	s = look(t, dir)
	if _, err := s.Remove(nil); err != nil || s.IsLive() {
		t.Fatalf("an owner has ended and is at work: %t, %v", s.IsLive(), err)
	}
	wantLeft(t, dir)
}

// Whatever begins, goes on or ends between the two steps is safe, whether its
// manifest is kept or not.
func TestSweepRemovesOnlyWhatWasNoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := newOwner(t, dir)
	noted := before.NewSegment()
	write(t, dir, noted)
	s := look(t, dir)
	after := newOwner(t, dir)
	var names []string
	for _, o := range []*index.Owner{before, after} {
		name := o.NewSegment()
		oneWord(t, dir, name, "x")
		manifest := "run-" + o.Name() + ".json"
		if err := o.WriteManifest(manifest, manifestOf(name)); err != nil {
			t.Fatal(err)
		}
		o.End()
		names = append(names, name, manifest)
	}
	if _, err := s.Remove(nil); err != nil {
		t.Fatal(err)
	}
	wantLeft(t, dir, append(names, noted)...)
	if _, err := look(t, dir).Remove([]string{names[1]}); err != nil {
		t.Fatal(err)
	}
	wantLeft(t, dir, names[:2]...)
}

func TestOwnersDoNotExcludeEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := newOwner(t, dir), newOwner(t, dir)
	seen := map[string]bool{}
	for _, name := range []string{a.Name(), b.Name(), a.NewSegment(), a.NewSegment(), b.NewSegment(), b.NewSegment()} {
		if seen[name] {
			t.Errorf("two have the name %s", name)
		}
		seen[name] = true
	}
	if _, err := index.NewOwner(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v, want ErrNotExist", err)
	}
}

func TestFilesAreForTheirUserAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOwner(t, dir)
	name := o.NewSegment()
	oneWord(t, dir, name, "x")
	if err := o.WriteManifest("run-1.json", manifestOf(name)); err != nil {
		t.Fatal(err)
	}
	l, err := index.LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Fatalf("got %v, %v, want two locks, a segment and a manifest", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", e.Name(), info.Mode(), err)
		}
	}
}

func TestLockHasOneHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := index.LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.LockDir(dir); !errors.Is(err, index.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	l, err = index.LockDir(dir)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	l.Unlock()
}
