//go:build unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

func TestADatabaseThatTakesNoWritesIsNotWellUntilItDoes(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, s *postgres.Store) {
		t.Helper()
		err := s.Ping(t.Context())
		if codesage.KindOf(err) != codesage.KindUnavailable || !strings.HasPrefix(err.Error(), "the database takes no writes") ||
			!strings.Contains(codesage.Detail(err), "DATABASE_URL must name the primary") {
			t.Errorf("Ping: got %v of kind %q", err, codesage.KindOf(err))
		}
		if _, err := s.ListRepositories(t.Context()); err != nil {
			t.Errorf("it can't be read: %v", err)
		}
		_, _, written := s.CreateRepository(t.Context(), codesage.Repository{Session: "a", Source: codesage.SourceFolder})
		if fmt.Sprint(written) != fmt.Sprint(err) {
			t.Errorf("a write: got %v, want what Ping said", written)
		}
	}
	t.Run("by a setting of sessions", func(t *testing.T) {
		t.Parallel()
		address := migrated(t, postgrestest.Start(t))
		owner := admin(t, address)
		alter := `ALTER DATABASE ` + owner.Config().Database
		mustExec(t, owner, alter+` SET default_transaction_read_only = on`)
		s := connect(t, address)
		refused(t, s)
		mustExec(t, owner, alter+` RESET default_transaction_read_only`)
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("Ping afterwards: %v", codesage.Detail(err))
		}
	})
	t.Run("a standby", func(t *testing.T) {
		t.Parallel()
		server := postgrestest.StartPrivate(t)
		address := migrated(t, server)
		mustExec(t, admin(t, address), `CHECKPOINT`)
		server.Standby(t)
		s := connect(t, address)
		refused(t, s)
		mustExec(t, admin(t, address), `SELECT pg_promote()`)
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("Ping afterwards: %v", codesage.Detail(err))
		}
	})
}
