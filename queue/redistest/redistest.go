//go:build unix

// Package redistest gives tests a Redis server: the one that
// CODESAGE_TEST_REDIS_URL names, else a private one, made of the redis-server on
// this machine, that listens on a loopback port and keeps nothing.
package redistest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// addressEnv names a server whose database tests may empty.
const addressEnv = "CODESAGE_TEST_REDIS_URL"

// startTime is how long a private server may take to answer.
const startTime = 20 * time.Second

// Server is a Redis server for tests.
type Server struct {
	URL string

	binary, port string
	pid          int
	stop         io.WriteCloser
	exited       chan struct{}
}

// Start returns an empty server that answers. It skips the test when there is
// none. A private one is stopped when the test ends, or the process does.
func Start(t testing.TB) *Server {
	t.Helper()
	if address := os.Getenv(addressEnv); address != "" {
		s := &Server{URL: address}
		if err := s.ask(func(c *redis.Client) error { return c.FlushDB(t.Context()).Err() }); err != nil {
			t.Fatalf("empty the Redis of %s: %v", addressEnv, err)
		}
		return s
	}
	return StartPrivate(t)
}

// StartPrivate is Start for tests that kill the server.
func StartPrivate(t testing.TB) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skipf("no Redis: %v; install redis-server or set %s", err, addressEnv)
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "redis://:secret@127.0.0.1:" + port + "/0", binary: binary, port: port}
	s.Restart(t)
	t.Cleanup(func() {
		_ = s.stop.Close()
		<-s.exited
	})
	return s
}

// freePort finds a port on which nobody listens. It is below those that systems
// hand out by themselves: nobody else gets it before the server has it, or while
// the server is down.
func freePort() (string, error) {
	var err error
	for range 100 {
		port := strconv.Itoa(10_000 + rand.N(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}

// Restart starts the private server, empty, and waits until it answers. A shell
// stands between: it ends the server when its input ends, which it also does
// when this process is killed.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `"$@" & server=$!; echo $server; read -r line; kill -KILL $server`, "sh",
		s.binary, "--bind", "127.0.0.1", "--port", s.port, "--requirepass", "secret",
		"--save", "", "--appendonly", "no", "--loglevel", "warning", "--logfile", "/dev/null", "--dir", os.TempDir())
	var fault bytes.Buffer
	cmd.Stderr = &fault
	out, err := cmd.StdoutPipe()
	if err == nil {
		s.stop, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = fmt.Fscanln(out, &s.pid)
	}
	if err != nil {
		t.Fatalf("start Redis: %v", err)
	}
	exited := make(chan struct{})
	s.exited = exited
	go func() {
		defer close(exited)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	if err := s.await(t.Context()); err != nil {
		_ = s.stop.Close()
		<-exited
		t.Fatalf("Redis does not answer: %v\n%s", err, &fault)
	}
}

// Crash ends the private server as kill -9 does, with all that it held.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill Redis: %v", err)
	}
	_ = s.stop.Close()
	<-s.exited
}

// Freeze stops the private server as a paused machine is: it answers nothing, and
// its connections stay.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(s.pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("freeze Redis: %v", err)
	}
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(s.pid, syscall.SIGCONT); err != nil {
		t.Fatalf("thaw Redis: %v", err)
	}
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.ask(func(c *redis.Client) error { return c.Ping(ctx).Err() })
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

func (s *Server) ask(fn func(*redis.Client) error) error {
	o, err := redis.ParseURL(s.URL)
	if err != nil {
		return err
	}
	c := redis.NewClient(o)
	defer c.Close()
	return fn(c)
}
