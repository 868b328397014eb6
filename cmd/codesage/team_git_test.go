package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

// gitSettings make the program reach the git hosts of a test, which have any
// name.
func gitSettings(t *testing.T, hosts *gittest.Server) settings {
	t.Helper()
	return settings{"CODESAGE_GIT_PROXY=" + hosts.Proxy(), trusting(t, hosts.CertificatePEM())}
}

// holdClones makes a host hand out no files until release is called.
func holdClones(hosts *gittest.Server, host string) (release func()) {
	open := make(chan struct{})
	git := hosts.Git()
	hosts.Handle(host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
			select {
			case <-open:
			case <-r.Context().Done():
				return
			}
		}
		git.ServeHTTP(w, r)
	}))
	return func() { close(open) }
}

// TestATeamFollowsAPrivateRepository adds a private repository of GitHub, kills
// the worker that clones it, and pushes to it.
func TestATeamFollowsAPrivateRepository(t *testing.T) {
	t.Parallel()
	hosts := gittest.New(t)
	remote := hosts.Repo("github.com", "octo/demo")
	remote.Private(gitCanary)
	first := remote.Commit("main", gittest.Files(map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"}))
	release := holdClones(hosts, "github.com")
	x := newTeam(t, append(gitSettings(t, hosts), "GITHUB_TOKEN="+gitCanary, "WEBHOOK_SECRET="+hookCanary)...)
	api, killed := x.start("api"), x.start("worker")
	added := command{args: []string{"add", "--no-wait", remote.URL()}, env: settings{"MCP_SERVER_URL=" + api.url}}
	if out := added.run(t); out.code != exitOK {
		t.Fatalf("add: %s", out.stderr)
	}
	id := must[listResult](t, api, "list_repositories", nil).id(t)
	api.eventually("the worker clones", func() bool { return api.newest(id).Phase == codesage.PhaseFetch })
	killed.kill()
	heir := x.start("worker")
	api.eventually("another worker clones", func() bool { run := api.newest(id); return run.Attempt == 2 && run.Phase == codesage.PhaseFetch })
	release()
	repo, run := api.finish(id)
	if repo.Status != codesage.StatusCompleted || run.CommitSHA != first {
		t.Fatalf("%s at %s, want %s: %s\n%s", repo.Status, run.CommitSHA, first, run.Error, heir.log.text())
	}
	if got := definitions(t, api, repo.Name, "Alpha"); len(got) != 1 {
		t.Errorf("Alpha is at %q", got)
	}

	second := remote.Commit("main", gittest.Files(map[string]string{"b.go": "package a\n\nfunc Beta() {}\n"}))
	if status := pushed(t, api, remote.URL(), second); status != http.StatusAccepted {
		t.Errorf("the push is answered %d", status)
	}
	api.eventually("the push is indexed", func() bool { return len(definitions(t, api, repo.Name, "Beta")) == 1 })
	if _, run = api.finish(id); run.CommitSHA != second || run.Trigger != codesage.TriggerWebhook || run.KeptFiles != 1 {
		t.Errorf("at %s by %s, %d files kept", run.CommitSHA, run.Trigger, run.KeptFiles)
	}
	if left, err := os.ReadDir(filepath.Join(x.data, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("of the clones there is left %v, %v", left, err)
	}
	for _, s := range []*server{api, killed, heir} {
		if text := s.log.text(); strings.Contains(text, gitCanary) || strings.Contains(text, hookCanary) {
			t.Errorf("a secret is in the log:\n%s", text)
		}
	}
	heir.stop()
	api.stop()
}

// pushed sends GitHub's event of a push to main.
func pushed(t *testing.T, s *server, repository, commit string) (status int) {
	t.Helper()
	body := fmt.Sprintf(`{"ref":"refs/heads/main","after":%q,"repository":{"html_url":%q,"default_branch":"main"}}`, commit, repository)
	mac := hmac.New(sha256.New, []byte(hookCanary))
	_, _ = mac.Write([]byte(body))
	q, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+"/api/v1/webhooks/github", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-GitHub-Event", "push")
	q.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
