package sqlite

import (
	"bytes"
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
