//go:build unix

package postgres_test

import (
	"log/slog"
	"strings"
	"testing"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

// Through a pooler the settings by which a process that stands still loses its
// locks do not reach PostgreSQL, whatever else it lets through.
func TestAPoolerBetweenIsRefused(t *testing.T) {
	t.Parallel()
	server := postgrestest.StartPrivate(t)
	address := migrated(t, server)
	log := slog.New(slog.DiscardHandler)
	const ignore = "ignore_startup_parameters = lock_timeout,idle_session_timeout,idle_in_transaction_session_timeout," +
		"tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count,tcp_user_timeout,options,extra_float_digits"
	for _, tc := range []struct {
		name     string
		settings []string
	}{
		{"as it comes", nil},
		{"by sessions, settings ignored", []string{ignore, "pool_mode = session"}},
		{"by transactions, settings ignored", []string{ignore, "pool_mode = transaction"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pooled := server.Pooler(t, address, tc.settings...)
			_, opened := postgres.Open(t.Context(), pooled, log)
			_, _, migrated := postgres.Migrate(t.Context(), pooled, log)
			for what, err := range map[string]error{"Open": opened, "Migrate": migrated} {
				if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), "pooler") || !strings.Contains(err.Error(), "DATABASE_URL") ||
					strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: got %v of kind %q", what, err, codesage.KindOf(err))
				}
			}
		})
	}
}
