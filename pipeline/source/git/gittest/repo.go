package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// Repo is a bare repository on a host.
type Repo struct {
	tb         testing.TB
	server     *Server
	dir        string
	host, path string
}

// File modes of a Change.
const (
	Regular    = "100644"
	Executable = "100755"
	Link       = "120000"
	Submodule  = "160000"
)

// Change is what a commit does to one path.
type Change struct {
	Mode   string // empty = Regular
	Data   string // content; the target of a Link, the commit of a Submodule
	Delete bool
}

// Files are changes that write regular files.
func Files(content map[string]string) map[string]Change {
	changes := make(map[string]Change, len(content))
	for path, data := range content {
		changes[path] = Change{Data: data}
	}
	return changes
}

// Repo creates an empty repository whose default branch is main.
func (s *Server) Repo(host, path string, options ...string) *Repo {
	s.tb.Helper()
	r := &Repo{tb: s.tb, server: s, dir: filepath.Join(s.root, host, filepath.FromSlash(path)+".git"), host: host, path: path}
	args := append([]string{"init", "-q", "--bare", "--initial-branch=main"}, options...)
	r.run(nil, append(args, r.dir)...)
	return r
}

// URL is where the repository is served.
func (r *Repo) URL() string { return "https://" + r.host + "/" + r.path }

// Dir is the bare repository's folder.
func (r *Repo) Dir() string { return r.dir }

// Private makes the host ask for a token.
func (r *Repo) Private(token string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.server.tokens[strings.ToLower(r.host+"/"+r.path)] = token
}

// Commit adds a commit to a branch, which is created if need be, and returns
// its name.
func (r *Repo) Commit(branch string, changes map[string]Change) string {
	r.tb.Helper()
	paths := make([]string, 0, len(changes))
	for path := range changes {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter test <test@example.com> 1700000000 +0000\ndata 4\ntest\n", branch)
	if r.Head(branch) != "" {
		fmt.Fprintf(&in, "from refs/heads/%s^0\n", branch)
	}
	for _, path := range paths {
		c := changes[path]
		if c.Mode == "" {
			c.Mode = Regular
		}
		switch {
		case c.Delete:
			fmt.Fprintf(&in, "D %s\n", quote(path))
		case c.Mode == Submodule:
			fmt.Fprintf(&in, "M %s %s %s\n", c.Mode, c.Data, quote(path))
		default:
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", c.Mode, quote(path), len(c.Data), c.Data)
		}
	}
	r.run(&in, "-C", r.dir, "fast-import", "--quiet", "--force", "--date-format=raw")
	return r.Head(branch)
}

// Head returns the commit of a branch; empty when there is none.
func (r *Repo) Head(branch string) string {
	out, err := r.command(nil, "-C", r.dir, "rev-parse", "-q", "--verify", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Object stores an object of any content and returns its name.
func (r *Repo) Object(typ string, data []byte) string {
	r.tb.Helper()
	return strings.TrimSpace(r.run(bytes.NewReader(data), "-C", r.dir, "hash-object", "-t", typ, "-w", "--stdin", "--literally"))
}

// Git runs git in the repository and returns what it printed.
func (r *Repo) Git(args ...string) string {
	r.tb.Helper()
	return r.run(nil, append([]string{"-C", r.dir}, args...)...)
}

func (r *Repo) run(in interface{ Read([]byte) (int, error) }, args ...string) string {
	r.tb.Helper()
	out, err := r.command(in, args...).Output()
	if err != nil {
		detail := ""
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			detail = string(exit.Stderr)
		}
		r.tb.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, detail)
	}
	return string(out)
}

func (r *Repo) command(in interface{ Read([]byte) (int, error) }, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Env = append(cmd.Environ(), environment()...)
	if in != nil {
		cmd.Stdin = in
	}
	return cmd
}

// quote writes a path as fast-import reads it.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
