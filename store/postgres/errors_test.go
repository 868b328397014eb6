package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

// edited returns an address with a part of it changed.
func edited(t *testing.T, address string, edit func(u *url.URL, q url.Values)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	edit(u, q)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestAStartThatTheServerRefusesSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	address := migrated(t, postgrestest.Start(t))
	for _, tc := range []struct {
		name, url, want string
	}{
		{"no such user", edited(t, address, func(u *url.URL, q url.Values) {
			u.User = nil
			q.Set("user", "nobody_here")
			q.Set("password", "hunter2")
		}), "check both in DATABASE_URL"},
		{"no such database", edited(t, address, func(u *url.URL, _ url.Values) { u.Path = "/not_there" }), "does not exist"},
		{"no such setting", edited(t, address, func(_ *url.URL, q url.Values) { q.Set("not_a_setting", "1") }), "not_a_setting"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, opened := postgres.Open(t.Context(), tc.url, log)
			_, _, migrated := postgres.Migrate(t.Context(), tc.url, log)
			for what, err := range map[string]error{"Open": opened, "Migrate": migrated} {
				if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "DATABASE_URL") ||
					strings.Contains(err.Error(), "\n") || strings.Contains(codesage.Detail(err), "hunter2") {
					t.Errorf("%s: got %q of kind %s, want one line with %q", what, err, codesage.KindOf(err), tc.want)
				}
			}
		})
	}
}

// What a caller is told while the server can't do what it asks is not what the
// log is told.
func TestCallersAndTheLogAreToldDifferentThings(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, tc := range []struct {
		name       string
		statements []string
		told, log  string
	}{
		{"a table that is gone", []string{`DROP TABLE repositories CASCADE`},
			"the database's schema is not this program's: run `codesage migrate`", "42P01"},
		{"a column that is gone", []string{`ALTER TABLE repositories RENAME COLUMN text_run TO other`},
			"the database's schema is not this program's: run `codesage migrate`", "42703"},
		{"a user who may not log in any more", []string{
			`ALTER ROLE guest NOLOGIN`,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guest'`,
		}, "the database is not available; try again later", "check both in DATABASE_URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			address := migrated(t, postgrestest.StartPrivate(t))
			conn, err := pgx.Connect(ctx, address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(ctx))
			run := func(statements ...string) {
				t.Helper()
				for _, statement := range statements {
					if _, err := conn.Exec(ctx, statement); err != nil {
						t.Fatal(err)
					}
				}
			}
			run(`CREATE ROLE guest LOGIN`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest`)
			s := connect(t, edited(t, address, func(_ *url.URL, q url.Values) { q.Set("user", "guest") }))
			run(tc.statements...)
			said := func() string {
				cause := errors.Unwrap(err)
				if cause == nil {
					return ""
				}
				return cause.Error()
			}
			patience, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			for !strings.Contains(said(), tc.log) && patience.Err() == nil { // a session that was ended is met first
				_, err = s.ListRepositories(patience)
			}
			if codesage.KindOf(err) != codesage.KindUnavailable || !strings.HasPrefix(err.Error(), tc.told) {
				t.Errorf("a caller is told %v", err)
			}
			if !strings.Contains(said(), tc.log) {
				t.Errorf("the log is told %v", errors.Unwrap(err))
			}
		})
	}
}
