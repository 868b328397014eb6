package worker_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"codesage/pipeline/source/git/gittest"
)

// refusal is a row of the error table of add_repository.
type refusal struct {
	name, url, branch string
	status            int // of REST
	want              string
}

// refused adds by the tool and by REST, and looks that nothing was created.
func (h *house) refused(r refusal) {
	h.t.Helper()
	arguments := map[string]any{"url": r.url}
	if r.branch != "" {
		arguments["branch"] = r.branch
	}
	before, err := h.store.ListRepositories(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	if _, failure := h.call("add_repository", arguments); failure != r.want {
		h.t.Errorf("%s, tool:\n got %s\nwant %s", r.name, failure, r.want)
	}
	if status, detail := h.post(r.url, r.branch); status != r.status || detail != r.want {
		h.t.Errorf("%s, REST:\n got %d %s\nwant %d %s", r.name, status, detail, r.status, r.want)
	}
	after, err := h.store.ListRepositories(h.t.Context())
	if err != nil || len(after) != len(before) {
		h.t.Errorf("%s: %d repositories became %d, %v", r.name, len(before), len(after), err)
	}
}

func TestMessagesOfAddRepository(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	for _, host := range []string{"github.com", "gitlab.com", "bitbucket.org", "code.example.org"} {
		h.hosts.Repo(host, "octo/demo").Commit("main", sources(1))
		h.hosts.Repo(host, "octo/empty")
		secret := h.hosts.Repo(host, "octo/secret")
		secret.Commit("main", sources(1))
		secret.Private("another token")
	}
	h.hosts.SetAddresses("private.example.org", []string{"93.184.216.34", "10.1.2.3"})
	h.hosts.SetAddresses("unknown.example.org", []string{})
	h.hosts.Handle("broken.example.org", gittest.Status(http.StatusBadGateway))
	h.hosts.Handle("moved.example.org", gittest.Redirect("https://127.0.0.1"))
	h.add("https://github.com/octo/demo/tree/main")
	h.add("https://gitlab.com/octo/demo")
	const (
		github = "GitHub repository octo/%s was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access."
		other  = "%h/octo/%s was not found or is private; only public repositories are supported on %h."
	)
	rows := []refusal{
		{"scheme", "ssh://github.com/octo/demo", "", 400, "url: Invalid repository URL (only https is supported): ssh://github.com/octo/demo"},
		{"credentials", "https://bob:pw@gitlab.com/octo/demo", "", 400, "url: Invalid repository URL (a user name or password is not allowed): https://gitlab.com/octo/demo"},
		{"address", "http://169.254.169.254/latest/meta-data", "", 400, "url: Invalid repository URL (a private or loopback address is not allowed): http://169.254.169.254/latest/meta-data"},
		{"branch", "https://bitbucket.org/octo/demo", "--upload-pack=x", 400, "branch: Invalid branch name"},
		{"twice", "git@github.com:Octo/Demo.git", "", 409, "octo/demo is already added as repository 1."},
		{"twice elsewhere", "http://GitLab.com/OCTO/demo/", "", 409, "gitlab.com/octo/demo is already added as repository 2."},
		{"missing on GitHub", "https://github.com/octo/nope", "", 404, strings.ReplaceAll(github, "%s", "nope")},
		{"private on GitHub", "https://github.com/octo/secret", "", 404, strings.ReplaceAll(github, "%s", "secret")},
		{"branch on GitHub", "https://github.com/octo/empty", "x", 400, "octo/empty is empty; there is nothing to index."},
		{"private address", "https://private.example.org/o/r", "", 400, "Can't index private.example.org/o/r: private.example.org resolves to a private or loopback address."},
		{"unknown name", "https://unknown.example.org/o/r", "", 400, "Can't index unknown.example.org/o/r: unknown.example.org could not be resolved."},
		{"broken", "https://broken.example.org/o/r", "", 503, "Could not reach broken.example.org; try again."},
		{"redirect", "https://moved.example.org/o/r", "", 400, "Can't index moved.example.org/o/r: moved.example.org redirects to another host."},
	}
	for _, host := range []string{"gitlab.com", "bitbucket.org", "code.example.org"} {
		words := strings.NewReplacer("%h", host)
		rows = append(rows,
			refusal{"missing", "https://" + host + "/octo/nope", "", 404, words.Replace(strings.ReplaceAll(other, "%s", "nope"))},
			refusal{"private", "https://" + host + "/octo/secret", "", 404, words.Replace(strings.ReplaceAll(other, "%s", "secret"))},
			refusal{"empty", "https://" + host + "/octo/empty", "", 400, host + "/octo/empty is empty; there is nothing to index."})
		if host != "gitlab.com" {
			rows = append(rows, refusal{"branch", "https://" + host + "/octo/demo", "x", 400, "Branch 'x' does not exist in " + host + "/octo/demo."})
		}
	}
	for _, r := range rows {
		h.refused(r)
	}
	if status, body := h.post("https://bitbucket.org/octo/demo", strings.Repeat("b", 101)); status != http.StatusUnprocessableEntity {
		t.Errorf("a branch of 101 characters: %d %s", status, body)
	}
	if status, body := h.post("https://bitbucket.org/octo/demo/src/main", ""); status != http.StatusCreated || !strings.Contains(body, `"branch":"main"`) {
		t.Errorf("a branch URL: %d %s", status, body)
	}
	for _, address := range h.hosts.Dialled() {
		if address != "93.184.216.34:443" {
			t.Errorf("%s was dialled", address)
		}
	}
}

func TestMessagesOfGitHubsAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	h.hosts.Repo("github.com", "octo/demo").Commit("main", sources(1))
	h.refused(refusal{"no branch", "https://github.com/octo/demo", "x", 400, "Branch 'x' does not exist in octo/demo."})
	for _, tc := range []struct {
		handler http.Handler
		refusal
	}{
		{gittest.RateLimited(100 * time.Second), refusal{"rate limit", "", "", 503, "GitHub's API rate limit was reached; try again in about 2 minutes."}},
		{gittest.Status(http.StatusUnauthorized), refusal{"token", "", "", 503, "GitHub rejected the server's GITHUB_TOKEN; check the token configured on the CodeSage server."}},
		{gittest.Status(http.StatusForbidden), refusal{"denied", "", "", 400, "GitHub denied access to octo/demo."}},
		{gittest.Status(http.StatusBadGateway), refusal{"broken", "", "", 503, "Could not reach GitHub; try again."}},
	} {
		h.hosts.Handle("api.github.com", tc.handler)
		tc.url = "https://github.com/octo/demo"
		h.refused(tc.refusal)
	}
}

func TestMessagesOfSlowHosts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, settings{paused: true})
	h.hurry(300 * time.Millisecond)
	h.hosts.Handle("slow.example.org", gittest.Stalled())
	h.hosts.Handle("api.github.com", gittest.Stalled())
	h.hosts.Silent("silent.example.org", "93.184.216.99")
	for host, name := range map[string]string{"slow.example.org": "slow.example.org", "silent.example.org": "silent.example.org", "github.com": "GitHub"} {
		h.refused(refusal{host, "https://" + host + "/o/r", "", 504, name + " did not respond in time; try again."})
	}
}
