package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codesage"
)

func TestABackupIsRestored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	folder := t.TempDir()
	newTree(6, 60, 1).write(t, folder)
	s.index(folder, "kept")
	want := tellIndex(t, s, "kept")
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
	if got := tellIndex(t, again, "kept"); !slices.Equal(got, want) {
		t.Errorf("after the restore: got %.500s, want %.500s", got, want)
	}
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
