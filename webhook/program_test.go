package webhook

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"codesage/pipeline/source/git/gittest"
)

// program is a `codesage serve` whose git hosts are played by a server behind a
// proxy.
type program struct {
	t    *testing.T
	path string
	env  []string
	url  string
}

func newProgram(t *testing.T, hosts *gittest.Server, env ...string) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{t: t, path: filepath.Join(dir, "codesage")}
	if out, err := exec.Command("go", "build", "-o", p.path, "codesage/cmd/codesage").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	roots := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(roots, hosts.CertificatePEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CODESAGE_PORT=0", "CODESAGE_DATA_DIR=" + filepath.Join(dir, "data"),
		"SSL_CERT_FILE=" + roots, "CODESAGE_GIT_PROXY=" + hosts.Proxy(), "LOG_FORMAT=text"}, env...)
	p.serve(dir)
	return p
}

// serve starts the server, which ends with the test, and waits until it is
// ready.
func (p *program) serve(dir string) {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, p.path, "serve")
	cmd.Dir, cmd.Env = dir, p.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		if p.t.Failed() {
			p.t.Log(log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	p.url = regexp.MustCompile(`http://\S+`).FindString(line)
	if p.url == "" {
		p.t.Fatalf("the server said %q, %v\n%s", line, err, log.String())
	}
}

// run runs a command of the client and returns what it printed.
func (p *program) run(args ...string) (string, error) {
	cmd := exec.Command(p.path, args...)
	cmd.Dir, cmd.Env = p.t.TempDir(), append(p.env[:len(p.env):len(p.env)], "MCP_SERVER_URL="+p.url)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// until waits for what a command prints.
func (p *program) until(want string, args ...string) {
	p.t.Helper()
	deadline, tick := time.After(60*time.Second), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for {
		out, err := p.run(args...)
		if err == nil && strings.Contains(out, want) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("%v never printed %q: %s, %v", args, want, out, err)
		}
	}
}

// TestTheProgramTakesAPush goes the way of a user: serve, add a private
// repository by its URL, push, and search for what was pushed.
func TestTheProgramTakesAPush(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	hosts := gittest.New(t)
	repo := hosts.Repo("github.com", "Octo/Demo")
	repo.Commit("main", gittest.Files(map[string]string{"a.go": "package a\n\nfunc First() {}\n", "b.go": "package a\n\nfunc Other() {}\n"}))
	repo.Private("the-token")
	p := newProgram(t, hosts, "GITHUB_TOKEN=the-token", "WEBHOOK_SECRET="+secret)
	if out, err := p.run("add", "git@github.com:Octo/Demo.git"); err != nil || !strings.Contains(out, "Octo/Demo: 2 files (0 unchanged and kept, 2 parsed)") {
		t.Fatalf("add: %s, %v", out, err)
	}
	if out, err := p.run("add", "https://github.com/octo/demo"); err == nil || !strings.Contains(out, "Octo/Demo is already added as repository 1.") {
		t.Errorf("second add: %s, %v", out, err)
	}
	commit := repo.Commit("main", gittest.Files(map[string]string{"a.go": "package a\n\nfunc Pushed() {}\n"}))
	body := fmt.Sprintf(`{"ref":"refs/heads/main","after":"%s","repository":{"html_url":"https://github.com/Octo/Demo","default_branch":"main"}}`, commit)
	req, err := http.NewRequest(http.MethodPost, p.url+"/api/v1/webhooks/github", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("X-Hub-Signature-256", sign(secret, body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// The look at the branch after the first run may have been faster.
	if res.StatusCode != http.StatusAccepted && res.StatusCode != http.StatusOK {
		t.Errorf("webhook: %s", res.Status)
	}
	p.until("a.go:3", "search", "Pushed")
	if out, err := p.run("reprocess", "octo/demo"); err != nil {
		t.Errorf("reprocess: %s, %v", out, err)
	}
	if out, err := p.run("remove", "octo/demo"); err != nil {
		t.Errorf("remove: %s, %v", out, err)
	}
	if out, err := p.run("list"); err != nil || strings.Contains(out, "Octo/Demo") {
		t.Errorf("list: %s, %v", out, err)
	}
}
