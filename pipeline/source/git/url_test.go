package git

import (
	"errors"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"codesage"
)

func TestParseURLNormalises(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ url, branch, want, name, wantBranch string }{
		{"https://github.com/octo/demo", "", "https://github.com/octo/demo", "octo/demo", ""},
		{"http://github.com/octo/demo", "", "https://github.com/octo/demo", "octo/demo", ""},
		{"HTTPS://GitHub.com/Octo/Demo.git", "", "https://github.com/Octo/Demo", "Octo/Demo", ""},
		{"  https://github.com/octo/demo.git/ \n", "", "https://github.com/octo/demo", "octo/demo", ""},
		{"https://www.github.com/octo/demo//", "", "https://github.com/octo/demo", "octo/demo", ""},
		{"https://github.com/octo/demo.js", "", "https://github.com/octo/demo.js", "octo/demo.js", ""},
		{"https://github.com/octo/.github", "", "https://github.com/octo/.github", "octo/.github", ""},
		{"git@github.com:octo/demo.git", "", "https://github.com/octo/demo", "octo/demo", ""},
		{"git@gitlab.com:group/sub/project.git", "v1", "https://gitlab.com/group/sub/project", "gitlab.com/group/sub/project", "v1"},
		{"git@git.example.com:/srv/project.git", "", "https://git.example.com/srv/project", "git.example.com/srv/project", ""},
		{"https://github.com/octo/demo/tree/dev", "", "https://github.com/octo/demo", "octo/demo", "dev"},
		{"https://github.com/octo/demo/tree/feature/x/", "", "https://github.com/octo/demo", "octo/demo", "feature/x"},
		{"https://github.com/octo/demo/tree/dev", "main", "https://github.com/octo/demo", "octo/demo", "main"},
		{"https://github.com/octo/demo/tree/a%2Fb%23c", "", "https://github.com/octo/demo", "octo/demo", "a/b#c"},
		{"https://gitlab.com/g/s/p/-/tree/dev", "", "https://gitlab.com/g/s/p", "gitlab.com/g/s/p", "dev"},
		{"https://gitlab.com/g/s/p/tree/dev", "", "https://gitlab.com/g/s/p", "gitlab.com/g/s/p", "dev"},
		{"https://gitlab.example.org/g/p/-/tree/a/b", "", "https://gitlab.example.org/g/p", "gitlab.example.org/g/p", "a/b"},
		{"https://code.example.org/g/p/-/tree/dev", "", "https://code.example.org/g/p", "code.example.org/g/p", "dev"},
		{"https://code.example.org/tree/tree/tree", "", "https://code.example.org/tree/tree/tree", "code.example.org/tree/tree/tree", ""},
		{"https://bitbucket.org/team/repo/src/dev", "", "https://bitbucket.org/team/repo", "bitbucket.org/team/repo", "dev"},
		{"https://bitbucket.org/team/repo/src/feature%2Fx/", "", "https://bitbucket.org/team/repo", "bitbucket.org/team/repo", "feature/x"},
		{"https://git.sr.ht/~user/repo", "", "https://git.sr.ht/~user/repo", "git.sr.ht/~user/repo", ""},
		{"https://8.8.8.8/o/r", "", "https://8.8.8.8/o/r", "8.8.8.8/o/r", ""},
		{"https://[2606:4700:0::1]/o/r", "", "https://[2606:4700::1]/o/r", "[2606:4700::1]/o/r", ""},
	} {
		got, err := ParseURL(tc.url, tc.branch)
		if err != nil {
			t.Errorf("ParseURL(%q): %v", tc.url, err)
			continue
		}
		if d := cmp.Diff([]string{got.URL, got.Name, got.Branch}, []string{tc.want, tc.name, tc.wantBranch}); d != "" {
			t.Errorf("ParseURL(%q):\n%s", tc.url, d)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	const prefix = "url: Invalid repository URL ("
	for _, tc := range []struct{ url, reason, echo string }{
		{"", reasonScheme, ""},
		{"ssh://git@github.com/o/r", reasonScheme, "ssh://github.com/o/r"},
		{"ssh://-oProxyCommand=id/x", reasonScheme, "ssh://-oProxyCommand=id/x"},
		{"git://github.com/o/r", reasonScheme, "git://github.com/o/r"},
		{"file:///etc", reasonScheme, "file:///etc"},
		{"ext::sh -c id", reasonScheme, "ext::sh -c id"},
		{"-uevil", reasonScheme, "-uevil"},
		{"--upload-pack=touch /tmp/pwn", reasonScheme, "--upload-pack=touch /tmp/pwn"},
		{"octo/demo", reasonScheme, "octo/demo"},
		{"bob:S3cr3tTok@github.com/o/r", reasonScheme, "github.com/o/r"},
		{"https://bob:S3cr3tTok%2B@127.0.0.2:1/o/r.git", reasonCredentials, "https://127.0.0.2:1/o/r.git"},
		{"https://bob:S3cr3tTok/x?y#z@github.com/o/r", reasonQuery, "https://github.com/o/r"},
		{"https://S3cr3tTok@github.com/o/r", reasonCredentials, "https://github.com/o/r"},
		{"https://github.com:443/o/r", reasonPort, "https://github.com:443/o/r"},
		{"http://127.0.0.1:6379/x.git", reasonPort, "http://127.0.0.1:6379/x.git"},
		{"https://github.com/o/r?token=S3cr3tTok", reasonQuery, "https://github.com/o/r"},
		{"https://github.com/o/r#readme", reasonQuery, "https://github.com/o/r"},
		{"https://github.com\\@evil.test/x", reasonCharacters, "https://evil.test/x"},
		{"https://github.com/o/r\x00", reasonCharacters, "https://github.com/o/r?"},
		{"https://github.com/o r/x", reasonCharacters, "https://github.com/o r/x"},
		{"https://localhost/o/r", reasonLocalhost, "https://localhost/o/r"},
		{"http://localhost./x.git", reasonLocalhost, "http://localhost./x.git"},
		{"https://a.LocalHost/o/r", reasonLocalhost, "https://a.LocalHost/o/r"},
		{"http://169.254.169.254/latest/meta-data", reasonAddress, "http://169.254.169.254/latest/meta-data"},
		{"http://2130706433/x.git", reasonAddress, "http://2130706433/x.git"},
		{"http://0x7f000001/x.git", reasonAddress, "http://0x7f000001/x.git"},
		{"http://127.1/x.git", reasonAddress, "http://127.1/x.git"},
		{"http://0177.0.0.1/x.git", reasonAddress, "http://0177.0.0.1/x.git"},
		{"http://127.0.0.0x1/x.git", reasonAddress, "http://127.0.0.0x1/x.git"},
		{"http://127.0.0.1./x.git", reasonAddress, "http://127.0.0.1./x.git"},
		{"http://10.0.0.5/o/r", reasonAddress, "http://10.0.0.5/o/r"},
		{"http://[::1]/x.git", reasonAddress, "http://[::1]/x.git"},
		{"http://[::ffff:127.0.0.1]/x.git", reasonAddress, "http://[::ffff:127.0.0.1]/x.git"},
		{"http://[64:ff9b::7f00:1]/x.git", reasonAddress, "http://[64:ff9b::7f00:1]/x.git"},
		{"http://[fe80::1%25eth0]/o/r", reasonAddress, "http://[fe80::1%25eth0]/o/r"},
		{"git@127.0.0.1:o/r.git", reasonAddress, "127.0.0.1:o/r.git"},
		{"https://github.com./o/r", reasonHost, "https://github.com./o/r"},
		{"https://-evil.test/o/r", reasonHost, "https://-evil.test/o/r"},
		{"https://gíthub.com/o/r", reasonHost, "https://gíthub.com/o/r"},
		{"https:///o/r", reasonHost, "https:///o/r"},
		{"https://a..b/o/r", reasonHost, "https://a..b/o/r"},
		{"https://github.com", reasonPath, "https://github.com"},
		{"https://github.com/octo", reasonPath, "https://github.com/octo"},
		{"https://github.com/octo/demo/tree", reasonPath, "https://github.com/octo/demo/tree"},
		{"https://github.com/octo/demo/blob/main/a.go", reasonPath, "https://github.com/octo/demo/blob/main/a.go"},
		{"https://github.com/octo/demo/pull/3", reasonPath, "https://github.com/octo/demo/pull/3"},
		{"https://github.com//octo/demo", reasonPath, "https://github.com//octo/demo"},
		{"https://github.com/octo/..", reasonPath, "https://github.com/octo/.."},
		{"https://github.com/octo/.git", reasonPath, "https://github.com/octo/.git"},
		{"https://github.com/octo/%2e%2e", reasonPath, "https://github.com/octo/%2e%2e"},
		{"https://github.com/octo/demo.git.git", reasonPath, "https://github.com/octo/demo.git.git"},
		{"https://code.example.org/o/demo.git.git/", reasonPath, "https://code.example.org/o/demo.git.git/"},
		{"https://bob:S3cr3tTok%40github.com/octo", reasonPort, "https://github.com/octo"},
		{"https://bob:S3cr3tTok%40github.com/octo@demo", reasonPort, "https://demo"},
		{"https://github.com/\u202eoctc\u2066", reasonPath, "https://github.com/?octc?"},
		{"https://github.com/octo/-x", reasonPath, "https://github.com/octo/-x"},
		{"https://gitlab.com/g/p/-/blob/main/x", reasonPath, "https://gitlab.com/g/p/-/blob/main/x"},
		{"https://bitbucket.org/a/b/c", reasonPath, "https://bitbucket.org/a/b/c"},
		{"https://github.com/" + strings.Repeat("a", 3000), reasonLength, "https://github.com/" + strings.Repeat("a", 181) + "…"},
	} {
		_, err := ParseURL(tc.url, "")
		if err == nil {
			t.Errorf("ParseURL(%q) is accepted", tc.url)
			continue
		}
		if got, want := err.Error(), prefix+tc.reason+"): "+tc.echo; got != want {
			t.Errorf("ParseURL(%q):\n got %s\nwant %s", tc.url, got, want)
		}
		if !errors.Is(err, codesage.ErrInvalid) {
			t.Errorf("ParseURL(%q): kind %s", tc.url, codesage.KindOf(err))
		}
		noSecretIn(t, err)
	}
}

func TestKeyIgnoresCase(t *testing.T) {
	t.Parallel()
	a, b := parse(t, "git@GITHUB.com:Octo/Demo.git", ""), parse(t, "https://github.com/octo/demo/tree/dev", "")
	if a.Key() != b.Key() {
		t.Errorf("%q and %q differ", a.Key(), b.Key())
	}
}

// branches are names that git accepts or refuses in every way.
var branches = []string{
	"main", "feature/x", "v1.0", "a-b", "ä/ö", "a@b", "@", "@{", "a@{1}", "-x", "--upload-pack=touch /tmp/pwn", "a b", "a..b", "..",
	"a/../b", ".a", "a/.b", "a.lock", "a.lock/b", "a/", "/a", "a//b", "a.", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a\x7f", "a\tb",
	"HEAD", "a\x00b", "a\nb", "refs/heads/x", "{", "a#b", "a%b", "a\"b", "a'b", "a;b", "$(id)", "`id`",
}

func TestBranchNamesAreThoseOfGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, name := range branches {
		want := !strings.Contains(name, "\x00") && name != "HEAD" &&
			exec.Command("git", "check-ref-format", "refs/heads/"+name).Run() == nil && name[0] != '-' && name != "@"
		if got := ValidBranch(name); got != want {
			t.Errorf("ValidBranch(%q) = %v, want %v", name, got, want)
		}
		_, err := ParseURL("https://github.com/o/r", name)
		if !want && (err == nil || err.Error() != "branch: Invalid branch name") {
			t.Errorf("ParseURL with branch %q: %v", name, err)
		}
	}
	if ValidBranch(strings.Repeat("a", 101)) || !ValidBranch(strings.Repeat("a", 100)) {
		t.Error("the longest branch name has 100 characters")
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{
		"https://github.com/octo/demo/tree/dev", "git@gitlab.com:a/b/c.git", "http://0x7f000001/x.git", "https://u:p@h/x/y?z#f", "https://github.com/o/r.git.git",
		"https://[::ffff:7f00:1]/a/b", "https://bitbucket.org/a/b/src/c%2fd", "https://gitlab.x/a/b/-/tree/%00", "https://a/b/c\\@d",
	} {
		f.Add(s, "main")
	}
	f.Fuzz(func(t *testing.T, text, branch string) {
		r, err := ParseURL(text, branch)
		if err != nil {
			if !errors.Is(err, codesage.ErrInvalid) || !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseURL(r.URL, r.Branch)
		if err != nil || again != r {
			t.Fatalf("%q gives %+v, and that %+v, %v", text, r, again, err)
		}
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" || u.RawQuery != "" || u.Fragment != "" || u.Host != r.Host {
			t.Fatalf("%q gives %q: %v", text, r.URL, err)
		}
		if strings.Contains(r.Path, "..") && strings.Contains("/"+r.Path+"/", "/../") || r.Branch != "" && !ValidBranch(r.Branch) {
			t.Fatalf("%q gives %+v", text, r)
		}
	})
}
