package sqlite

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mattn/go-sqlite3"

	"codesage"
	"codesage/migrations"
	"codesage/store"
)

var quiet = slog.New(slog.DiscardHandler)

// filled makes a closed database with one indexed folder and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "codesage.db")
	s, err := Open(t.Context(), path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	_, run, err := s.CreateRepository(ctx, codesage.Repository{Name: "a", Session: "a", Source: codesage.SourceFolder, Path: "/a"})
	if err == nil {
		run, err = s.StartRun(ctx, run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(ctx, run, 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []store.Text
	for i := range 200 {
		files = append(files, store.Text{File: codesage.File{Path: fmt.Sprintf("f%03d", i), Size: 5000}, Text: strings.Repeat("text ", 1000)})
	}
	if _, err := w.Put(ctx, files); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(ctx, codesage.Outcome{}); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFileIsSaidInOneLineWithAdvice(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		damage func(data []byte) []byte
		want   string
	}{
		{"not a database", func([]byte) []byte { return []byte(strings.Repeat("not a database ", 100)) }, "file is not a database"},
		{"too short", func(d []byte) []byte { return d[:50] }, "file is too short"},
		{"cut off", func(d []byte) []byte { return d[:len(d)/2] }, "file is cut off"},
		{"pages overwritten", func(d []byte) []byte {
			for i := 4096; i < len(d)/2; i++ {
				d[i] = byte(i * 7)
			}
			return d
		}, "is damaged"},
		{"one page of a tree overwritten", func(d []byte) []byte {
			copy(d[len(d)-8192:], strings.Repeat("\x05\xff", 2048))
			return d
		}, "is damaged"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tc.damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), path, quiet)
			if err == nil {
				s.Close()
				t.Fatal("a damaged file was opened")
			}
			for _, want := range []string{path, tc.want, "move it away and start again to re-index"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got more than one line: %q", err)
			}
		})
	}
}

// newer is the schema with one more migration for each name.
func newer(t *testing.T, statements ...string) fs.FS {
	t.Helper()
	schema := fstest.MapFS{}
	names, err := fs.Glob(migrations.SQLite(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(migrations.SQLite(), name)
		if err != nil {
			t.Fatal(err)
		}
		schema[name] = &fstest.MapFile{Data: data}
	}
	for i, statement := range statements {
		schema[fmt.Sprintf("%05d_test.sql", len(names)+i+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + statement + ";\n-- +goose Down\n")}
	}
	return schema
}

func TestOlderSchemaIsBroughtUpToDateAfterACopy(t *testing.T) {
	t.Parallel()
	path := filled(t)
	var statements []string
	for n := range 5 {
		statements = append(statements, fmt.Sprintf("CREATE TABLE extra%d (id INTEGER)", n))
		s, err := open(t.Context(), path, quiet, newer(t, statements...))
		if err != nil {
			t.Fatal(err)
		}
		if all, err := s.ListRepositories(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("after migration %d: %d repositories, %v", n, len(all), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := len(listBackups(path)), min(n+1, keepBackups); got != want {
			t.Errorf("after migration %d: %d copies, want %d", n, got, want)
		}
	}
	backups := listBackups(path)
	oldest := backups[0]
	if want := path + ".v" + fmt.Sprint(latest(t)+2) + "-"; !strings.HasPrefix(oldest, want) {
		t.Errorf("the oldest copy is %s, want a name that begins with %s", oldest, want)
	}
	s, err := open(t.Context(), oldest, quiet, newer(t, statements...))
	if err != nil {
		t.Fatalf("open a copy: %v", err)
	}
	defer s.Close()
	r, err := s.RepositoryBySession(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	sn, _ := r.Snapshot()
	if n, err := s.CountFiles(t.Context(), sn); err != nil || n != 200 {
		t.Errorf("the copy has %d files, %v", n, err)
	}
	if err := os.WriteFile(path, []byte("rubbish that is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, quiet); err == nil || !strings.Contains(err.Error(), "or restore the backup "+backups[len(backups)-1]) {
		t.Errorf("got %v, want the newest copy named", err)
	}
}

func latest(t *testing.T) int {
	t.Helper()
	names, err := fs.Glob(migrations.SQLite(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestFailedMigrationLeavesTheDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	path := filled(t)
	if s, err := open(t.Context(), path, quiet, newer(t, "CREATE TABLE files (id INTEGER)")); err == nil {
		s.Close()
		t.Fatal("a migration that can't work worked")
	}
	s, err := Open(t.Context(), path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestFileOfANewerOrAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	s, err := open(t.Context(), path, quiet, newer(t, "CREATE TABLE later (id INTEGER)"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), `DROP TABLE goose_db_version`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, quiet); err == nil || !strings.Contains(err.Error(), "is a database of another program") {
		t.Errorf("got %v, want another program's database refused", err)
	}

	path = filled(t)
	s, err = open(t.Context(), path, quiet, newer(t, "CREATE TABLE later (id INTEGER)"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, quiet)
	if want := fmt.Sprintf("has schema %d and this program knows %d", latest(t)+1, latest(t)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestPathsThatURLsTreatSpeciallyAreOpened(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "q?mode=memory", "100%41", "h#x", "ä"} {
		path := filepath.Join(t.TempDir(), name, "codesage.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, quiet)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestMissingFolderIsUnavailable(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), filepath.Join(t.TempDir(), "none", "codesage.db"), quiet)
	wantUnavailable(t, err, "can't be opened")
}

func TestFullDiskAndReadOnlyAreUnavailable(t *testing.T) {
	t.Parallel()
	path := filled(t)
	s, err := Open(t.Context(), path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pragma := func(text string) {
		t.Helper()
		if _, err := s.writer.ExecContext(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	pragma(`PRAGMA max_page_count = 1`) // the size that it has
	for i := 0; err == nil; i++ {
		r := codesage.Repository{Session: fmt.Sprint("b", i), Source: codesage.SourceFolder, Path: strings.Repeat("p", 100_000)}
		_, _, err = s.CreateRepository(t.Context(), r)
	}
	wantUnavailable(t, err, "is full: free some space")
	pragma(`PRAGMA max_page_count = 1000000`)
	pragma(`PRAGMA query_only = 1`)
	_, _, err = s.CreateRepository(t.Context(), codesage.Repository{Session: "c", Source: codesage.SourceFolder})
	wantUnavailable(t, err, "can't be written")
	pragma(`PRAGMA query_only = 0`)
	if _, _, err = s.CreateRepository(t.Context(), codesage.Repository{Session: "c", Source: codesage.SourceFolder}); err != nil {
		t.Errorf("after the disk has room again: %v", err)
	}
}

func wantUnavailable(t *testing.T, err error, words string) {
	t.Helper()
	if codesage.KindOf(err) != codesage.KindUnavailable {
		t.Errorf("got %v, want kind %s", err, codesage.KindUnavailable)
	}
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want it to say %q", err, words)
	}
}

func TestErrorsOfTheDriverHaveKinds(t *testing.T) {
	t.Parallel()
	s := &Store{path: "codesage.db"}
	for code, want := range map[sqlite3.ErrNo]codesage.Kind{
		sqlite3.ErrFull: codesage.KindUnavailable, sqlite3.ErrReadonly: codesage.KindUnavailable, sqlite3.ErrBusy: codesage.KindUnavailable,
		sqlite3.ErrIoErr: codesage.KindUnavailable, sqlite3.ErrCantOpen: codesage.KindUnavailable,
		sqlite3.ErrCorrupt: codesage.KindInternal, sqlite3.ErrConstraint: codesage.KindInternal,
	} {
		err := s.explain(fmt.Errorf("write: %w", sqlite3.Error{Code: code}))
		if got := codesage.KindOf(err); got != want {
			t.Errorf("%v: got kind %s, want %s", code, got, want)
		}
	}
}

func TestPruneRemovesWhatACrashLeftOfADeletedRepository(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filled(t), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.RepositoryBySession(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.CreateRun(t.Context(), store.NewRun{Repository: r.ID})
	if err == nil {
		run, err = s.StartRun(t.Context(), run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	// What DeleteRepository has done when it is killed after its first step.
	if _, err := s.writer.ExecContext(t.Context(), `UPDATE repositories SET deleted = 1`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repository(t.Context(), r.ID); codesage.KindOf(err) != codesage.KindNotFound {
		t.Errorf("Repository: got %v, want it gone", err)
	}
	if err := s.Report(t.Context(), run, codesage.Progress{}); codesage.KindOf(err) != codesage.KindConflict {
		t.Errorf("Report: got %v, want the run overtaken", err)
	}
	if err := s.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"repositories", "runs", "files", "file_texts", "entities", "spans", "skips"} {
		var n int
		if err := s.writer.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}

func TestFreePagesGoBackToTheDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "codesage.db")
	s, err := Open(t.Context(), path, quiet)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s)
	r, err := s.RepositoryBySession(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.CreateRun(t.Context(), store.NewRun{Repository: r.ID})
	if err == nil {
		run, err = s.StartRun(t.Context(), run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(t.Context(), run, r.Published.ID)
	if err != nil {
		t.Fatal(err)
	}
	big := store.Text{File: codesage.File{Path: "big", Size: 12 << 20}, Text: strings.Repeat("x", 12<<20)}
	if _, err := w.Put(t.Context(), []store.Text{big}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteRepository(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 9<<20 {
		t.Errorf("the file has %d bytes after all was deleted", info.Size())
	}
}
