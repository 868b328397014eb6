package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
	"codesage/store/storetest"
)

// open returns an empty store on a server.
func open(t testing.TB, server *postgrestest.Server) store.Store {
	t.Helper()
	return connect(t, migrated(t, server))
}

// migrated makes a database that has the schema.
func migrated(t testing.TB, server *postgrestest.Server) string {
	t.Helper()
	url := server.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return url
}

// connect opens a store, which is closed when the test ends.
func connect(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, slog.New(slog.DiscardHandler))
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

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, server) })
}

func TestSchemaIsChangedByMigrateOnly(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.Database(t)
	_, err := postgres.Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "run `codesage migrate`") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Open of an empty database: got %v", err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	migrated := 0
	for range 3 {
		wg.Go(func() {
			from, to, err := postgres.Migrate(t.Context(), url, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Errorf("Migrate: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if from < to {
				migrated++
			}
		})
	}
	wg.Wait()
	if migrated == 0 {
		t.Error("none of three migrated")
	}
	s, err := postgres.Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestServerThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, url, want string
		kind            codesage.Kind
	}{
		{"no server", "postgres://u:secret@127.0.0.1:1/codesage?connect_timeout=2", "can't be reached", codesage.KindUnavailable},
		{"no socket", "postgres:///codesage?user=u&password=secret&host=/none", "can't be reached", codesage.KindUnavailable},
		{"no URL", "postgres://u:secret@127.0.0.1:port/codesage", "DATABASE_URL", codesage.KindInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(context.Background(), tc.url, slog.New(slog.DiscardHandler))
			if got := codesage.KindOf(err); got != tc.kind {
				t.Errorf("got kind %s of %v, want %s", got, err, tc.kind)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want %q in one line without the password", err, tc.want)
			}
		})
	}
}

func TestWorkerOfAnotherProcessTakesOver(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := migrated(t, postgrestest.Start(t))
	first, second := connect(t, url), connect(t, url)
	_, run, err := first.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err == nil {
		run, err = first.StartRun(ctx, run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	late, err := first.Begin(ctx, run, 0)
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := late.Put(ctx, []store.Text{{File: codesage.File{Path: fmt.Sprint("late", g, "/", i)}}})
				if err == nil {
					err = first.Report(ctx, run, codesage.Progress{ProcessedFiles: i})
				}
				if codesage.KindOf(err) == codesage.KindConflict {
					return
				}
				if err != nil {
					t.Errorf("goroutine %d: %v", g, err)
					return
				}
				if g == 0 && i == 20 {
					close(begun)
				}
			}
		})
	}
	<-begun
	run, err = second.StartRun(ctx, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := second.Begin(ctx, run, 0)
	if err == nil {
		_, err = w.Put(ctx, []store.Text{{File: codesage.File{Path: "new"}}})
	}
	if err == nil {
		err = w.Publish(ctx, codesage.Outcome{})
	}
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	files, err := first.ListFiles(ctx, codesage.Snapshot{Repository: run.Repository, Run: run.ID}, "", 100)
	if err != nil || len(files) != 1 || files[0].Path != "new" {
		t.Errorf("published: %v, %v; want the one file of the second worker", files, err)
	}
}

func TestPruneRemovesWhatACrashLeftOfADeletedRepository(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := migrated(t, postgrestest.Start(t))
	s := connect(t, url)
	_, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err == nil {
		run, err = s.StartRun(ctx, run.ID, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(ctx, run, 0)
	if err == nil {
		_, err = w.Put(ctx, []store.Text{{File: codesage.File{Path: "a"}, Text: "1"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// What DeleteRepository has done when it is killed after its first step.
	if _, err := conn.Exec(ctx, `UPDATE repositories SET deleted = TRUE`); err != nil {
		t.Fatal(err)
	}
	if err := s.Report(ctx, run, codesage.Progress{}); codesage.KindOf(err) != codesage.KindConflict {
		t.Errorf("Report: got %v, want the run overtaken", err)
	}
	var wg sync.WaitGroup
	for range 4 { // several programs prune at once
		wg.Go(func() {
			if err := s.Prune(ctx, 0); err != nil {
				t.Errorf("Prune: %v", err)
			}
		})
	}
	wg.Wait()
	if err := s.Prune(ctx, 0); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"repositories", "runs", "files", "file_texts"} {
		var n int
		if err := conn.QueryRow(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open(b, postgrestest.Start(b))) }
