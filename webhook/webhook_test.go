package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/catalog"
	"codesage/trace"
)

const secret = "It's a Secret to Everybody"

// desk is a catalog that notes pushes.
type desk struct {
	pushes []catalog.Push
	result catalog.PushResult
	err    error
}

func (d *desk) Pushed(ctx context.Context, p catalog.Push) (codesage.Repository, catalog.PushResult, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return codesage.Repository{}, "", errors.New("a database that hangs is waited for")
	}
	d.pushes = append(d.pushes, p)
	return codesage.Repository{ID: 7}, d.result, d.err
}

// sign signs as GitHub and Bitbucket do.
func sign(key, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = io.WriteString(mac, body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// send sends an event and returns the answer.
func send(d *desk, host, body string, headers ...string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/webhooks/"+host, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	New(secret, d, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// proof returns the headers of a genuine event.
func proof(host, event, body string) []string {
	switch host {
	case "github":
		return []string{"X-GitHub-Event", event, "X-Hub-Signature-256", sign(secret, body)}
	case "bitbucket":
		return []string{"X-Event-Key", event, "X-Hub-Signature", sign(secret, body)}
	}
	return []string{"X-Gitlab-Event", event, "X-Gitlab-Token", secret}
}

const commit = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"

// Events as the hosts' documentation has them, cut to what matters and a little
// more.
var (
	githubPush = `{"ref":"refs/heads/feature/x","before":"0000","after":"` + commit + `","deleted":false,"repository":{"id":1,"full_name":"Octo/Demo",` +
		`"html_url":"https://github.com/Octo/Demo","clone_url":"https://github.com/Octo/Demo.git","default_branch":"main"},"commits":[{"id":"x","added":["a"]}]}`
	gitlabPush = `{"object_kind":"push","event_name":"push","ref":"refs/heads/master","after":"` + commit + `","project_id":15,` +
		`"project":{"web_url":"https://gitlab.example.com/group/sub/demo","git_http_url":"https://gitlab.example.com/group/sub/demo.git","default_branch":"master"}}`
	bitbucketPush = `{"push":{"changes":[{"new":{"type":"branch","name":"main","target":{"hash":"` + commit + `"}},"old":null},` +
		`{"new":{"type":"tag","name":"v1","target":{"hash":"1"}}},{"new":null,"old":{"type":"branch","name":"gone"}}]},` +
		`"repository":{"full_name":"team/demo","links":{"html":{"href":"https://bitbucket.org/team/demo"}}}}`
)

func TestTheLineOfAnEventHasTheRequestID(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]*desk{"level=INFO": {result: catalog.PushStarted}, "level=ERROR": {err: errors.New("away")}} {
		var log bytes.Buffer
		r := httptest.NewRequest(http.MethodPost, "/api/v1/webhooks/gitlab", strings.NewReader(gitlabPush))
		for name, value := range map[string]string{"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": secret} {
			r.Header.Set(name, value)
		}
		r = r.WithContext(trace.WithOrigin(r.Context(), trace.Origin{Request: "r1"}))
		New(secret, d, slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(httptest.NewRecorder(), r)
		if !strings.Contains(log.String(), want+" msg=webhook request=r1 ") {
			t.Errorf("want %s with request=r1 in %s", want, log.String())
		}
	}
}

func TestSignaturesOfTheHostsDocumentation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, header, body, signature string }{
		{"github", "X-Hub-Signature-256", "Hello, World!", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
		{"bitbucket", "X-Hub-Signature", "Hello World!", "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"},
	} {
		h := http.Header{}
		h.Set(tc.header, tc.signature)
		if !hosts[tc.host].genuine(h, secret, []byte(tc.body)) {
			t.Errorf("%s: the documented signature is refused", tc.host)
		}
		if hosts[tc.host].genuine(h, secret, []byte(tc.body+" ")) || hosts[tc.host].genuine(h, secret+"x", []byte(tc.body)) {
			t.Errorf("%s: another body or secret is accepted", tc.host)
		}
	}
}

func TestAPushReachesTheCatalog(t *testing.T) {
	t.Parallel()
	form := "payload=" + url.QueryEscape(githubPush)
	for _, tc := range []struct {
		name, host, event, body string
		headers                 []string
		want                    catalog.Push
	}{
		{"GitHub", "github", "push", githubPush, nil, catalog.Push{URL: "https://github.com/Octo/Demo", Branch: "feature/x", Default: "main", Commit: commit}},
		{"GitHub form", "github", "push", form, []string{"Content-Type", "application/x-www-form-urlencoded"}, catalog.Push{URL: "https://github.com/Octo/Demo", Branch: "feature/x", Default: "main", Commit: commit}},
		{"GitLab", "gitlab", "Push Hook", gitlabPush, nil, catalog.Push{URL: "https://gitlab.example.com/group/sub/demo", Branch: "master", Default: "master", Commit: commit}},
		{"GitLab system hook", "gitlab", "System Hook", strings.Replace(gitlabPush, `"object_kind":"push",`, "", 1), nil, catalog.Push{URL: "https://gitlab.example.com/group/sub/demo", Branch: "master", Default: "master", Commit: commit}},
		{"Bitbucket", "bitbucket", "repo:push", bitbucketPush, nil, catalog.Push{URL: "https://bitbucket.org/team/demo", Branch: "main", Commit: commit}},
	} {
		d := &desk{result: catalog.PushStarted}
		code, body := send(d, tc.host, tc.body, append(proof(tc.host, tc.event, tc.body), tc.headers...)...)
		if code != http.StatusAccepted || body != `{"status":"accepted","reason":"started","repository_id":7}` {
			t.Errorf("%s: %d %s", tc.name, code, body)
		}
		if diff := cmp.Diff([]catalog.Push{tc.want}, d.pushes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestWhatIsNoPushToABranchIsIgnored(t *testing.T) {
	t.Parallel()
	replace := func(s, old, new string) string { return strings.Replace(s, old, new, 1) }
	for _, tc := range []struct{ name, host, event, body string }{
		{"ping of GitHub", "github", "ping", `{"zen":"Keep it logically awesome.","hook_id":1}`},
		{"issue of GitHub", "github", "issues", `{"action":"opened"}`},
		{"tag of GitHub", "github", "push", replace(githubPush, "refs/heads/feature/x", "refs/tags/v1")},
		{"deleted branch of GitHub", "github", "push", replace(githubPush, `"deleted":false`, `"deleted":true`)},
		{"tag of GitLab", "gitlab", "Tag Push Hook", replace(gitlabPush, `"object_kind":"push"`, `"object_kind":"tag_push"`)},
		{"issue of GitLab", "gitlab", "Issue Hook", `{"object_kind":"issue"}`},
		{"deleted branch of GitLab", "gitlab", "Push Hook", replace(gitlabPush, commit, strings.Repeat("0", 40))},
		{"project created at GitLab", "gitlab", "System Hook", `{"event_name":"project_create","name":"x"}`},
		{"ping of Bitbucket", "bitbucket", "diagnostics:ping", `{"test":true}`},
		{"deleted branch of Bitbucket", "bitbucket", "repo:push", `{"push":{"changes":[{"new":null}]},"repository":{"links":{"html":{"href":"https://bitbucket.org/a/b"}}}}`},
	} {
		d := &desk{result: catalog.PushStarted}
		code, body := send(d, tc.host, tc.body, proof(tc.host, tc.event, tc.body)...)
		if code != http.StatusOK || body != `{"status":"ignored","reason":"no push to a branch"}` || len(d.pushes) > 0 {
			t.Errorf("%s: %d %s, %v", tc.name, code, body, d.pushes)
		}
	}
}

func TestWhatCameOfAPushIsAnswered(t *testing.T) {
	t.Parallel()
	for result, want := range map[catalog.PushResult]int{
		catalog.PushStarted: 202, catalog.PushWaits: 202, catalog.PushFollows: 202,
		catalog.PushOtherBranch: 200, catalog.PushIndexed: 200, catalog.PushUnknown: 200,
	} {
		code, body := send(&desk{result: result}, "github", githubPush, proof("github", "push", githubPush)...)
		if code != want || !strings.Contains(body, fmt.Sprintf("%q", result)) {
			t.Errorf("%s: %d %s", result, code, body)
		}
	}
	for _, tc := range []struct {
		err    error
		code   int
		detail string
	}{
		{errors.New("secret detail"), 500, "Internal server error"},
		{fmt.Errorf("list repositories: %w", &codesage.Error{Kind: codesage.KindUnavailable, Message: "the database is away", Err: errors.New("secret detail")}), 503, "the database is away"},
		{fmt.Errorf("list repositories: %w", context.DeadlineExceeded), 503, "The server did not answer in time; try again"},
	} {
		code, body := send(&desk{err: tc.err}, "github", githubPush, proof("github", "push", githubPush)...)
		if code != tc.code || body != `{"detail":"`+tc.detail+`"}` {
			t.Errorf("%v: %d %s", tc.err, code, body)
		}
	}
}

func TestWhoDoesNotKnowTheSecretIsRefused(t *testing.T) {
	t.Parallel()
	genuine := sign(secret, githubPush)
	for _, tc := range []struct {
		name, host string
		headers    []string
	}{
		{"no signature", "github", nil},
		{"empty signature", "github", []string{"X-Hub-Signature-256", ""}},
		{"digest of another length", "github", []string{"X-Hub-Signature-256", "sha256=" + genuine[7:47]}},
		{"no hex", "github", []string{"X-Hub-Signature-256", "sha256=" + strings.Repeat("g", 64)}},
		{"the older signature", "github", []string{"X-Hub-Signature-256", "sha1=" + genuine[7:]}},
		{"another secret", "github", []string{"X-Hub-Signature-256", sign("other", githubPush)}},
		{"another body", "github", []string{"X-Hub-Signature-256", sign(secret, githubPush+" ")}},
		{"the header of the other host", "github", []string{"X-Hub-Signature", genuine}},
		{"GitLab's proof at GitHub's door", "github", []string{"X-Gitlab-Token", secret}},
		{"no token", "gitlab", nil},
		{"empty token", "gitlab", []string{"X-Gitlab-Token", ""}},
		{"prefix of the token", "gitlab", []string{"X-Gitlab-Token", secret[:5]}},
		{"more than the token", "gitlab", []string{"X-Gitlab-Token", secret + "x"}},
		{"GitHub's proof at GitLab's door", "gitlab", []string{"X-Hub-Signature-256", genuine}},
		{"no signature", "bitbucket", nil},
		{"another secret", "bitbucket", []string{"X-Hub-Signature", sign("other", githubPush)}},
	} {
		d := &desk{}
		headers := append([]string{"X-GitHub-Event", "push", "X-Event-Key", "repo:push", "X-Gitlab-Event", "Push Hook"}, tc.headers...)
		code, body := send(d, tc.host, githubPush, headers...)
		if code != http.StatusUnauthorized || len(d.pushes) > 0 || strings.Contains(body, secret) {
			t.Errorf("%s, %s: %d %s", tc.host, tc.name, code, body)
		}
	}
}

// endless is a body that must not be read to its end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) { e.read += len(p); return len(p), nil }

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	ask := func(host string, headers ...string) (int, int) {
		body := &endless{}
		r := httptest.NewRequest(http.MethodPost, "/api/v1/webhooks/"+host, body)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		New(secret, &desk{}, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
		return w.Code, body.read
	}
	if code, read := ask("github", "X-GitHub-Event", "push", "X-Hub-Signature-256", sign(secret, "")); code != http.StatusRequestEntityTooLarge || read > 2*maxBody {
		t.Errorf("endless body: %d after %d bytes", code, read)
	}
	for _, host := range []string{"github", "gitlab", "bitbucket"} {
		if code, read := ask(host); code != http.StatusUnauthorized || read > 0 {
			t.Errorf("%s: %d after %d bytes of a sender without proof", host, code, read)
		}
	}
}

func TestEventsThatAreBroken(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ host, event, body string }{
		{"github", "push", ``}, {"github", "push", `{`}, {"github", "push", `[]`}, {"github", "push", `{"ref":"refs/heads/main"}`}, {"github", "push", `{"ref":1}`},
		{"gitlab", "Push Hook", `nul`}, {"gitlab", "Push Hook", `{"object_kind":"push"}`},
		{"bitbucket", "repo:push", `{"push":[]}`}, {"bitbucket", "repo:push", `{}`},
	} {
		d := &desk{}
		if code, body := send(d, tc.host, tc.body, proof(tc.host, tc.event, tc.body)...); code != http.StatusBadRequest || len(d.pushes) > 0 {
			t.Errorf("%s %s: %d %s", tc.host, tc.body, code, body)
		}
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/api/v1/webhooks/github", 405}, {"POST", "/api/v1/webhooks/gitea", 404}, {"POST", "/api/v1/webhooks/", 404},
	} {
		w := httptest.NewRecorder()
		New(secret, &desk{}, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.want {
			t.Errorf("%s %s: %d", tc.method, tc.path, w.Code)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{githubPush, gitlabPush, bitbucketPush, "payload=%7B%7D", "{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range []http.Header{{}, {"Content-Type": {"application/x-www-form-urlencoded"}}} {
			h.Set("X-GitHub-Event", "push")
			h.Set("X-Event-Key", "repo:push")
			for name, host := range hosts {
				pushes, err := host.pushes(h, body)
				for _, p := range pushes {
					if err != nil || p.URL == "" {
						t.Errorf("%s: %+v, %v", name, p, err)
					}
				}
			}
		}
	})
}
