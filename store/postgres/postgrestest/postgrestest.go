// Package postgrestest gives tests a PostgreSQL server: the one that
// CODESAGE_TEST_DATABASE_URL names, else a private one, made of the binaries on
// this machine, that listens on a socket in a folder of its own and loses its
// data with it.
package postgrestest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// addressEnv names a server on which tests may make databases.
const addressEnv = "CODESAGE_TEST_DATABASE_URL"

// startTime is how long a private server may take to answer.
const startTime = 30 * time.Second

// Server is a PostgreSQL server for tests.
type Server struct {
	url string

	// Of a private server.
	binary, dir, data string
	end               func()
}

// Start returns a server that answers. It skips the test when there is none. A
// private one is stopped when the test ends, or the process does.
func Start(t testing.TB) *Server {
	t.Helper()
	if address := os.Getenv(addressEnv); address != "" {
		return &Server{url: address}
	}
	return StartPrivate(t)
}

// StartPrivate is Start for tests that kill the server.
func StartPrivate(t testing.TB) *Server {
	t.Helper()
	initdb, err := find("initdb")
	if err != nil {
		t.Skipf("no PostgreSQL: %v; install one or set %s", err, addressEnv)
	}
	// A socket's path may have 107 bytes, which the test's own folder can pass.
	dir, err := os.MkdirTemp("/tmp", "codesage-pg-")
	if err != nil {
		t.Skipf("no folder for PostgreSQL: %v; set %s", err, addressEnv)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the server's folder: %v", err)
		}
	})
	data := filepath.Join(dir, "data")
	run := exec.CommandContext(t.Context(), initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err := asOrdinaryUser(run, dir); err != nil {
		t.Skipf("no user to run PostgreSQL as: %v; set %s", err, addressEnv)
	}
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s := &Server{
		url:    "postgres:///postgres?user=postgres&host=" + url.QueryEscape(dir),
		binary: filepath.Join(filepath.Dir(initdb), "postgres"), dir: dir, data: data,
	}
	s.Restart(t)
	t.Cleanup(func() { s.end() })
	return s
}

// Restart starts the private server and waits until it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	dir := s.dir
	end, log := start(t, dir, "QUIT", s.binary, "-D", s.data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "synchronous_commit=off", "-c", "max_connections=300", "-c", "autovacuum_naptime=1h")
	s.end = end
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := s.exec(ctx, `SELECT 1`); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			s.end()
			t.Fatalf("PostgreSQL does not answer:\n%s", log)
		case <-tick.C:
		}
	}
}

// start starts a program that works in dir. A shell stands between: it sends the
// program a signal when its input ends, which it also does when this process is
// killed. log may be read after the end.
func start(t testing.TB, dir, signal string, program ...string) (end func(), log *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `"$@" & server=$!; read -r line; kill -` + signal + ` $server; kill -CONT $server; wait $server`, "sh"}, program...)...)
	if err := asOrdinaryUser(cmd, dir); err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	stop, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start %s: %v", program[0], err)
	}
	return func() {
		io.WriteString(stop, "stop\n")
		cmd.Wait() // it was told to quit at once, and says so by its status
	}, log
}

// Database makes an empty database, with options of CREATE DATABASE, and returns
// its URL. It is dropped when the test ends.
func (s *Server) Database(t testing.TB, options ...string) string {
	t.Helper()
	name := "codesage_test_" + strings.ToLower(rand.Text())
	if err := s.exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template0 `+strings.Join(options, " ")); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatalf("%s: %v", addressEnv, err)
	}
	u.Path = "/" + name
	return u.String()
}

func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// find returns the path of a program of the newest PostgreSQL on this machine.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return filepath.EvalSymlinks(path)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			if beside := filepath.Join(filepath.Dir(path), program); exists(beside) {
				return beside, nil
			}
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/", "/usr/pgsql-*/bin/", "/opt/homebrew/opt/postgresql@*/bin/"} {
		paths, _ := filepath.Glob(pattern + program)
		found = append(found, paths...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s not found", program)
	}
	return slices.Max(found), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
