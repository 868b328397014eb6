//go:build unix

package postgrestest

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Pooler starts a PgBouncer before the private server, with lines of its settings,
// and returns the URL of a database through it. It skips the test when there is
// none on this machine. It is stopped when the test ends, or the process does.
func (s *Server) Pooler(t testing.TB, address string, settings ...string) string {
	t.Helper()
	binary, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("no PgBouncer")
	}
	dir, err := os.MkdirTemp("/tmp", "codesage-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	lines := append([]string{
		"[databases]", "* = user=postgres host=" + s.dir,
		"[pgbouncer]", "listen_addr =", "listen_port = 6432", "unix_socket_dir = " + dir, "auth_type = any",
	}, settings...)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	end, log := start(t, dir, "TERM", binary, file)
	t.Cleanup(func() {
		end()
		if t.Failed() {
			t.Logf("PgBouncer:\n%s", log)
		}
	})
	within(t, "PgBouncer does not listen", func() bool {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.6432"))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", dir)
	q.Set("port", "6432")
	u.RawQuery = q.Encode()
	return u.String()
}
