package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codesage/search/algolia/algoliatest"
)

// examined is what `codesage doctor --json` finds, by check.
func examined(t *testing.T, env ...string) (findings map[string]finding, code int) {
	t.Helper()
	o := command{args: []string{"doctor", "--json"}, env: append(settings{"MCP_SERVER_URL=http://127.0.0.1:9"}, env...)}.run(t)
	var list []finding
	if err := json.Unmarshal([]byte(o.stdout), &list); err != nil {
		t.Fatalf("%v in %q %q", err, o.stdout, o.stderr)
	}
	findings = map[string]finding{}
	for _, f := range list {
		findings[f.Check] = f
	}
	return findings, o.code
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	data, _ := indexed(t)
	damaged := func(pattern string) string {
		copied := copyOf(t, data)
		paths, err := filepath.Glob(filepath.Join(copied, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		b, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		copy(b[100:], strings.Repeat("noise", 800)) // not where only somebody's text is, which no check covers
		if err := os.WriteFile(paths[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		return "CODESAGE_DATA_DIR=" + copied
	}
	open := copyOf(t, data)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	lost := copyOf(t, data)
	segments, err := filepath.Glob(filepath.Join(lost, "index/*/texts/*.seg"))
	if err != nil || len(segments) == 0 || os.Remove(segments[0]) != nil {
		t.Fatalf("no segment to remove: %v", err)
	}
	lost = "CODESAGE_DATA_DIR=" + lost
	commented := t.TempDir()
	writeFiles(t, commented, map[string]string{".cursor/mcp.json": "{ // mine\n}"})
	another := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(another.Close)
	brokenHome := t.TempDir()
	writeFiles(t, brokenHome, map[string]string{".cursor/mcp.json": `{"mcpServers": {"codesage": {"command": "/nowhere/codesage", "args": ["bridge"]}}}`})
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := "CODESAGE_DATA_DIR=" + data
	for _, tc := range []struct {
		name  string
		env   []string
		check string
		state verdict
		text  string // a part of it
	}{
		{"a folder in order", []string{whole}, "database", fine, "is whole"},
		{"an index in order", []string{whole}, "search index", fine, "segments are right"},
		{"parsers", []string{whole}, "parsers", fine, "starts"},
		{"no server", []string{whole}, "server", notice, "start one with `codesage serve`"},
		{"nothing yet", []string{whole + "/none"}, "search index", fine, "there is none yet"},
		{"several faults", []string{whole, "CODESAGE_PORT=x", "LOG_LEVEL=loud"}, "settings", failure, "LOG_LEVEL"},
		{"no folder", []string{whole + "/codesage.db"}, "data folder", failure, "is not a folder"},
		{"an open folder", []string{"CODESAGE_DATA_DIR=" + open}, "data folder", notice, "chmod 700"},
		{"a damaged database", []string{damaged("codesage.db")}, "database", failure, "is damaged"},
		{"a damaged index", []string{damaged("index/*/texts/*.seg")}, "search index", notice, "anew from the database by itself"},
		{"a lost segment", []string{lost}, "search index", notice, "no such file"},
		{"a folder that can't be made", []string{"CODESAGE_DATA_DIR=" + data + "/codesage.db/below"}, "data folder", failure, "CODESAGE_DATA_DIR"},
		{"a configuration with comments", []string{whole, "HOME=" + commented}, "MCP clients", notice, "not plain JSON"},
		{"another program's port", []string{whole, "MCP_SERVER_URL=" + another.URL}, "server", failure, "another program answers"},
		{"half of Algolia", []string{whole, "ALGOLIA_APP_ID=app"}, "search engine", notice, "would take both"},
		{"no keys", []string{whole, "SEARCH_ENGINE=algolia"}, "search engine", failure, "has no keys"},
		{"no Redis", []string{whole, "REDIS_URL=redis://:hidden@127.0.0.1:9/0", "DATABASE_URL=postgres://u:hidden@127.0.0.1:9/db"}, "queue", failure, "that Redis runs at 127.0.0.1:9"},
		{"no PostgreSQL", []string{whole, "REDIS_URL=redis://:hidden@127.0.0.1:9/0", "DATABASE_URL=postgres://u:hidden@127.0.0.1:9/db"}, "database", failure, "database"},
		{"no client", []string{whole}, "MCP clients", notice, "codesage install"},
		{"a client that starts nothing", []string{whole, "HOME=" + brokenHome}, "MCP clients", failure, "run `codesage install cursor`"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			all, code := examined(t, tc.env...)
			f := all[tc.check]
			if f.State != tc.state || !strings.Contains(f.Text, tc.text) {
				t.Errorf("found %+v", f)
			}
			if isBad := tc.state == failure; isBad != (code == exitFailed) && code != exitOK {
				t.Errorf("exit code %d of %v", code, all)
			}
			if strings.Contains(fmt.Sprint(all), "hidden") {
				t.Errorf("a password shows: %v", all)
			}
		})
	}
}

// filesOf lists what is in a folder, by path.
func filesOf(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestDoctorAsksAlgolia(t *testing.T) {
	t.Parallel()
	data, _ := indexed(t)
	fake := algoliatest.New(t, algoliatest.Options{})
	env := append(algoliaSettings(t, fake), "CODESAGE_DATA_DIR="+data)
	odd := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	t.Cleanup(odd.Close)
	oddRoots := filepath.Join(t.TempDir(), "roots.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: odd.Certificate().Raw})
	if err := os.WriteFile(oddRoots, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		env   []string // beside the settings that are right
		state verdict
		text  string
	}{
		{"in order", nil, fine, "Algolia answers"},
		{"a refused key", []string{"ALGOLIA_ADMIN_API_KEY=wrong-and-hidden"}, failure, "set ALGOLIA_ADMIN_API_KEY"},
		{"away", []string{"ALGOLIA_HOSTS=127.0.0.1:9"}, failure, "check ALGOLIA_APP_ID and ALGOLIA_HOSTS"},
		{"something else", []string{"ALGOLIA_HOSTS=" + odd.Listener.Addr().String(), "SSL_CERT_FILE=" + oddRoots}, failure, "the answer has no hits"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, _ := examined(t, append(slices.Clone(env), tc.env...)...)
			f := all["search engine"]
			if f.State != tc.state || !strings.Contains(f.Text, tc.text) {
				t.Errorf("found %+v", f)
			}
			if strings.Contains(fmt.Sprint(all), "hidden") || strings.Contains(fmt.Sprint(all), algoliatest.AdminKey) {
				t.Errorf("a key shows: %v", all)
			}
		})
	}
	asked := fake.Requests()
	if len(asked) == 0 {
		t.Error("nothing was asked")
	}
	for _, q := range asked {
		if q.Method == http.MethodPut || q.Route == "batch" {
			t.Errorf("doctor asked %s %s", q.Method, q.Route)
		}
	}
}

func TestDoctorAsksTheServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, "CODESAGE_API_KEY=the-key-of-this-server")
	folder := t.TempDir()
	newTree(3, 5, 1).write(t, folder)
	if o := (command{args: []string{"add", folder, "--session", "small"}, env: settings{"MCP_SERVER_URL=" + s.url, "CODESAGE_DATA_DIR=" + s.data}}).run(t); o.code != exitOK {
		t.Fatal(o.stderr)
	}
	home := t.TempDir()
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"codesage": serverEntry{
		Command: s.binary, Args: []string{"bridge"}, Env: map[string]string{mainMark: "1"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, home, map[string]string{".cursor/mcp.json": string(entry)})
	before := filesOf(t, s.data)
	all, code := examined(t, "CODESAGE_DATA_DIR="+s.data, "MCP_SERVER_URL="+s.url, "HOME="+home)
	if after := filesOf(t, s.data); !slices.Equal(before, after) {
		t.Errorf("the data folder held %q and holds %q", before, after)
	}
	if f := all["server"]; code != exitOK || f.State != fine || !strings.Contains(f.Text, "1 repositories") {
		t.Errorf("exit code %d, %v", code, all)
	}
	if f := all["MCP clients"]; f.State != fine || !strings.Contains(f.Text, "Cursor (7 tools)") {
		t.Errorf("found %+v", f)
	}
	all, code = examined(t, "CODESAGE_DATA_DIR="+s.data, "MCP_SERVER_URL="+s.url, "CODESAGE_API_KEY=another")
	if f := all["server"]; code != exitFailed || f.State != failure || !strings.Contains(f.Text, "refuses the key") {
		t.Errorf("exit code %d, %v", code, all)
	}
}
