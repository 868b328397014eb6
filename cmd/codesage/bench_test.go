package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"codesage/bench"
)

// benched is a server with a small repository named app.
func benched(t *testing.T) *server {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "app")
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
	s := newServer(t)
	s.index(folder, "app")
	return s
}

func TestABenchChecksItsCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--clients", "0"}, "--clients 0: must be from 1 to 1000"},
		{[]string{"--clients", "1001"}, "--clients 1001: must be from 1 to 1000"},
		{[]string{"--clients", "-1"}, "--clients -1: must be from 1 to 1000"},
		{[]string{"--duration", "0s"}, "--duration 0s: must be from 1s to 10m0s"},
		{[]string{"--duration", "-5s"}, "--duration -5s: must be from 1s to 10m0s"},
		{[]string{"--duration", "11m"}, "--duration 11m0s: must be from 1s to 10m0s"},
		{[]string{"--duration", "10"}, `invalid argument "10" for "--duration" flag: time: missing unit in duration "10"`},
		{[]string{"one", "two"}, "codesage bench takes the name, session or id of one repository (got 2 arguments)"},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			got := command{args: append([]string{"bench"}, tc.args...), env: settings{"MCP_SERVER_URL=http://127.0.0.1:1"}}.run(t)
			checkFault(t, got, exitUsage, tc.want)
		})
	}
}

// TestABenchFailsWhenCallsGoWrong has something between client and server that
// lets every second call of a tool fail.
func TestABenchFailsWhenCallsGoWrong(t *testing.T) {
	t.Parallel()
	s := benched(t)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var calls atomic.Int64
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodPost && calls.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"detail":"away"}`))
			return
		}
		proxy.ServeHTTP(w, q)
	}))
	defer between.Close()
	bench := func(more ...string) output {
		args := append([]string{"bench", "app", "--clients", "4", "--duration", "1s"}, more...)
		return command{args: args, env: settings{"MCP_SERVER_URL=" + between.URL}}.run(t)
	}
	got := bench()
	if got.code != exitFailed || !strings.Contains(got.stdout, ": status 503: away\n") || !strings.Contains(got.stdout, "\nall ") ||
		!strings.Contains(got.stderr, " calls went wrong\n") || strings.Contains(got.stderr, "RATE_LIMIT_AI") {
		t.Errorf("code %d\n%s\n%s", got.code, got.stdout, got.stderr)
	}
	got = bench("--json")
	report := decodeBench(t, got)
	if got.code != exitFailed || len(report.Faults) == 0 || report.Faults[0].Kind != "status 503" || report.Failed() < 4 || report.All.Answers == 0 {
		t.Errorf("code %d\n%s\n%s", got.code, got.stdout, got.stderr)
	}
}

func decodeBench(t *testing.T, got output) bench.Report {
	t.Helper()
	var report bench.Report
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatalf("%v in %q\n%s", err, got.stdout, got.stderr)
	}
	return report
}

// An interrupted bench tells what it has measured.
func TestABenchCanBeInterrupted(t *testing.T) {
	t.Parallel()
	s := benched(t)
	cmd := exec.Command(program(t), "bench", "app", "--duration", "10m", "--json")
	home := t.TempDir()
	cmd.Dir, cmd.Env = home, environ(home, "MCP_SERVER_URL="+s.url)
	var stdout, stderr buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	if !await(func() bool { return strings.Contains(stderr.text(), " answers so far, 0 calls without\n") }, exited) {
		t.Fatalf("no progress was told:\n%s", stderr.text())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-exited
	got := output{stdout.text(), stderr.text(), cmd.ProcessState.ExitCode()}
	if report := decodeBench(t, got); got.code != exitFailed || report.All.Answers == 0 || report.Failed() != 0 || !strings.HasSuffix(got.stderr, "codesage: interrupted\n") {
		t.Errorf("code %d\n%s\n%s", got.code, got.stdout, got.stderr)
	}
}

// TestTheLoadScriptMeasuresAServerOfItsOwn runs bench/load, with a small folder
// instead of the whole tree.
func TestTheLoadScriptMeasuresAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash:", err)
	}
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	writeFiles(t, dir, map[string]string{
		"app/a.go":     "package a\n\nfunc Alpha() {}\n",
		"bin/codesage": "#!/bin/sh\necho $$ >>" + pids + "\nexport " + mainMark + "=1\nexec " + program(t) + ` "$@"` + "\n", // the test's own program
	})
	binary := filepath.Join(dir, "bin", "codesage")
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(dir, "scratch")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "../../bench/load", "--clients", "3", "--duration", "1s", "--json")
	// Settings of another server must not reach the script's.
	cmd.Env = environ(dir, "BINARY="+binary, "FOLDER="+filepath.Join(dir, "app"), "TMPDIR="+scratch,
		"CODESAGE_PORT=1", "DATABASE_URL=nonsense", "MCP_SERVER_URL=http://127.0.0.1:1", "CODESAGE_API_KEY=another")
	t.Cleanup(func() { endAll(t, pids) })
	var stdout, stderr buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = patience / 10 // a server that is left holds the pipes open
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.text())
	}
	got := output{stdout.text(), stderr.text(), 0}
	if report := decodeBench(t, got); report.Clients != 3 || report.All.Answers == 0 || report.Failed()+report.RateLimited != 0 {
		t.Errorf("%s\n%s", got.stdout, got.stderr)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
		t.Errorf("the script left %v, %v", left, err)
	}
}

// endAll ends the processes whose ids are in a file. None should be left.
func endAll(t *testing.T, pids string) {
	for _, pid := range strings.Fields(text(t, pids)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(n); err == nil && p.Kill() == nil {
			t.Errorf("process %d was still there", n)
		}
	}
}
