package migrations

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBothDatabasesHaveTheSameMigrations(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(names(t, SQLite()), names(t, Postgres())); diff != "" {
		t.Errorf("sqlite (-) and postgres (+) differ:\n%s", diff)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for i, name := range names(t, SQLite()) {
		if want := fmt.Sprintf("%05d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("file %d is %s; want a name that begins with %s", i+1, name, want)
		}
	}
}

func TestMigrationsGoUpAndDown(t *testing.T) {
	t.Parallel()
	for _, fsys := range []fs.FS{SQLite(), Postgres()} {
		for _, name := range names(t, fsys) {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, mark := range []string{"-- +goose Up\n", "-- +goose Down\n"} {
				if !strings.Contains(string(text), mark) {
					t.Errorf("%s has no %q", name, mark)
				}
			}
		}
	}
}

// names returns the file names in order.
func names(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	found, err := fs.Glob(fsys, "*.sql")
	if err != nil || len(found) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	return found
}
