package folder

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"codesage"
)

// git runs the real git, which is the oracle here.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCommitIsHead(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	t.Parallel()
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	plant(t, repo, map[string]string{"sub/deep/a": "a"})
	check := func(when, dir, want string) {
		t.Helper()
		if got := fetch(t, dir, codesage.IndexOptions{}).Commit(); got != want {
			t.Errorf("%s: commit = %q, want %q", when, got, want)
		}
	}
	check("outside git", repo, "")
	git(t, repo, "init", "-q", "-b", "main")
	check("before the first commit", repo, "")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "one")
	first := git(t, repo, "rev-parse", "HEAD")
	check("a branch", repo, first)
	check("a folder inside", filepath.Join(repo, "sub", "deep"), first)
	git(t, repo, "pack-refs", "--all")
	check("packed", repo, first)
	git(t, repo, "worktree", "add", "-q", "-b", "feature/x", filepath.Join(top, "tree"))
	git(t, filepath.Join(top, "tree"), "commit", "-q", "--allow-empty", "-m", "two")
	second := git(t, filepath.Join(top, "tree"), "rev-parse", "HEAD")
	check("a linked work tree", filepath.Join(top, "tree"), second)
	check("the main work tree beside it", repo, first)
	git(t, repo, "pack-refs", "--all")
	check("a linked work tree, packed", filepath.Join(top, "tree"), second)
	git(t, repo, "checkout", "-q", "--detach", second)
	check("detached", repo, second)
	git(t, repo, "symbolic-ref", "HEAD", "refs/heads/new")
	check("a branch without commits", repo, "")
}

func TestCommitOfBrokenGitDirectories(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("ab", 20)
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a relative git file", map[string]string{".git": "gitdir: ../real\n", "../real/HEAD": hash + "\n"}, hash},
		{"no such git directory", map[string]string{".git": "gitdir: /no/where\n"}, ""},
		{"a reference out of the directory", map[string]string{".git/HEAD": "ref: refs/../../secret\n", "secret": hash}, ""},
		{"a reference that is no reference", map[string]string{".git/HEAD": "ref: ../secret\n", "secret": hash}, ""},
		{"references in a circle", map[string]string{".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/b\n", ".git/refs/heads/b": "ref: refs/heads/a\n"}, ""},
		{"a reference to a reference", map[string]string{".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/b\n", ".git/refs/heads/b": hash}, hash},
		{"no hash", map[string]string{".git/HEAD": "0123\n"}, ""},
		{"a long hash", map[string]string{".git/HEAD": strings.Repeat("ab", 32) + "\n"}, ""},
		{"an empty folder of the name", map[string]string{".git/x": ""}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "w")
			plant(t, dir, tc.files)
			if got := headCommit(dir); got != tc.want {
				t.Errorf("commit = %q, want %q", got, tc.want)
			}
		})
	}
}
