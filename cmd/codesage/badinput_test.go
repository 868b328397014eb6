package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkFault checks that a command failed with exactly one line for people.
func checkFault(t *testing.T, got output, code int, want string) {
	t.Helper()
	lines := got.faults()
	if code == exitUsage && len(lines) == 2 && strings.HasPrefix(lines[1], "Run `codesage help`") {
		lines = lines[:1]
	}
	if got.code != code || len(lines) != 1 || lines[0] != "codesage: "+want {
		t.Errorf("exit code %d, stderr %q;\nwant %d and %q", got.code, lines, code, "codesage: "+want)
	}
	if got.stdout != "" {
		t.Errorf("stdout %q", got.stdout)
	}
}

func TestAFolderThatCantBeIndexedIsRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	allowed := filepath.Join(root, "allowed")
	writeFiles(t, root, map[string]string{"allowed/file.go": "package a\n", "allowed/app/a.go": "package a\n", "outside/b.go": "package b\n"})
	if err := os.Symlink(filepath.Join(root, "outside"), filepath.Join(allowed, "way-out")); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, "CODESAGE_LOCAL_ROOTS="+allowed)
	const outside = "Path is outside the folders that may be indexed (CODESAGE_LOCAL_ROOTS): "
	for _, tc := range []struct {
		name, path string
		more       []string
		code       int
		want       string
	}{
		{"missing", allowed + "/nothing", nil, exitFailed, "Path does not exist: " + allowed + "/nothing"},
		{"a file", allowed + "/file.go", nil, exitFailed, "Path must be a directory: " + allowed + "/file.go"},
		{"outside", root + "/outside", nil, exitFailed, outside + root + "/outside (403)"},
		{"outside and missing", root + "/nothing", nil, exitFailed, outside + root + "/nothing (403)"},
		{"a link that leads outside", allowed + "/way-out", nil, exitFailed, outside + root + "/outside (403)"},
		{"dots that lead outside", allowed + "/../outside", nil, exitFailed, outside + root + "/outside (403)"},
		{"the root of all", "/", []string{"--session", "all"}, exitFailed, outside + "/ (403)"},
		{"empty", "", nil, exitUsage, "the name of the folder is empty; write . for the current folder"},
		{"bad session", allowed + "/app", []string{"--session", "no good"}, exitFailed, "Session must contain only alphanumeric, hyphen, underscore"},
		{"branch of a folder", allowed + "/app", []string{"--branch", "main"}, exitUsage, "--branch and --description are for git repositories"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkFault(t, s.command(append([]string{"add", tc.path}, tc.more...)...), tc.code, tc.want)
		})
	}
	if got := must[listResult](t, s, "list_repositories", nil); len(got.Repositories) != 0 {
		t.Errorf("something was added: %v", got)
	}
}

func TestClientCommandsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "app")
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
	s := newServer(t)
	s.index(folder, "app")
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no such repository", []string{"status", "nope"}, exitFailed, `no repository "nope"; there are: app`},
		{"remove what is not there", []string{"remove", "nope"}, exitFailed, `no repository "nope"; there are: app`},
		{"limit", []string{"search", "x", "--limit", "99"}, exitFailed, "limit: Input should be less than or equal to 50"},
		{"type", []string{"search", "x", "--type", "foo"}, exitFailed, "entity_type: Input should be 'function', 'class', 'import', 'doc_section' or 'terraform_block'"},
		{"language", []string{"search", "x", "--language", "klingon"}, exitFailed, "Unknown language 'klingon'. Languages in this index: go."},
		{"empty query", []string{"search", ""}, exitFailed, "query: String should have at least 1 character"},
		{"unknown repository", []string{"search", "x", "--repository", "nope"}, exitFailed, "Repository 'nope' not found. Available repositories: app"},
		{"unknown command", []string{"frobnicate"}, exitUsage, `unknown command "frobnicate"`},
		{"unknown flag", []string{"list", "--frob"}, exitUsage, "unknown flag: --frob"},
		{"too few arguments", []string{"add"}, exitUsage, "codesage add takes one URL or folder (got 0 arguments)"},
		{"too many arguments", []string{"list", "x"}, exitUsage, `codesage list takes no arguments (got "x")`},
		{"help on nothing", []string{"help", "frobnicate"}, exitUsage, `no help for "frobnicate"`},
	} {
		t.Run(tc.name, func(t *testing.T) { checkFault(t, s.command(tc.args...), tc.code, tc.want) })
	}
	t.Run("no server", func(t *testing.T) {
		for _, args := range [][]string{{"list"}, {"add", folder}, {"search", "x"}, {"status", "app"}} {
			got := command{args: args, env: settings{"MCP_SERVER_URL=http://127.0.0.1:1"}}.run(t)
			checkFault(t, got, exitFailed, "no server answers at http://127.0.0.1:1; start one with `codesage serve`, or set MCP_SERVER_URL")
		}
	})
	t.Run("no server on another host", func(t *testing.T) {
		got := command{args: []string{"list"}, env: settings{"MCP_SERVER_URL=http://127.0.0.2:1"}}.run(t)
		if lines := got.faults(); len(lines) != 1 || !strings.HasPrefix(lines[0], "codesage: no server answers at http://127.0.0.2:1: ") || !strings.HasSuffix(lines[0], "; check MCP_SERVER_URL and that the host is up") {
			t.Errorf("got %q", lines)
		}
	})
	t.Run("a certificate of nobody", func(t *testing.T) {
		https := httptest.NewUnstartedServer(http.NotFoundHandler())
		https.Config.ErrorLog = log.New(io.Discard, "", 0)
		https.StartTLS()
		defer https.Close()
		got := command{args: []string{"list"}, env: settings{"MCP_SERVER_URL=" + https.URL}}.run(t)
		if lines := got.faults(); len(lines) != 1 || !strings.HasPrefix(lines[0], "codesage: the connection to the server at "+https.URL+" failed: ") || !strings.Contains(lines[0], "certificate") {
			t.Errorf("got %q", lines)
		}
	})
	t.Run("bad server URL", func(t *testing.T) {
		got := command{args: []string{"list"}, env: settings{"MCP_SERVER_URL=ftp://x"}}.run(t)
		checkFault(t, got, exitFailed, "MCP_SERVER_URL must start with http:// or https:// (got 'ftp://x')")
	})
}

// serving is a start of the server that is expected to fail.
func serving(t *testing.T, env ...string) output {
	t.Helper()
	return command{args: []string{"serve"}, env: env}.run(t)
}

func TestAServerThatCantStartSaysWhy(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
	s := newServer(t)
	repo, _ := s.index(folder, "kept")
	before := tellEverything(t, s, repo.ID)
	t.Run("a second server on the same data folder", func(t *testing.T) {
		checkFault(t, serving(t, "CODESAGE_PORT=0", "CODESAGE_DATA_DIR="+s.data), exitFailed,
			"another codesage server is using the data folder "+s.data+"; stop it, or set CODESAGE_DATA_DIR to another folder")
	})
	t.Run("a taken port", func(t *testing.T) {
		taken := strings.TrimPrefix(s.url, "http://")
		_, port, _ := net.SplitHostPort(taken)
		checkFault(t, serving(t, "CODESAGE_PORT="+port, "CODESAGE_DATA_DIR="+t.TempDir()), exitFailed,
			taken+" is taken by another program (perhaps another codesage serve); stop it, or set CODESAGE_PORT to another port")
	})
	t.Run("an address of another machine", func(t *testing.T) {
		got := serving(t, "CODESAGE_HOST=192.0.2.1", "CODESAGE_API_KEY=0123456789abcdef0123456789abcdef", "CODESAGE_PORT=0", "CODESAGE_DATA_DIR="+t.TempDir())
		if lines := got.faults(); got.code != exitFailed || len(lines) != 1 || !strings.HasSuffix(lines[0], "; set CODESAGE_HOST and CODESAGE_PORT to an address of this machine") {
			t.Errorf("exit code %d, %q", got.code, lines)
		}
	})
	t.Run("a data folder that can't be made", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		writeFiles(t, filepath.Dir(file), map[string]string{"file": ""})
		checkFault(t, serving(t, "CODESAGE_PORT=0", "CODESAGE_DATA_DIR="+file+"/data"), exitFailed,
			fmt.Sprintf("make the data folder: mkdir %s: not a directory; set CODESAGE_DATA_DIR to a folder that can be written", file))
	})
	checkSame(t, tellEverything(t, s, repo.ID), before)
	s.stop()
	s.start()
	checkSame(t, tellEverything(t, s, repo.ID), before)
}

func TestAllFaultsOfTheConfigurationAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	got := serving(t, "CODESAGE_PORT=x", "LOG_LEVEL=loud", "RATE_LIMIT_AI=many", "WORKER_CONCURRENCY=-3", "CODESAGE_DATA_DIR="+t.TempDir())
	want := []string{
		"codesage: the configuration has 4 faults:",
		"  CODESAGE_PORT=x: must be a whole number from 0 to 65535",
		"  RATE_LIMIT_AI=many: must be a number of requests such as 30/minute",
		"  WORKER_CONCURRENCY=-3: must be a whole number from 0 to 256",
		"  LOG_LEVEL=loud: must be debug, info, warn or error",
	}
	if text := strings.Join(want, "\n"); got.code != exitFailed || strings.Join(got.faults(), "\n") != text {
		t.Errorf("exit code %d, stderr:\n%s\nwant:\n%s", got.code, got.stderr, text)
	}
}

func TestTheServerReadsDotEnv(t *testing.T) {
	t.Parallel()
	t.Run("for what the environment lacks", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{".env": "LOG_LEVEL=loud\nWORKER_CONCURRENCY=7\n# a comment\n"})
		got := command{args: []string{"serve"}, dir: dir, env: settings{"WORKER_CONCURRENCY=many", "CODESAGE_DATA_DIR=" + t.TempDir()}}.run(t)
		text := strings.Join(got.faults(), "\n")
		if !strings.Contains(text, "LOG_LEVEL=loud") || !strings.Contains(text, "WORKER_CONCURRENCY=many") {
			t.Errorf("stderr:\n%s", text)
		}
	})
	t.Run("and says when it is no such file, without quoting it", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{".env": "this is no assignment\nCODESAGE_API_KEY=secret\n"})
		got := command{args: []string{"serve"}, dir: dir, env: settings{"CODESAGE_DATA_DIR=" + t.TempDir()}}.run(t)
		checkFault(t, got, exitFailed, "the file .env in the working folder is no list of NAME=value lines; mend or remove it")
	})
	t.Run("but not other commands", func(t *testing.T) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{".env": "MCP_SERVER_URL=http://127.0.0.1:2\n"})
		got := command{args: []string{"list"}, dir: dir, env: settings{"MCP_SERVER_URL="}}.run(t)
		if strings.Contains(got.stderr, "127.0.0.1:2") {
			t.Errorf("stderr %q", got.stderr)
		}
	})
}
