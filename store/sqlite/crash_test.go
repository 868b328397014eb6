package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/store"
)

// crashEnv names the database that a child process writes until it is killed.
const crashEnv = "CODESAGE_TEST_CRASH_DATABASE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		fmt.Println("child:", writeUntilKilled(context.Background(), path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// apply is what a run does to the files; it follows from the run's id alone.
func apply(files map[string]string, run codesage.RunID) (put, removed []string) {
	rnd := rand.New(rand.NewPCG(uint64(run), 3))
	for i := range 60 {
		path := fmt.Sprintf("f%02d", i)
		switch rnd.IntN(5) {
		case 0, 1:
			files[path] = fmt.Sprint(path, " of run ", run)
			put = append(put, path)
		case 2:
			delete(files, path)
			removed = append(removed, path)
		}
	}
	return put, removed
}

// writeUntilKilled indexes one repository again and again, and says each step on
// standard output.
func writeUntilKilled(ctx context.Context, path string) error {
	s, err := Open(ctx, path, quiet)
	if err != nil {
		return err
	}
	r, err := s.RepositoryBySession(ctx, "crash")
	if codesage.KindOf(err) == codesage.KindNotFound {
		r, _, err = s.CreateRepository(ctx, codesage.Repository{Session: "crash", Source: codesage.SourceFolder})
	}
	for err == nil {
		err = crashRun(ctx, s, r.ID)
	}
	return err
}

func crashRun(ctx context.Context, s *Store, id codesage.RepositoryID) error {
	r, err := s.Repository(ctx, id)
	if err != nil {
		return err
	}
	run, err := s.CreateRun(ctx, store.NewRun{Repository: id, Supersede: true})
	if err == nil {
		run, err = s.StartRun(ctx, run.ID, 0)
	}
	if err != nil {
		return err
	}
	fmt.Println("started", run.ID)
	w, err := s.Begin(ctx, run, r.TextRun)
	if err != nil {
		return err
	}
	files := map[string]string{}
	put, removed := apply(files, run.ID)
	if err := w.Remove(ctx, removed); err != nil {
		return err
	}
	for _, path := range put {
		ids, err := w.Put(ctx, []store.Text{{File: codesage.File{Path: path}, Text: files[path]}})
		if err != nil {
			return err
		}
		if err := w.PutSymbols(ctx, []store.Symbols{{File: ids[0], Parser: 1, Entities: []codesage.Entity{{Name: path}}}}); err != nil {
			return err
		}
		fmt.Println("put", path)
	}
	if err := w.Publish(ctx, codesage.Outcome{}); err != nil {
		return err
	}
	fmt.Println("published", run.ID)
	return s.Prune(ctx, 0)
}

func TestKilledAtAnyMomentTheStoreHasTheLastPublishedRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codesage.db")
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	want, seen := map[string]string{}, codesage.RunID(0)
	for kill := range 10 {
		steps := 1 + rnd.IntN(120)
		killAfter(t, path, steps)
		s, err := Open(t.Context(), path, quiet)
		if err != nil {
			t.Fatalf("kill %d after %d steps: %v", kill, steps, err)
		}
		seen = checkAfterKill(t, s, want, seen)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("kill %d after %d steps", kill, steps)
		}
	}
	if seen == 0 {
		t.Error("no run was published in all that time")
	}
}

// killAfter starts a child and kills it when it has said some steps.
func killAfter(t *testing.T, path string, steps int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashEnv+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for n := 0; n < steps && said.Scan(); n++ {
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for said.Scan() { // until the pipe ends
	}
	if err := child.Wait(); err == nil || child.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v, last words %q", err, said.Text())
	}
}

// checkAfterKill brings want forward by the runs published since seen, compares
// it with the published snapshot, and returns the last run.
func checkAfterKill(t *testing.T, s *Store, want map[string]string, seen codesage.RunID) codesage.RunID {
	t.Helper()
	ctx := t.Context()
	var answer string
	if err := s.writer.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&answer); err != nil || answer != "ok" {
		t.Errorf("integrity check: %s, %v", answer, err)
	}
	r, err := s.RepositoryBySession(ctx, "crash")
	if codesage.KindOf(err) == codesage.KindNotFound {
		return seen // killed before it was there
	}
	if err != nil {
		t.Fatal(err)
	}
	runs, err := s.ListRuns(ctx, r.ID, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].ID > seen && runs[i].Status == codesage.StatusCompleted {
			apply(want, runs[i].ID)
			seen = runs[i].ID
		}
	}
	sn, ok := r.Snapshot()
	if sn.Run != seen || ok != (seen != 0) {
		t.Errorf("published run is %d, want %d", sn.Run, seen)
	}
	got := map[string]string{}
	if err := s.Texts(ctx, sn, "", nil, func(f store.Text) error {
		got[f.Path] = f.Text
		if f.Entities != 1 {
			t.Errorf("%s has %d entities", f.Path, f.Entities)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, maps.Clone(want)); diff != "" {
		t.Errorf("published files: got (-) want (+):\n%s", diff)
	}
	if r.Latest.ID != seen {
		if _, err := s.StartRun(ctx, r.Latest.ID, 0); err != nil {
			t.Errorf("take up the run that died: %v", err)
		}
	}
	return seen
}
