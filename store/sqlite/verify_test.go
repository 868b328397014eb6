package sqlite

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
)

func TestVerifyFindsDamageAndChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codesage.db")
	if err := Verify(t.Context(), path); codesage.KindOf(err) != codesage.KindNotFound {
		t.Errorf("without a database: %v", err)
	}
	s, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// What a server has not yet moved out of its log counts too.
	if _, err := s.writer.ExecContext(t.Context(), `
		CREATE TABLE filler (text TEXT);
		INSERT INTO filler VALUES (hex(randomblob(300000)));
		CREATE INDEX filler_text ON filler (substr(text, 1, 100))`); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("the log: %d bytes, %v", len(log), err)
	}
	if err := Verify(t.Context(), path); err != nil {
		t.Errorf("beside a server: %v", err)
	}
	if after, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(after, log) {
		t.Errorf("the log was changed: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), path); err != nil {
		t.Errorf("after a server: %v", err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("reading left %v, %v", left, err)
	}
	// The last page is deep in the filler, which no start reads.
	copy(whole[len(whole)-3000:], bytes.Repeat([]byte{0xff}, 2000))
	whole[len(whole)-4096] = 0xff // a chain of pages that leads nowhere
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), path); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a damaged page: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, whole) {
		t.Errorf("the database was changed: %v", err)
	}
}

func TestVerifyTellsWhatAStartWouldRefuse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, change, want string }{
		{"a newer schema", `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, TRUE)`, "has schema 99 and this program knows 1: use the newer program"},
		{"another program's", `ALTER TABLE goose_db_version RENAME TO other`, "is a database of another program"},
	} {
		path := filepath.Join(t.TempDir(), "codesage.db")
		s, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.writer.ExecContext(t.Context(), tc.change)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if err := Verify(t.Context(), path); codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestALogWithoutItsDatabaseIsKept: it may hold all that there is.
func TestALogWithoutItsDatabaseIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codesage.db")
	for _, file := range []string{path, path + "-wal"} {
		if err := os.WriteFile(file, []byte(strings.TrimPrefix(file, path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, opened := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	for _, err := range []error{Verify(t.Context(), path), opened} {
		if err == nil || !strings.Contains(err.Error(), "is damaged (file is empty and its log is not)") {
			t.Errorf("got %v", err)
		}
	}
	if log, err := os.ReadFile(path + "-wal"); err != nil || string(log) != "-wal" {
		t.Errorf("the log is %q, %v", log, err)
	}
}
