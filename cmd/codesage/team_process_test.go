package main

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codesage/api/client"
	"codesage/queue/redistest"
	"codesage/store/postgres/postgrestest"
)

// team is what the processes of a team's server share.
type team struct {
	t        testing.TB
	postgres *postgrestest.Server
	redis    *redistest.Server
	data     string // the data folder
	env      settings
}

// newTeam starts PostgreSQL, with the schema in it, and Redis.
func newTeam(t testing.TB, env ...string) *team {
	t.Helper()
	x := &team{t: t, redis: redistest.StartPrivate(t), postgres: postgrestest.StartPrivate(t), data: filepath.Join(t.TempDir(), "data")}
	address, err := url.Parse(x.postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	q := address.Query()
	q.Set("synchronous_commit", "on") // what a kill must not undo
	q.Set("pool_max_conns", "12")
	address.RawQuery = q.Encode()
	x.env = append(settings{
		"DATABASE_URL=" + address.String(), "REDIS_URL=" + x.redis.URL,
		"CODESAGE_DATA_DIR=" + x.data,
		"CODESAGE_PORT=0", "WORKER_CONCURRENCY=2", "PARSE_PROCESSES=1",
	}, env...)
	if out := (command{args: []string{"migrate"}, env: x.env}).run(t); out.code != exitOK {
		t.Fatalf("migrate: %s", out.stderr)
	}
	return x
}

// start starts `codesage api` or `codesage worker` and waits until it is ready.
// An API has a url and a client.
func (x *team) start(role string) *server {
	x.t.Helper()
	s := x.launch(role)
	s.awaitReady()
	return s
}

// launch starts a process and does not wait for it.
func (x *team) launch(role string) *server {
	x.t.Helper()
	home := x.t.TempDir()
	s := &server{t: x.t, binary: program(x.t), env: x.env, log: &buffer{}, exited: make(chan struct{}), said: make(chan string, 1)}
	s.cmd = exec.Command(s.binary, role)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = home, environ(home, x.env...), s.log
	out, in, err := os.Pipe()
	if err != nil {
		x.t.Fatal(err)
	}
	s.cmd.Stdout = in
	if err := s.cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	_ = in.Close()
	go func() {
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	x.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		_ = out.Close()
	})
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "is ready") {
				s.said <- lines.Text()
			}
		}
	}()
	return s
}

// awaitReady waits until a process of a team is ready.
func (s *server) awaitReady() {
	s.t.Helper()
	select {
	case line := <-s.said:
		if _, s.url, _ = strings.Cut(line, "is ready at "); s.url == "" {
			return
		}
	case <-s.exited:
		s.t.Fatalf("%s ended:\n%s", s.cmd, s.log.text())
	case <-time.After(patience):
		s.t.Fatalf("%s did not get ready:\n%s", s.cmd, s.log.text())
	}
	var err error
	if s.api, err = client.New(client.Config{BaseURL: s.url}); err != nil {
		s.t.Fatal(err)
	}
}

// exitCode waits until a process ends by itself.
func (s *server) exitCode() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatalf("%s did not end:\n%s", s.cmd, s.log.text())
	}
	return s.cmd.ProcessState.ExitCode()
}
