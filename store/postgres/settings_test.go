package postgres_test

import (
	"context"
	"log/slog"
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
