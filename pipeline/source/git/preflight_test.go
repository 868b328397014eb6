package git

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"codesage"
	"codesage/pipeline/source/git/gittest"
)

// ask runs a pre-flight and returns kind and message.
func ask(t *testing.T, s *Source, url, branch string) (codesage.Kind, string) {
	t.Helper()
	_, err := s.Preflight(context.Background(), parse(t, url, branch))
	if err == nil {
		return "", ""
	}
	noSecretIn(t, err)
	return codesage.KindOf(err), err.Error()
}

// row is a row of the error table.
type row struct {
	name, url, branch string
	kind              codesage.Kind
	want              string
}

func (r row) check(t *testing.T, s *Source) {
	t.Helper()
	kind, message := ask(t, s, r.url, r.branch)
	if kind != r.kind || message != r.want {
		t.Errorf("%s:\n got %s: %s\nwant %s: %s", r.name, kind, message, r.kind, r.want)
	}
}

func TestErrorTable(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	for _, host := range []string{"github.com", "gitlab.com"} {
		server.Repo(host, "octo/demo").Commit("main", gittest.Files(map[string]string{"a": "a"}))
		server.Repo(host, "octo/empty")
		secret := server.Repo(host, "octo/secret")
		secret.Commit("main", gittest.Files(map[string]string{"a": "a"}))
		secret.Private("another token")
	}
	server.Repo("code.example.org", "o/sha256", "--object-format=sha256").Commit("main", gittest.Files(map[string]string{"a": "a"}))
	server.SetAddresses("private.example.org", []string{"93.184.216.34", "10.1.2.3"})
	server.SetAddresses("mapped.example.org", []string{"::ffff:127.0.0.1"})
	server.SetAddresses("nat64.example.org", []string{"64:ff9b::a00:1"})
	server.SetAddresses("unknown.example.org", []string{})
	server.WrongCertificate("wrong.example.org")
	server.Handle("broken.example.org", gittest.Status(http.StatusInternalServerError))
	server.Handle("denied.example.org", gittest.Status(http.StatusForbidden))
	server.Handle("moved.example.org", gittest.Redirect("https://127.0.0.1"))
	server.Handle("plain.example.org", gittest.Redirect("http://plain.example.org"))
	server.Handle("port.example.org", gittest.Redirect("https://port.example.org:8443"))
	const notThere = " was not found or is private; only public repositories are supported on "
	s := open(t, config(t, server))
	for _, r := range []row{
		{"missing on GitHub", "https://github.com/octo/nope", "", codesage.KindNotFound, "GitHub repository octo/nope was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access."},
		{"private on GitHub", "https://github.com/octo/secret", "", codesage.KindNotFound, "GitHub repository octo/secret was not found. Check the URL; if it's private, the server's GITHUB_TOKEN needs access."},
		{"no branch on GitHub", "https://github.com/octo/demo", "x", codesage.KindInvalid, "Branch 'x' does not exist in octo/demo."},
		{"empty on GitHub", "https://github.com/octo/empty", "", codesage.KindInvalid, "octo/empty is empty; there is nothing to index."},
		{"missing elsewhere", "https://gitlab.com/octo/nope", "", codesage.KindNotFound, "gitlab.com/octo/nope" + notThere + "gitlab.com."},
		{"private elsewhere", "https://gitlab.com/octo/secret", "", codesage.KindNotFound, "gitlab.com/octo/secret" + notThere + "gitlab.com."},
		{"no branch elsewhere", "https://gitlab.com/octo/demo", "x/y", codesage.KindInvalid, "Branch 'x/y' does not exist in gitlab.com/octo/demo."},
		{"empty elsewhere", "https://gitlab.com/octo/empty", "", codesage.KindInvalid, "gitlab.com/octo/empty is empty; there is nothing to index."},
		{"denied elsewhere", "https://denied.example.org/o/r", "", codesage.KindNotFound, "denied.example.org/o/r" + notThere + "denied.example.org."},
		{"one private address", "https://private.example.org/o/r", "", codesage.KindInvalid, "Can't index private.example.org/o/r: private.example.org resolves to a private or loopback address."},
		{"mapped address", "https://mapped.example.org/o/r", "", codesage.KindInvalid, "Can't index mapped.example.org/o/r: mapped.example.org resolves to a private or loopback address."},
		{"NAT64 address", "https://nat64.example.org/o/r", "", codesage.KindInvalid, "Can't index nat64.example.org/o/r: nat64.example.org resolves to a private or loopback address."},
		{"unknown name", "https://unknown.example.org/o/r", "", codesage.KindInvalid, "Can't index unknown.example.org/o/r: unknown.example.org could not be resolved."},
		{"server fault", "https://broken.example.org/o/r", "", codesage.KindUnavailable, "Could not reach broken.example.org; try again."},
		{"redirect to loopback", "https://moved.example.org/o/r", "", codesage.KindInvalid, "Can't index moved.example.org/o/r: moved.example.org redirects to another host."},
		{"redirect to http", "https://plain.example.org/o/r", "", codesage.KindInvalid, "Can't index plain.example.org/o/r: plain.example.org redirects to another host."},
		{"redirect to a port", "https://port.example.org/o/r", "", codesage.KindInvalid, "Can't index port.example.org/o/r: port.example.org redirects to another host."},
		{"wrong certificate", "https://wrong.example.org/o/r", "", codesage.KindUnavailable, "Could not reach wrong.example.org: its certificate is not valid for that name, or not trusted."},
		{"sha256 objects", "https://code.example.org/o/sha256", "", codesage.KindInvalid, "Can't index code.example.org/o/sha256: its objects are named by SHA-256, which is not supported."},
	} {
		r.check(t, s)
	}
	for _, address := range server.Dialled() {
		if address != "93.184.216.34:443" {
			t.Errorf("%s was dialled", address)
		}
	}
}

func TestErrorTableOfTheAPI(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	server.Repo("github.com", "octo/demo").Commit("main", gittest.Files(map[string]string{"a": "a"}))
	s := open(t, config(t, server))
	for _, tc := range []struct {
		name    string
		handler http.Handler
		kind    codesage.Kind
		want    string
	}{
		{"rate limit", gittest.RateLimited(100 * time.Second), codesage.KindUnavailable, "GitHub's API rate limit was reached; try again in about 2 minutes."},
		{"rate limit that ends", gittest.RateLimited(-time.Second), codesage.KindUnavailable, "GitHub's API rate limit was reached; try again in about 1 minute."},
		{"too many requests", gittest.Status(http.StatusTooManyRequests), codesage.KindUnavailable, "GitHub's API rate limit was reached; try again in about 1 minute."},
		{"refused token", gittest.Status(http.StatusUnauthorized), codesage.KindUnavailable, "GitHub rejected the server's GITHUB_TOKEN; check the token configured on the CodeSage server."},
		{"denied", gittest.Status(http.StatusForbidden), codesage.KindDenied, "GitHub denied access to octo/demo."},
		{"legal reasons", gittest.Status(http.StatusUnavailableForLegalReasons), codesage.KindDenied, "GitHub denied access to octo/demo."},
		{"server fault", gittest.Status(http.StatusBadGateway), codesage.KindUnavailable, "Could not reach GitHub; try again."},
		{"no JSON", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }), codesage.KindUnavailable, "Could not reach GitHub; try again."},
		{"redirect", gittest.Redirect("https://169.254.169.254"), codesage.KindInvalid, "Can't index octo/demo: github.com redirects to another host."},
		{"endless error", gittest.EndlessError(http.StatusInternalServerError), codesage.KindUnavailable, "Could not reach GitHub; try again."},
	} {
		server.Handle("api.github.com", tc.handler)
		row{tc.name, "https://github.com/octo/demo", "", tc.kind, tc.want}.check(t, s)
	}
	server.Handle("api.github.com", nil)
	server.SetAddresses("api.github.com", []string{"127.0.0.1"})
	row{"private address", "https://github.com/octo/demo", "", codesage.KindInvalid, "Can't index octo/demo: github.com resolves to a private or loopback address."}.check(t, s)
	server.SetAddresses("api.github.com", []string{})
	row{"unknown name", "https://github.com/octo/demo", "", codesage.KindUnavailable, "Could not reach GitHub; try again."}.check(t, s)
}

func TestSlowHostsTimeOut(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	server.Handle("slow.example.org", gittest.Stalled())
	server.Handle("api.github.com", gittest.Stalled())
	server.Silent("silent.example.org", "93.184.216.99")
	cfg := config(t, server)
	cfg.PreflightTimeout = 500 * time.Millisecond
	s := open(t, cfg)
	for host, name := range map[string]string{"slow.example.org": "slow.example.org", "silent.example.org": "silent.example.org", "github.com": "GitHub"} {
		began := time.Now()
		row{host, "https://" + host + "/o/r", "", codesage.KindTimeout, name + " did not respond in time; try again."}.check(t, s)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the time limit of 0.5 s held only after %s", host, took)
		}
	}
}

func TestCallerWhoGoesAwayGetsItsOwnError(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	asked := make(chan struct{}, 1)
	server.Handle("slow.example.org", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	s := open(t, config(t, server))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		cancel()
	}()
	_, err := s.Preflight(ctx, parse(t, "https://slow.example.org/o/r", ""))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNameIsResolvedOnceAndItsAddressDialled(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("rebind.example.org", "o/r")
	repo.Commit("main", gittest.Files(map[string]string{"a": "a"}))
	server.SetAddresses("rebind.example.org", []string{"93.184.216.40"}, []string{"127.0.0.1"})
	s := open(t, config(t, server))
	if _, err := s.Preflight(context.Background(), parse(t, repo.URL(), "")); err != nil {
		t.Fatal(err)
	}
	if n := server.Lookups("rebind.example.org"); n != 1 {
		t.Errorf("%d look-ups", n)
	}
	_, err := s.Fetch(context.Background(), codesage.Repository{URL: repo.URL()})
	if err == nil || err.Error() != "Can't index rebind.example.org/o/r: rebind.example.org resolves to a private or loopback address." {
		t.Errorf("got %v", err)
	}
	for _, address := range server.Dialled() {
		if address != "93.184.216.40:443" {
			t.Errorf("%s was dialled", address)
		}
	}
}

func TestRenamedRepositoryIsFollowedOnItsHost(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	want := server.Repo("gitlab.com", "o/new").Commit("main", gittest.Files(map[string]string{"a": "a"}))
	git := server.Git()
	server.Handle("gitlab.com", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path) > 6 && r.URL.Path[:6] == "/o/old" {
			http.Redirect(w, r, "/o/new"+r.URL.RequestURI()[6:], http.StatusMovedPermanently)
			return
		}
		git.ServeHTTP(w, r)
	}))
	if got := fetch(t, open(t, config(t, server)), "https://gitlab.com/o/old", "").Commit(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEnvironmentProxyIsNotUsed(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("https_proxy", "http://127.0.0.1:1")
	server := gittest.New(t)
	repo := server.Repo("code.example.org", "o/r")
	repo.Commit("main", gittest.Files(map[string]string{"a": "a"}))
	fetch(t, open(t, config(t, server)), repo.URL(), "")
}

func TestDefaultBranchThatWasRenamed(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	s := open(t, config(t, server))
	for _, host := range []string{"github.com", "code.example.org"} {
		repo := server.Repo(host, "o/r")
		repo.Commit("main", gittest.Files(map[string]string{"a": "a"}))
		repo.Git("branch", "-m", "main", "trunk")
		repo.Git("symbolic-ref", "HEAD", "refs/heads/trunk")
		head, err := s.Preflight(context.Background(), parse(t, repo.URL(), ""))
		if err != nil || head.Branch != "trunk" || head.Commit != repo.Head("trunk") {
			t.Errorf("%s: %+v, %v", host, head, err)
		}
	}
}
