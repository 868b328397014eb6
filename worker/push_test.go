package worker_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

const hookSecret = "hook-secret"

// push sends GitHub's event of a push.
func (h *house) push(url, branch, def, commit string) (int, string) {
	body := fmt.Sprintf(`{"ref":"refs/heads/%s","after":"%s","repository":{"html_url":"%s","default_branch":"%s"}}`, branch, commit, url, def)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	_, _ = mac.Write([]byte(body))
	status, answer := h.ask("POST", "/api/v1/webhooks/github", body,
		"Content-Type", "application/json", "X-GitHub-Event", "push", "X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return status, strings.TrimSpace(answer)
}

func TestAPushIsIndexed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{secret: hookSecret})
	remote := h.hosts.Repo("github.com", "octo/demo")
	old := remote.Commit("main", sources(3))
	remote.Commit("dev", sources(1))
	id := h.indexed(remote.URL())
	h.until("the look at the branch after the run", func() bool { return strings.Contains(h.log.String(), "checked git repository") })
	commit := remote.Commit("main", gittest.Files(map[string]string{"new.go": "package n\n\nfunc Pushed() {}\n"}))
	for _, tc := range []struct {
		name, url, branch, commit string
		status                    int
		want                      string
	}{
		{"another branch", remote.URL(), "dev", commit, 200, `{"status":"ignored","reason":"branch not indexed","repository_id":1}`},
		{"unknown repository", "https://github.com/octo/other", "main", commit, 200, `{"status":"ignored","reason":"repository not here"}`},
		{"no URL of ours", "http://localhost:3000/octo/demo", "main", commit, 200, `{"status":"ignored","reason":"repository not here"}`},
		{"the indexed commit", remote.URL(), "main", old, 200, `{"status":"ignored","reason":"indexed already","repository_id":1}`},
		{"a push", "https://github.com/Octo/DEMO", "main", commit, 202, `{"status":"accepted","reason":"started","repository_id":1}`},
	} {
		if status, body := h.push(tc.url, tc.branch, "main", tc.commit); status != tc.status || body != tc.want {
			t.Errorf("%s: %d %s", tc.name, status, body)
		}
	}
	h.ended(id)
	repo := h.repository(id)
	if repo.CommitSHA() != commit || repo.Latest.Trigger != codesage.TriggerWebhook || repo.Latest.ParsedFiles != 1 {
		t.Errorf("at %s by %s, %d parsed", repo.CommitSHA(), repo.Latest.Trigger, repo.Latest.ParsedFiles)
	}
	if runs := h.runs(id); len(runs) != 2 {
		t.Errorf("%d runs", len(runs))
	}
}

func TestAPushDuringARunIsNotLost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{secret: hookSecret})
	remote := h.hosts.Repo("github.com", "octo/demo")
	remote.Commit("main", sources(3))
	var last string
	h.gate.at(codesage.PhaseText, func(codesage.Run) {
		for i := range 3 {
			last = remote.Commit("main", gittest.Files(map[string]string{"new.go": fmt.Sprintf("package n\n\nfunc Pushed%d() {}\n", i)}))
			if status, body := h.push(remote.URL(), "main", "main", last); status != http.StatusAccepted || !strings.Contains(body, `"follows"`) {
				t.Errorf("%d %s", status, body)
			}
		}
	})
	id := h.add(remote.URL())
	h.until("the last push is indexed", func() bool {
		repo := h.repository(id)
		return repo.Published != nil && repo.Published.Commit == remote.Head("main") && !repo.Latest.Going()
	})
	if runs := h.runs(id); len(runs) != 2 || runs[0].Commit != last {
		t.Errorf("%d runs for three pushes during one", len(runs))
	}
}

func TestAPushBeforeARunStartsNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{secret: hookSecret, paused: true})
	remote := h.hosts.Repo("github.com", "octo/demo")
	remote.Commit("main", sources(1))
	id := h.add(remote.URL())
	commit := remote.Commit("main", sources(2))
	if status, body := h.push(remote.URL(), "main", "main", commit); status != http.StatusAccepted || !strings.Contains(body, `"waits"`) {
		t.Errorf("%d %s", status, body)
	}
	h.start()
	h.ended(id)
	if runs := h.runs(id); len(runs) != 1 || runs[0].Commit != commit {
		t.Errorf("%d runs, the newest at %s", len(runs), runs[0].Commit)
	}
}

func TestWebhooksAreOffWithoutASecret(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{})
	for _, host := range []string{"github", "gitlab", "bitbucket"} {
		if status, _ := h.ask("POST", "/api/v1/webhooks/"+host, "{}", "X-Gitlab-Token", ""); status != http.StatusNotFound {
			t.Errorf("%s: %d", host, status)
		}
	}
}

func TestARegularCheckFindsAPush(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{interval: time.Second})
	remote := h.hosts.Repo("code.example.org", "o/r")
	var renaming sync.RWMutex // a check of a host that has no branch at the moment is not repeated soon
	h.hosts.Handle("code.example.org", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		renaming.RLock()
		defer renaming.RUnlock()
		h.hosts.Git().ServeHTTP(w, r)
	}))
	remote.Commit("main", sources(3))
	id := h.indexed(remote.URL())
	h.until("a check", func() bool { return h.hosts.Lookups("code.example.org") > 3 })
	if runs := h.runs(id); len(runs) != 1 {
		t.Errorf("%d runs though nothing was pushed", len(runs))
	}
	renaming.Lock()
	remote.Git("branch", "-m", "main", "trunk")
	remote.Git("symbolic-ref", "HEAD", "refs/heads/trunk")
	renaming.Unlock()
	commit := remote.Commit("trunk", gittest.Files(map[string]string{"p1/f.go": "package p1\n"}))
	h.until("the push to the renamed branch is indexed", func() bool {
		repo := h.repository(id)
		return repo.CommitSHA() == commit
	})
	if runs := h.runs(id); runs[0].Trigger != codesage.TriggerRefresh || runs[0].ParsedFiles != 1 {
		t.Errorf("%s, %d parsed", runs[0].Trigger, runs[0].ParsedFiles)
	}
}
