package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
	"codesage/trace"
)

// impatient is a database's URL with waits that suit a test.
func impatient(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("lock_timeout", "50ms")
	q.Set("idle_in_transaction_session_timeout", "500ms")
	q.Set("application_name", "codesage")
	u.RawQuery = q.Encode()
	return u.String()
}

// freeze does with a session of its own what a worker does that stops in the
// middle of a call: it locks the repository of a run, and sends no more.
func freeze(t *testing.T, address string, run codesage.Run, at string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	lock := "FOR SHARE"
	if at == "statement" {
		lock = "FOR NO KEY UPDATE"
	}
	// In one message, so that the session stands still only from here on.
	statements := fmt.Sprintf(`BEGIN; SELECT 1 FROM repositories WHERE id = %d %s`, run.Repository, lock)
	if _, err := conn.PgConn().Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
	silent, end := io.Pipe()
	var wg sync.WaitGroup
	if at == "copy" {
		wg.Go(func() {
			_, _ = conn.PgConn().CopyFrom(context.Background(), silent, `COPY skips (run_id, path, reason) FROM STDIN`)
		})
	}
	t.Cleanup(func() {
		_ = end.Close()
		wg.Wait()
		_ = conn.Close(context.Background())
	})
}

func TestAFrozenProcessKeepsNoLock(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, call := range []struct {
		name string
		do   func(ctx context.Context, s store.Store, run codesage.Run) error
	}{
		{"take over", func(ctx context.Context, s store.Store, run codesage.Run) error {
			_, err := s.StartRun(ctx, run.ID, 0)
			return err
		}},
		{"cancel", func(ctx context.Context, s store.Store, run codesage.Run) error {
			_, err := s.CancelRun(ctx, run.Repository, "Cancelled")
			return err
		}},
		{"delete", func(ctx context.Context, s store.Store, run codesage.Run) error {
			return s.DeleteRepository(ctx, run.Repository)
		}},
		{"supersede", func(ctx context.Context, s store.Store, run codesage.Run) error {
			_, err := s.CreateRun(ctx, store.NewRun{Repository: run.Repository, Supersede: true})
			return err
		}},
		{"prune", func(ctx context.Context, s store.Store, _ codesage.Run) error { return s.Prune(ctx, 0) }},
	} {
		for _, at := range []string{"copy", "statement"} {
			t.Run(call.name+" while frozen in a "+at, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				address := impatient(t, migrated(t, server))
				s := connect(t, address)
				_, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
				if err == nil {
					run, err = s.StartRun(ctx, run.ID, 0)
				}
				if err != nil {
					t.Fatal(err)
				}
				freeze(t, address, run, at)
				if err := call.do(ctx, s, run); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestAnEndedSessionIsLoggedWithTheIDOfWhoNeededIt(t *testing.T) {
	t.Parallel()
	address := impatient(t, migrated(t, postgrestest.Start(t)))
	var log bytes.Buffer
	s, err := postgres.Open(t.Context(), address, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, run, err := s.CreateRepository(t.Context(), codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err != nil {
		t.Fatal(err)
	}
	freeze(t, address, run, "copy")
	ctx := trace.WithOrigin(t.Context(), trace.Origin{Request: "r1"})
	if _, err := s.CancelRun(ctx, run.Repository, "Cancelled"); err != nil {
		t.Fatal(err)
	}
	if want := `msg="ended a session of the database that held locks and stood still" request=r1 `; !strings.Contains(log.String(), want) {
		t.Errorf("no %s in\n%s", want, log.String())
	}
}

func TestOnlySessionsThatStandStillAreEnded(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	ctx := t.Context()
	address := impatient(t, migrated(t, server))
	s := connect(t, address)
	_, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(ctx, strings.Replace(address, "application_name=codesage", "application_name=other", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.WithoutCancel(ctx))
	for _, statement := range []string{`SET idle_in_transaction_session_timeout = 0`, `BEGIN`, `CREATE TABLE mine (id BIGINT)`} {
		if _, err := other.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	freeze(t, address, run, "copy")
	if _, err := s.CancelRun(ctx, run.Repository, "Cancelled"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(ctx, `COMMIT`); err != nil {
		t.Errorf("another program's session was ended: %v", err)
	}
}

// A `codesage migrate` that stands still holds the lock of migrations with a
// session that is idle.
func TestMigrationsEndAFrozenOne(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := postgrestest.Start(t).Database(t)
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range []string{
		`CREATE TABLE seen (setting TEXT)`,
		`CREATE FUNCTION note() RETURNS EVENT_TRIGGER LANGUAGE PLPGSQL AS 'BEGIN INSERT INTO seen VALUES (current_setting(''idle_session_timeout'')); END'`,
		`CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION note()`,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Skipf("the test needs a superuser: %v", err)
		}
	}
	if _, _, err := postgres.Migrate(ctx, address, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	var least string
	if err := conn.QueryRow(ctx, `SELECT MIN(setting) FROM seen`).Scan(&least); err != nil || least != "30s" {
		t.Errorf("sessions that migrate end after %q, %v", least, err)
	}
}
