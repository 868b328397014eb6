package postgres_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

// admin opens a session of whoever looks after the database.
func admin(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// mustExec runs statements.
func mustExec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestADatabaseThatCannotHoldEveryTextIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	log := slog.New(slog.DiscardHandler)
	for _, encoding := range []string{"SQL_ASCII", "LATIN1"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			address := server.Database(t, "ENCODING", encoding, "LOCALE", "'C'")
			_, opened := postgres.Open(t.Context(), address, log)
			_, _, migrated := postgres.Migrate(t.Context(), address, log)
			for what, err := range map[string]error{"Open": opened, "Migrate": migrated} {
				if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), encoding) || !strings.Contains(err.Error(), "ENCODING 'UTF8'") {
					t.Errorf("%s: got %v", what, err)
				}
			}
			var tables int
			err := admin(t, address).QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::REGNAMESPACE`).Scan(&tables)
			if err != nil || tables != 0 {
				t.Errorf("it has %d tables and indexes, %v", tables, err)
			}
		})
	}
}

// The role that a team's processes are given is not always the owner of what it
// is to use.
func TestARoleWithoutRightsIsToldWhichItNeeds(t *testing.T) {
	t.Parallel()
	server := postgrestest.StartPrivate(t)
	log := slog.New(slog.DiscardHandler)
	bare, whole := server.Database(t), migrated(t, server)
	mustExec(t, admin(t, whole), `CREATE ROLE guest LOGIN`)
	guest := func(address string, more ...string) string {
		return edited(t, address, func(_ *url.URL, q url.Values) {
			q.Set("user", "guest")
			for _, setting := range more {
				name, value, _ := strings.Cut(setting, "=")
				q.Set(name, value)
			}
		})
	}
	migrate := func(ctx context.Context, address string) error {
		_, _, err := postgres.Migrate(ctx, address, log)
		return err
	}
	open := func(ctx context.Context, address string) error {
		_, err := postgres.Open(ctx, address, log)
		return err
	}
	for _, tc := range []struct {
		name    string
		use     func(ctx context.Context, address string) error
		address string
		want    []string
	}{
		{"who may create no table", migrate, guest(bare), []string{"permission denied for schema public", "owner of the database", "GRANT CREATE ON SCHEMA"}},
		{"whose schema is not there", migrate, guest(bare, "search_path=elsewhere"), []string{"no schema has been selected", "search_path", "GRANT"}},
		{"who may read no table", open, guest(whole), []string{"permission denied for table goose_db_version", "owner of the database"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.use(t.Context(), tc.address)
			if codesage.KindOf(err) != codesage.KindInvalid || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v of kind %s, want one line", err, codesage.KindOf(err))
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q says nothing of %q", err, want)
				}
			}
		})
	}
}

func TestASettingOfTheURLIsNotTakenForAPooler(t *testing.T) {
	t.Parallel()
	address := migrated(t, postgrestest.Start(t))
	for _, setting := range []string{"idle_in_transaction_session_timeout=7s", "options=--idle_in_transaction_session_timeout=7s"} {
		connect(t, edited(t, address, func(_ *url.URL, q url.Values) {
			name, value, _ := strings.Cut(setting, "=")
			q.Set(name, value)
		}))
	}
}

// What waits for another's change goes on from it, whatever a transaction is by the
// settings of a role or a database.
func TestTransactionsAreReadCommitted(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, level := range []string{"serializable", "repeatable read"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			address := migrated(t, server)
			other := admin(t, address)
			mustExec(t, other, `ALTER DATABASE `+other.Config().Database+` SET default_transaction_isolation = '`+level+`'`)
			s := connect(t, address)
			_, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
			if err == nil {
				run, err = s.StartRun(ctx, run.ID, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, other, `BEGIN`, `UPDATE repositories SET session = 'b'`)
			reported := make(chan error, 1)
			go func() { reported <- s.Report(ctx, run, codesage.Progress{ProcessedFiles: 1}) }()
			watcher, waiting := admin(t, address), false
			for !waiting && err == nil && ctx.Err() == nil {
				err = watcher.QueryRow(ctx, `
					SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
			}
			mustExec(t, other, `COMMIT`)
			if err := <-reported; err != nil {
				t.Errorf("Report: %v", codesage.Detail(err))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}
