package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
)

func TestABackupIsRestored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	folder := t.TempDir()
	files := newTree(6, 60, 1)
	files.write(t, folder)
	s.index(folder, "kept")
	ask := questions("kept", anyPath(files))
	want := readState(t, s, "kept", ask)
	file := filepath.Join(t.TempDir(), "copy.db")
	env := settings{"CODESAGE_DATA_DIR=" + s.data}
	backup := command{args: []string{"backup", file}, env: env}
	if out := backup.run(t); out.code != exitOK {
		t.Fatalf("backup beside a running server: %s", out.stderr)
	}
	if out := backup.run(t); out.code != exitFailed || !strings.Contains(out.stderr, "exists already") {
		t.Errorf("a second backup to the same file: code %d, %s", out.code, out.stderr)
	}
	restore := command{args: []string{"restore", file}, env: env}
	if out := restore.run(t); out.code != exitFailed || !strings.Contains(out.stderr, "another codesage server") {
		t.Errorf("restore below a running server: code %d, %s", out.code, out.stderr)
	}
	if err := s.api.Remove(context.Background(), must[listResult](t, s, "list_repositories", nil).id(t)); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if out := restore.run(t); out.code != exitOK || !strings.Contains(out.stdout, ".replaced-") {
		t.Fatalf("restore: code %d, %s%s", out.code, out.stdout, out.stderr)
	}
	again := serverAt(t, s.data)
	checkState(t, readState(t, again, "kept", ask), want)
	again.stop()
}

// id returns the id of the only repository.
func (l listResult) id(t testing.TB) codesage.RepositoryID {
	t.Helper()
	if len(l.Repositories) != 1 {
		t.Fatalf("%d repositories", len(l.Repositories))
	}
	return codesage.RepositoryID(l.Repositories[0].ID)
}
