package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git/gittest"
)

func TestFetchOnEveryHost(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	cfg := config(t, server)
	cfg.PrivateHosts = []string{"Git.Corp"}
	server.SetAddresses("git.corp", []string{"10.0.0.5"})
	s := open(t, cfg)
	for _, host := range []string{"github.com", "gitlab.com", "bitbucket.org", "git.corp", "code.example.org"} {
		repo := server.Repo(host, "octo/demo")
		repo.Commit("main", gittest.Files(map[string]string{"old.txt": "gone\n", "a.go": "package a\n"}))
		want := repo.Commit("main", map[string]gittest.Change{"old.txt": {Delete: true}, "b/c.go": {Data: "package c\n"}})
		repo.Commit("dev", gittest.Files(map[string]string{"dev.txt": "dev"}))

		head, err := s.Preflight(context.Background(), parse(t, repo.URL(), ""))
		if d := cmp.Diff(head, Head{Branch: "main", Commit: want}); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", host, err, d)
		}
		if again, err := s.Head(context.Background(), codesage.Repository{URL: repo.URL()}); err != nil || again != head {
			t.Errorf("%s: Head = %v, %v", host, again, err)
		}
		c := fetch(t, s, repo.URL(), "")
		if d := cmp.Diff([]string{c.Commit(), contents(t, c)}, []string{want, "a.go=package a\n;b/c.go=package c\n;"}); d != "" {
			t.Errorf("%s:\n%s", host, d)
		}
		if got := contents(t, fetch(t, s, repo.URL(), "dev")); got != "dev.txt=dev;" {
			t.Errorf("%s: branch dev has %q", host, got)
		}
	}
	for _, r := range server.Requests() {
		if github := r.Host == "github.com" || r.Host == "api.github.com"; (r.Authorization != "") != github {
			t.Errorf("%s was sent the authorization %q", r.Host, r.Authorization)
		}
	}
}

// contents prints all files of a checkout.
func contents(t testing.TB, c source.Checkout) string {
	t.Helper()
	files, _ := listed(t, c)
	var b strings.Builder
	for _, f := range files {
		data, _, err := c.Read(context.Background(), f, f.Size)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(f.Path + "=" + string(data) + ";")
	}
	return b.String()
}

func TestPrivateRepositoryNeedsTheToken(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("github.com", "octo/secret")
	repo.Commit("main", gittest.Files(map[string]string{"a.txt": "a"}))
	repo.Private(testToken)
	s := open(t, config(t, server))
	if _, err := s.Preflight(context.Background(), parse(t, repo.URL(), "")); err != nil {
		t.Error(err)
	}
	if got := contents(t, fetch(t, s, repo.URL(), "")); got != "a.txt=a;" {
		t.Errorf("got %q", got)
	}
}

func TestServerOfBareFoldersIsAskedWithoutSuffix(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("code.example.org", "o/plain")
	repo.Commit("main", gittest.Files(map[string]string{"a.txt": "a"}))
	if err := os.Rename(repo.Dir(), strings.TrimSuffix(repo.Dir(), ".git")); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, fetch(t, open(t, config(t, server)), repo.URL(), "")); got != "a.txt=a;" {
		t.Errorf("got %q", got)
	}
}

func TestListSkipsWhatIsNoFile(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("gitlab.com", "g/s/p")
	repo.Commit("main", map[string]gittest.Change{
		"a.go":           {Data: "package a\n", Mode: gittest.Executable},
		"a/x.go":         {Data: "package x\n"},
		"a.b":            {Data: ""},
		"link":           {Mode: gittest.Link, Data: "../../etc/passwd"},
		"sub":            {Mode: gittest.Submodule, Data: gittest.Commit},
		"big.bin":        {Data: lfsPrefix + "oid sha256:4d7a\nsize 12345\n"},
		"docs/lfs.md":    {Data: "about " + lfsPrefix},
		".gitattributes": {Data: "*.bin filter=lfs\n"},
	})
	c := fetch(t, open(t, config(t, server)), repo.URL(), "")
	files, skips := listed(t, c)
	var got []string
	for _, f := range files {
		want := strings.TrimSpace(repo.Git("rev-parse", "main:"+f.Path))
		if f.Hash != want || f.Stamp == "" {
			t.Errorf("%s has hash %s, want %s", f.Path, f.Hash, want)
		}
		got = append(got, f.Path)
	}
	if d := cmp.Diff(got, []string{".gitattributes", "a.b", "a.go", "a/x.go", "docs/lfs.md"}); d != "" {
		t.Errorf("files:\n%s", d)
	}
	if d := cmp.Diff(skips, []codesage.Skip{{Path: "big.bin", Reason: codesage.SkipLFS}, {Path: "link", Reason: codesage.SkipSymlink}, {Path: "sub", Reason: codesage.SkipSubmodule}}); d != "" {
		t.Errorf("skips:\n%s", d)
	}
}

func TestReadIsBoundedAndConcurrent(t *testing.T) {
	t.Parallel()
	server := gittest.New(t)
	repo := server.Repo("code.example.org", "o/r")
	repo.Commit("main", gittest.Files(map[string]string{"ten.txt": "0123456789", "empty": ""}))
	s := open(t, config(t, server))
	c := fetch(t, s, repo.URL(), "")
	ctx := context.Background()
	files, _ := listed(t, c)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for _, tc := range []struct {
				limit    int64
				want     string
				tooLarge bool
			}{{10, "0123456789", false}, {11, "0123456789", false}, {4, "0123", true}, {0, "", true}} {
				data, tooLarge, err := c.Read(ctx, files[1], tc.limit)
				if string(data) != tc.want || tooLarge != tc.tooLarge || err != nil {
					t.Errorf("limit %d: %q, %v, %v", tc.limit, data, tooLarge, err)
				}
			}
		})
	}
	readers.Wait()
	if data, tooLarge, err := c.Read(ctx, files[0], 0); len(data) != 0 || tooLarge || err != nil {
		t.Errorf("empty file: %q, %v, %v", data, tooLarge, err)
	}
	if _, _, err := c.Read(ctx, source.File{Path: "x", Hash: gittest.Commit}, 10); !errors.Is(err, codesage.ErrNotFound) {
		t.Errorf("unknown file: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := c.Read(ended, files[0], 10); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	stop := errors.New("stop")
	if err := c.List(ctx, func(source.File) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("List: %v", err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Read(ctx, files[0], 10); err == nil {
		t.Error("a closed checkout can be read")
	}
}

func TestSweepTempRemovesLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{tempPrefix + "123", tempPrefix + "x", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := SweepTemp(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := SweepTemp(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is swept")
	}
}

func TestNewRefusesBadSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{GitHubToken: "S3cr3tTok\nX"}, "GITHUB_TOKEN holds characters that no token has"},
		{Config{GitHubAPIURL: "http://api.example.org"}, "GITHUB_API_URL must begin with https://"},
		{Config{GitHubAPIURL: "https://u:S3cr3tTok@api.example.org"}, "GITHUB_API_URL is not a URL such as https://api.github.com"},
		{Config{Proxy: "socks5://u:S3cr3tTok@p:1"}, "CODESAGE_GIT_PROXY is not an http or https URL"},
		{Config{Proxy: "http://u:S3cr3tTok@p:1/%zz"}, "CODESAGE_GIT_PROXY is not an http or https URL"},
	} {
		if _, err := New(tc.cfg); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, err := New(Config{GitHubAPIURL: "http://127.0.0.1:1234/"}); err != nil {
		t.Error(err)
	}
}
