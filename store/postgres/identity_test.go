package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

// A copy within the server is another database, and a role needs no more rights
// to tell than to use it.
func TestACopyOfADatabaseHasAnotherIdentity(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	original, err := url.Parse(migrated(t, postgrestest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(original.Path, "/")
	at := func(database string, settings ...string) string {
		u := *original
		q := u.Query()
		u.Path = "/" + database
		for i := 0; i < len(settings); i += 2 {
			q.Set(settings[i], settings[i+1])
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	do := func(database, statements string) {
		t.Helper()
		conn, err := pgx.Connect(ctx, at(database))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	identity := func(address string) string {
		t.Helper()
		s, err := postgres.Open(ctx, address, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Identity(ctx)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return id
	}
	do("postgres", `CREATE DATABASE `+name+`_copy TEMPLATE `+name)
	do(name, `CREATE ROLE `+name+`; GRANT ALL ON ALL TABLES IN SCHEMA public TO `+name)
	t.Cleanup(func() {
		ctx = context.Background()
		do("postgres", `DROP DATABASE `+name+`_copy WITH (FORCE)`)
		do("postgres", `DROP ROLE `+name)
	})
	opened := connect(t, original.String())
	want := identity(original.String())
	if got := identity(at(name+"_copy", "search_path", "public")); got == want {
		t.Errorf("both are %s", got)
	}
	if got := identity(at(name, "role", name)); got != want {
		t.Errorf("an ordinary role sees %s, want %s", got, want)
	}
	// A copy that comes in the place of what was opened is not read as that.
	do(name, `DROP OWNED BY `+name)
	do("postgres", `DROP DATABASE `+name+` WITH (FORCE)`)
	do("postgres", `CREATE DATABASE `+name+` TEMPLATE `+name+`_copy`)
	for range 3 {
		if err := opened.Ping(ctx); codesage.KindOf(err) != codesage.KindUnavailable {
			t.Errorf("the database was replaced: %v", err)
		}
	}
	if _, err := opened.ListRepositories(ctx); err == nil || !strings.Contains(err.Error(), "is not the one that this server opened") {
		t.Errorf("the database was replaced: %v", err)
	}
}
