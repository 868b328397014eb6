package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codesage"
)

// indexed returns the data folder of a server that indexed a small tree and
// ended, and all that it told.
func indexed(t *testing.T) (data string, told everything) {
	t.Helper()
	folder := t.TempDir()
	newTree(31, 200, 1).write(t, folder)
	s := newServer(t)
	repo, _ := s.index(folder, "precious")
	told = tellEverything(t, s, repo.ID)
	s.stop()
	return s.data, told
}

func TestADamagedDatabaseIsReported(t *testing.T) {
	t.Parallel()
	data, _ := indexed(t)
	for _, tc := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"noise", func(b []byte) []byte { return bytes.Repeat([]byte("noise "), 5000) }},
		{"overwritten head", func(b []byte) []byte { return append(make([]byte, 100), b[100:]...) }},
		{"cut short", func(b []byte) []byte { return b[:len(b)/2] }},
		{"overwritten schema", func(b []byte) []byte { return slices.Concat(b[:100], make([]byte, 4000), b[4100:]) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			copied := copyOf(t, data)
			path := filepath.Join(copied, "codesage.db")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := tc.damage(before)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			got := serving(t, "CODESAGE_PORT=0", "CODESAGE_DATA_DIR="+copied)
			lines := got.faults()
			if got.code != exitFailed || len(lines) != 1 || !strings.HasPrefix(lines[0], "codesage: the database "+path+" is damaged (") ||
				!strings.HasSuffix(lines[0], "): move it away and start again to re-index") {
				t.Errorf("exit code %d, %q", got.code, lines)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, damaged) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

func TestADamagedIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	data, told := indexed(t)
	for _, tc := range []struct {
		name   string
		damage func(path string) error
	}{
		{"flipped bits", func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := len(b) / 3; i < min(len(b), len(b)/3+64); i++ {
				b[i] ^= 0x55
			}
			return os.WriteFile(path, b, 0o600)
		}},
		{"cut short", func(path string) error { return os.Truncate(path, 1000) }},
		{"empty", func(path string) error { return os.Truncate(path, 0) }},
		{"gone", os.Remove},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			copied := copyOf(t, data)
			files, err := filepath.Glob(filepath.Join(copied, "index", "*", "*", "*"))
			if err != nil || len(files) < 4 {
				t.Fatalf("the index has the files %q: %v", files, err)
			}
			for _, path := range files {
				if filepath.Base(path) == "lock" {
					continue
				}
				if err := tc.damage(path); err != nil {
					t.Fatal(err)
				}
			}
			s := serverAt(t, copied)
			var last string
			s.eventually("the index is whole again", func() bool {
				answer, err := call(s.api, "search_code", args{"query": "order"})
				last = answer.Error
				return err == nil && !answer.IsError
			})
			t.Logf("last refusal: %q", last)
			checkSame(t, tellEverything(t, s, 1), told)
		})
	}
}

func TestALostDatabaseIsAFreshStart(t *testing.T) {
	t.Parallel()
	data, told := indexed(t)
	for _, name := range []string{"codesage.db", "codesage.db-wal", "codesage.db-shm"} {
		_ = os.Remove(filepath.Join(data, name))
	}
	s := serverAt(t, data)
	if got := must[listResult](t, s, "list_repositories", nil); len(got.Repositories) != 0 {
		t.Errorf("there are %v", got.Repositories)
	}
	folder := t.TempDir()
	newTree(31, 200, 1).write(t, folder)
	repo, _ := s.index(folder, "precious")
	if repo.Status != codesage.StatusCompleted {
		t.Fatalf("%s: %s", repo.Status, repo.ErrorMessage)
	}
	checkSame(t, tellEverything(t, s, repo.ID), told)
}
