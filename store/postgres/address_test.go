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
	for _, address := range []string{
		"postgres://bob:HEAD@TAILSECRET@127.0.0.1:1/x",
		"postgres://bob:HEAD,@TAILSECRET,@127.0.0.1:1/x",
		"postgres://bob:1@TAILSECRET@[::1]:1/x",
		"postgres://bob:1@TAIL@SECRET@127.0.0.1:1/x",
		"postgres://bob:1@TAILSECRET%40127.0.0.1:1/x",
		"postgres://bob:1@db1:1,TAILSECRET@127.0.0.1:1/x",
		"postgres://bob:7777/SECRET@127.0.0.1:1/x",
		"postgres:///x?host=TAILSECRET@127.0.0.1&port=1",
		"postgres:///x?host=127.0.0.1&port=1&password=HEAD&SECRET",
		"postgres:///SECRET@x?host=/run&port=1",
	} {
		_, opened := postgres.Open(t.Context(), address, slog.New(slog.DiscardHandler))
		_, _, migrated := postgres.Migrate(t.Context(), address, slog.New(slog.DiscardHandler))
		for what, err := range map[string]error{"Open": opened, "Migrate": migrated} {
			if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), "DATABASE_URL") || showsSecret(codesage.Detail(err)) {
				t.Errorf("%s %s: got %s of kind %q", what, address, codesage.Detail(err), codesage.KindOf(err))
			}
		}
		if got := postgres.Host(address); got != "" {
			t.Errorf("host %q of %s", got, address)
		}
	}
	for address, host := range map[string]string{
		"postgres://bob:hunter2@127.0.0.1:1/x":                "127.0.0.1:1",
		"postgres://bob:%40%2F@127.0.0.1:1,127.0.0.1:2/x":     "127.0.0.1:1, 127.0.0.1:2",
		"postgres:///x?host=/run/a@b&port=1&user=a@b":         "/run/a@b:1",
		"postgres://bob@127.0.0.1:1/x?application_name=a%40b": "127.0.0.1:1",
	} {
		if _, err := postgres.Open(t.Context(), address, slog.New(slog.DiscardHandler)); codesage.KindOf(err) != codesage.KindUnavailable {
			t.Errorf("%s: got %v of kind %q", address, err, codesage.KindOf(err))
		}
		if got := postgres.Host(address); got != host {
			t.Errorf("host %q of %s, want %q", got, address, host)
		}
	}
}

func showsSecret(text string) bool {
	return strings.Contains(text, "TAIL") || strings.Contains(text, "SECRET") || strings.Contains(text, "HEAD") || strings.Contains(text, "7777")
}
