package postgres_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"codesage"
	"codesage/store"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
	"codesage/store/storetest"
)

// open returns an empty store on a server.
func open(t testing.TB, server *postgrestest.Server) store.Store {
	t.Helper()
	url := server.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
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
			from, to, err := postgres.Migrate(t.Context(), url)
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

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open(b, postgrestest.Start(b))) }
