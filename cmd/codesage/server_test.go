package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
)

// patience is how long a test waits for something that must happen.
const patience = 90 * time.Second

// settings are environment variables, `NAME=value`.
type settings []string

// environ is the environment of a program that a test starts: nothing of the
// machine's but what programs need to run.
func environ(home string, more ...string) []string {
	return append([]string{
		mainMark + "=1",
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"ENABLE_RATE_LIMITING=false",
		"FOLDER_WATCH=false",
	}, more...)
}

// program is the path of the program that tests start.
func program(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(programVariable); path != "" {
		return path
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// server is a `codesage serve` that a test started.
type server struct {
	t      testing.TB
	binary string
	data   string
	env    settings
	as     *account // another than the test's

	url    string
	api    *client.Client
	cmd    *exec.Cmd
	log    *buffer
	said   chan string // that a process of a team is ready
	exited chan struct{}
}

// serverAt starts a server on a data folder and waits until it is ready.
func serverAt(t testing.TB, data string, env ...string) *server {
	t.Helper()
	s := &server{t: t, binary: program(t), data: data, env: env}
	s.start()
	return s
}

// newServer starts a server on an empty data folder.
func newServer(t testing.TB, env ...string) *server {
	t.Helper()
	return serverAt(t, filepath.Join(t.TempDir(), "data"), env...)
}

// start starts the process, once again after it ended.
func (s *server) start() {
	s.t.Helper()
	out := s.launch()
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), "CodeSage is ready at "); ok {
				ready <- strings.Fields(rest)[0]
			}
		}
	}()
	select {
	case s.url = <-ready:
	case <-time.After(patience):
	}
	if s.url == "" {
		s.t.Fatalf("the server did not get ready:\n%s", s.log.text())
	}
	api, err := client.New(client.Config{BaseURL: s.url})
	if err != nil {
		s.t.Fatal(err)
	}
	s.api = api
}

// launch starts the process and returns what it prints.
func (s *server) launch() io.Reader {
	s.t.Helper()
	home := s.t.TempDir()
	s.log, s.exited, s.url = &buffer{}, make(chan struct{}), ""
	s.cmd = exec.Command(s.binary, "serve")
	s.cmd.Dir = home // no .env of the current folder is read
	s.cmd.Env = environ(home, append([]string{"CODESAGE_PORT=0", "CODESAGE_DATA_DIR=" + s.data}, s.env...)...)
	s.cmd.Stderr = s.log
	s.as.use(s.cmd)
	out, in, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stdout = in
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = in.Close()
	cmd, exited := s.cmd, s.exited
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
		_ = out.Close()
	})
	return out
}

// kill ends the process as a crash would.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	<-s.exited
}

// stop asks the process to end and checks that it does, without fault and in
// time.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(shutdownTime + 5*time.Second):
		s.t.Fatalf("the server did not end in time:\n%s", s.log.text())
	}
	if code := s.cmd.ProcessState.ExitCode(); code != exitOK {
		s.t.Errorf("the server ended with code %d:\n%s", code, s.log.text())
	}
}

// add starts to index a folder.
func (s *server) add(folder, session string) client.Repository {
	s.t.Helper()
	repo, err := s.api.AddFolder(context.Background(), client.Folder{Path: folder, Session: session, Refresh: true})
	if err != nil {
		s.t.Fatalf("add %s: %v", folder, err)
	}
	return repo
}

// index indexes a folder and waits for the end.
func (s *server) index(folder, session string) (client.Repository, client.Run) {
	s.t.Helper()
	return s.finish(s.add(folder, session).ID)
}

// finish waits until no run of a repository is going, and returns it with its
// newest run.
func (s *server) finish(id codesage.RepositoryID) (client.Repository, client.Run) {
	s.t.Helper()
	var repo client.Repository
	var run client.Run
	s.eventually("the run ends", func() bool {
		var err error
		if repo, err = s.api.Repository(context.Background(), id); err != nil {
			s.t.Fatalf("read repository %d: %v\n%s", id, err, s.log.text())
		}
		run = s.newest(id)
		return !run.Going() && (repo.Status == codesage.StatusCompleted || repo.Status == codesage.StatusFailed)
	})
	return repo, run
}

// newest returns a repository's newest run.
func (s *server) newest(id codesage.RepositoryID) client.Run {
	s.t.Helper()
	runs, err := s.api.Runs(context.Background(), id)
	if err != nil {
		s.t.Fatalf("read runs of %d: %v\n%s", id, err, s.log.text())
	}
	if len(runs) == 0 {
		s.t.Fatalf("repository %d has no run", id)
	}
	return runs[0]
}

// eventually waits for a condition, which it asks again and again.
func (s *server) eventually(what string, holds func() bool) {
	s.t.Helper()
	if !await(holds, s.exited) {
		s.t.Fatalf("waited in vain until %s\n%s", what, s.log.text())
	}
}

// await asks a condition every few milliseconds until it holds; false when it
// takes too long or the process that it is about has ended.
func await(holds func() bool, ended <-chan struct{}) bool {
	limit := time.After(cmp.Or(patience, time.Minute))
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ended:
			return holds()
		case <-limit:
			return false
		}
	}
	return true
}

// buffer is a log that is read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// account is a user of the machine as whom programs run; nil is the test's own.
type account struct {
	user   *syscall.SysProcAttr
	binary string // the program where that user may run it
	dir    string // that user's own folder
}

func (a *account) use(cmd *exec.Cmd) {
	if a != nil {
		cmd.Path, cmd.Dir, cmd.SysProcAttr = a.binary, a.dir, a.user
	}
}

// output is what a command that ended left.
type output struct {
	stdout, stderr string
	code           int
}

// faults are the lines of stderr that are not of the log.
func (o output) faults() []string {
	var lines []string
	for line := range strings.Lines(o.stderr) {
		if !strings.HasPrefix(line, "{") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// command is a call of the program that is expected to end.
type command struct {
	args  []string
	env   settings
	dir   string
	stdin string
	as    *account
}

// run runs the command to its end.
func (c command) run(t testing.TB) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), c.args...)
	home := t.TempDir()
	cmd.Dir = cmp.Or(c.dir, home)
	c.as.use(cmd)
	cmd.Env = environ(home, c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("run %q: %v\n%s", c.args, cmp.Or(ctx.Err(), err), stderr.String())
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// command runs a command that asks this server.
func (s *server) command(args ...string) output {
	s.t.Helper()
	return command{args: args, env: settings{"MCP_SERVER_URL=" + s.url}}.run(s.t)
}

// writeFiles writes files below a folder, by their slash-separated paths.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
