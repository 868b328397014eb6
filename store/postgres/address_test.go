package postgres_test

import (
	"log/slog"
	"strings"
	"testing"

	"codesage"
	"codesage/store/postgres"
)

// PostgreSQL's readers of URLs look for the first @, so that the rest of a
// password stands where they look for the host, and then it is looked up.
func TestAPasswordWithASignIsNoHost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ url, host string }{
		{"postgres://bob:HEAD@TAILSECRET@127.0.0.1:1/x", "127.0.0.1:1"},
		{"postgres://bob:HEAD@TAILSECRET@db1:1,db2:2/x", "db1:1, db2:2"},
		{"postgres://bob:1@TAILSECRET@[::1]:1/x", ""},
		{"postgres://bob:1@TAIL@SECRET@127.0.0.1:1/x", "127.0.0.1:1"},
		{"postgres://bob:1@TAILSECRET%40127.0.0.1:1/x", "127.0.0.1:1"},
		{"postgres://bob:1@db1:1,TAILSECRET@127.0.0.1:1/x", "db1:1, 127.0.0.1:1"},
		{"postgres:///x?host=TAILSECRET@127.0.0.1&port=1", "127.0.0.1:1"},
		{"postgres:///x?host=127.0.0.1&port=1&password=HEAD&SECRET", ""},
	} {
		_, opened := postgres.Open(t.Context(), tc.url, slog.New(slog.DiscardHandler))
		_, _, migrated := postgres.Migrate(t.Context(), tc.url, slog.New(slog.DiscardHandler))
		for what, err := range map[string]error{"Open": opened, "Migrate": migrated} {
			if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), "DATABASE_URL") || showsSecret(codesage.Detail(err)) {
				t.Errorf("%s %s: got %s of kind %q", what, tc.url, codesage.Detail(err), codesage.KindOf(err))
			}
		}
		if got := postgres.Host(tc.url); got != tc.host {
			t.Errorf("host %q of %s, want %q", got, tc.url, tc.host)
		}
	}
	for _, url := range []string{"postgres://bob:hunter2@127.0.0.1:1/x", "postgres:///x?host=/run/a@b&port=1"} {
		if _, err := postgres.Open(t.Context(), url, slog.New(slog.DiscardHandler)); codesage.KindOf(err) != codesage.KindUnavailable {
			t.Errorf("%s: got %v of kind %q", url, err, codesage.KindOf(err))
		}
	}
}

func showsSecret(text string) bool {
	return strings.Contains(text, "TAIL") || strings.Contains(text, "SECRET") || strings.Contains(text, "HEAD")
}
