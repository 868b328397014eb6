package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
		id, err := connect(t, address).Identity(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	do("postgres", `CREATE DATABASE `+name+`_copy TEMPLATE `+name)
	do(name, `CREATE ROLE `+name+`; GRANT ALL ON ALL TABLES IN SCHEMA public TO `+name)
	t.Cleanup(func() {
		ctx = context.Background()
		do("postgres", `DROP DATABASE `+name+`_copy WITH (FORCE)`)
		do(name, `DROP OWNED BY `+name+`; DROP ROLE `+name)
	})
	want := identity(original.String())
	if got := identity(at(name+"_copy", "search_path", "public")); got == want {
		t.Errorf("both are %s", got)
	}
	if got := identity(at(name, "role", name)); got != want {
		t.Errorf("an ordinary role sees %s, want %s", got, want)
	}
}
