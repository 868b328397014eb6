package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/api"
	"codesage/bridge"
	"codesage/catalog"
	"codesage/store/sqlite/sqlitetest"
	"codesage/tools"
	"codesage/tools/repositories"
)

// bridgeURL, when set, makes the test program the bridge to that server, for
// clients that start one.
const bridgeURL = "CODESAGE_TEST_BRIDGE_URL"

func TestMain(m *testing.M) {
	url := os.Getenv(bridgeURL)
	if url == "" {
		os.Exit(m.Run())
	}
	c := bridge.Config{ServerURL: url, Repositories: repositories.Specs()}
	if err := bridge.Run(context.Background(), c, os.Stdin, os.Stdout, os.Stderr); err != nil {
		slog.Error("bridge", "err", err)
		os.Exit(1)
	}
}

// sdkVersion is the client's version that this was written with.
const sdkVersion = "1.32.2"

// sdk returns a folder with the official client, installed once for all runs.
// The test is skipped when there is no node, or npm can't reach its registry.
func sdk(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped with -short: installs an npm package")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: no %s here, which runs the official MCP client", program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "codesage-test", "mcp-sdk-"+sdkVersion)
	if _, err := os.Stat(filepath.Join(folder, "ready")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--no-save", "@modelcontextprotocol/sdk@"+sdkVersion)
	npm.Dir = folder
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("skipped: npm can't install the official MCP client (offline?): %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

type idleQueue struct{}

func (idleQueue) Enqueue(context.Context, codesage.Run) error  { return nil }
func (idleQueue) Cancel(context.Context, codesage.RunID) error { return nil }

// newAPI is a whole API over an empty store.
func newAPI(t *testing.T) string {
	t.Helper()
	s := sqlitetest.Open(t)
	log := slog.New(slog.DiscardHandler)
	c := catalog.New(catalog.Options{Store: s, Queue: idleQueue{}, Log: log})
	if _, _, err := s.CreateRepository(t.Context(), codesage.Repository{Name: "app", Session: "app", Source: codesage.SourceFolder, Path: "/src/app"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(api.Deps{
		Store: s, Catalog: c, Log: log, Toolsets: []tools.Set{repositories.New(repositories.Deps{Catalog: c, Store: s})},
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The official client gets the same answers over stdio, through the bridge, and
// over HTTP.
func TestTheOfficialClientIsServedOnBothDoors(t *testing.T) {
	t.Parallel()
	folder := sdk(t)
	url := newAPI(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range repositories.Specs() {
		names = append(names, s.Name)
	}
	for door, target := range map[string]string{"stdio": program, "http": url + "/mcp"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		node := exec.CommandContext(ctx, "node", "testdata/client.mjs", folder, target)
		node.Env = append(os.Environ(), bridgeURL+"="+url)
		var stderr bytes.Buffer
		node.Stderr = &stderr
		out, err := node.Output()
		cancel()
		if err != nil {
			t.Fatalf("%s: %v\n%s", door, err, stderr.String())
		}
		got := map[string]any{}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var line struct {
				Name  string
				Value any
			}
			if err := d.Decode(&line); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", door, err, out)
			}
			got[line.Name] = line.Value
		}
		list, _ := got["list"].(map[string]any)
		text, _ := list["text"].(string)
		if !strings.Contains(text, `"name": "app"`) || list["isError"] != false {
			t.Errorf("%s: list_repositories: %v", door, got["list"])
		}
		if got["resource"] != text {
			t.Errorf("%s: the resource %v is not what list_repositories says", door, got["resource"])
		}
		delete(got, "list")
		delete(got, "resource")
		want := map[string]any{
			"server": "codesage", "instructions": true, "tools": anys(names), "resources": []any{"codesage://repositories"}, "ping": map[string]any{},
			"bad arguments":    map[string]any{"text": "Invalid arguments for 'get_file': repository: Field required; path: Input should be a valid string", "isError": true},
			"unknown tool":     map[string]any{"text": "Unknown tool 'nope'. Available tools: " + strings.Join(names, ", "), "isError": true},
			"unknown resource": map[string]any{"code": -32602.0, "message": "MCP error -32602: Resource or repository not found: Unknown resource 'codesage://x'"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", door, diff)
		}
	}
}

func anys(names []string) []any {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	return list
}
