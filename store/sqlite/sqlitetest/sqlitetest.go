// Package sqlitetest opens SQLite stores for tests.
package sqlitetest

import (
	"log/slog"
	"path/filepath"
	"testing"

	"codesage/store/sqlite"
)

// Open returns an empty store in a folder of its own. It is closed when the test
// ends.
func Open(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "codesage.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}
