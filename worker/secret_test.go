package worker_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

// canaries are the forms of a token that must come out nowhere.
func canaries() []string {
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return []string{
		"S3cr3tTok+", "S3cr3tTok%2B", `S3cr3tTok\+`, "S3cr3tTok", strings.ToLower("S3cr3tTok"),
		encoded("bob:S3cr3tTok+"), encoded("bob:S3cr3tTok%2B"), encoded("x-access-token:S3cr3tTok+"), encoded("S3cr3tTok+"), encoded("S3cr3tTok+\n"),
	}
}

// noCanary fails the test when a text has one of them.
func noCanary(t *testing.T, where, text string) {
	t.Helper()
	for _, c := range canaries() {
		if at := strings.Index(text, c); at >= 0 {
			t.Errorf("%s: %q came out: …%q…", where, c, text[max(0, at-80):min(len(text), at+80)])
		}
	}
}

// tasks is everything that the queue's Redis holds.
func (h *house) tasks() string {
	h.t.Helper()
	ctx := h.t.Context()
	keys, err := h.redis.Keys(ctx, "*").Result()
	if err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for _, key := range keys {
		fmt.Fprintln(&all, key, h.redis.Get(ctx, key).Val(), h.redis.HGetAll(ctx, key).Val(),
			h.redis.LRange(ctx, key, 0, -1).Val(), h.redis.ZRange(ctx, key, 0, -1).Val(), h.redis.SMembers(ctx, key).Val())
	}
	return all.String()
}

func TestATokenComesOutNowhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{token: "S3cr3tTok+\n", secret: hookSecret})
	private := h.hosts.Repo("github.com", "octo/private")
	private.Commit("main", sources(2))
	private.Private("S3cr3tTok+")
	h.hosts.Repo("gitlab.com", "octo/public").Commit("main", sources(1))
	id := h.indexed(private.URL())
	h.indexed("https://gitlab.com/octo/public")
	private.Commit("main", sources(3))
	h.push(private.URL(), "main", "main", private.Head("main"))
	h.ended(id)
	if repo := h.repository(id); repo.CommitSHA() != private.Head("main") {
		t.Errorf("the refresh of a private repository: %s", repo.ErrorMessage())
	}
	said := &strings.Builder{}
	h.hurry(time.Second)
	h.provokeGitHub(id, said)
	h.pasteCredentials(said)
	h.lookAround(id, said)

	noCanary(t, "an answer", said.String())
	noCanary(t, "the log", h.log.String())
	noCanary(t, "the queue", h.tasks())
	h.searchFiles()
	for _, name := range []string{"github.com", "octo/private", "gitlab.com/octo/public"} {
		if !strings.Contains(h.log.String()+said.String(), name) {
			t.Errorf("%s is named nowhere", name)
		}
	}
	h.tokenWentToGitHubOnly()
}

// provokeGitHub lets GitHub fail in ways that tempt a server to show what it
// sent, and writes down what was answered.
func (h *house) provokeGitHub(id codesage.RepositoryID, said *strings.Builder) {
	for _, handler := range []http.Handler{
		gittest.Status(http.StatusUnauthorized), gittest.Status(http.StatusForbidden), gittest.Status(http.StatusInternalServerError),
		gittest.Redirect("https://api.example.org"), gittest.Stalled(), gittest.EndlessError(http.StatusBadGateway),
	} {
		h.hosts.Handle("api.github.com", handler)
		h.hosts.Handle("github.com", handler)
		_, failure := h.call("add_repository", map[string]any{"url": "https://github.com/octo/other"})
		status, detail := h.post("https://github.com/octo/other", "")
		fmt.Fprintln(said, failure, status, detail)
		if _, ok := handler.(http.HandlerFunc); ok && !strings.Contains(detail, "did not respond") {
			h.ask("POST", fmt.Sprintf("/api/v1/repositories/%d/reprocess", id), "")
			h.ended(id)
		}
	}
}

// pasteCredentials adds URLs with secrets in them.
func (h *house) pasteCredentials(said *strings.Builder) {
	for _, url := range []string{
		"https://bob:S3cr3tTok%2B@127.0.0.2:1/o/r.git", "https://bob:S3cr3tTok+@github.com/o/r", "https://S3cr3tTok%2B@gitlab.com/o/r",
		"https://gitlab.com/o/r?private_token=S3cr3tTok%2B", "https://gitlab.com/o/r#S3cr3tTok+", "ssh://bob:S3cr3tTok+@code.example.org/o/r",
	} {
		_, failure := h.call("add_repository", map[string]any{"url": url})
		status, detail := h.post(url, "")
		fmt.Fprintln(said, failure, status, detail)
		if failure == "" || status != http.StatusBadRequest {
			h.t.Errorf("%s was not refused: %d %s", url, status, detail)
		}
	}
}

// lookAround reads whatever shows repositories and runs.
func (h *house) lookAround(id codesage.RepositoryID, said *strings.Builder) {
	for _, path := range []string{"/metrics", "/readyz", "/api/v1/repositories", "/api/v1/ai/mcp/tools",
		fmt.Sprintf("/api/v1/repositories/%d/runs", id), fmt.Sprintf("/api/v1/repositories/%d/skipped", id), fmt.Sprintf("/api/v1/repositories/%d", id)} {
		status, body := h.ask("GET", path, "")
		if status != http.StatusOK {
			h.t.Errorf("%s: %d", path, status)
		}
		fmt.Fprintln(said, body)
	}
	result, _ := h.call("list_repositories", map[string]any{})
	fmt.Fprintln(said, string(result))
}

// searchFiles looks through everything that the server has on disk.
func (h *house) searchFiles() {
	h.t.Helper()
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			noCanary(h.t, filepath.Base(path), string(data))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a sweep has removed it
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// tokenWentToGitHubOnly looks at what the hosts were sent.
func (h *house) tokenWentToGitHubOnly() {
	h.t.Helper()
	sent := map[string]bool{}
	for _, r := range h.hosts.Requests() {
		sent[r.Host] = sent[r.Host] || r.Authorization != ""
		noCanary(h.t, "a path", r.Path)
		if strings.Contains(r.Authorization, "\n") {
			h.t.Error("the token's line break was sent")
		}
	}
	if !sent["github.com"] || !sent["api.github.com"] {
		h.t.Error("the token was not used: this test shows nothing")
	}
	for host, authorized := range sent {
		if authorized && host != "github.com" && host != "api.github.com" {
			h.t.Errorf("the token was sent to %s", host)
		}
	}
}
