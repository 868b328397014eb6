package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sdk is the official client of MCP in JavaScript.
const sdk = "@modelcontextprotocol/sdk@1.32.2"

// sdkFolder returns a folder in which the client is installed; it is kept
// between runs.
func sdkFolder(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	folder, err := filepath.Abs("../../.cache/mcp-client")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@modelcontextprotocol", "sdk", "package.json")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", sdk)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm could not install %s: %v\n%s", sdk, err, out)
	}
	return folder
}

// TestTheOfficialJavaScriptClient asks the bridge with the SDK that most MCP
// clients are made of.
func TestTheOfficialJavaScriptClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("installs an npm package")
	}
	folder := sdkFolder(t)
	s := newServer(t)
	s.index(demoFolder(t), "demo")
	script, err := os.ReadFile("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	// Node looks for packages beside the script.
	place, err := os.CreateTemp(folder, "client-*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(place.Name())
	_, _ = place.Write(script)
	_ = place.Close()
	for _, target := range []string{program(t), s.url + "/mcp"} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		node := exec.CommandContext(ctx, "node", place.Name(), target)
		node.Env = environ(t.TempDir(), "MCP_SERVER_URL="+s.url)
		out, err := node.Output()
		cancel()
		if err != nil {
			t.Fatalf("node: %v\n%s", err, out)
		}
		checkJavaScript(t, out)
	}
}

func checkJavaScript(t *testing.T, out []byte) {
	t.Helper()
	var got struct {
		Server, Listed, Found, Refused, Unknown, Resource, Missing string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, pair := range map[string][2]string{
		"server":   {got.Server, "codesage"},
		"listed":   {got.Listed, "search_code"},
		"found":    {got.Found, `"entity_name": "Greet"`},
		"refused":  {got.Refused, "Invalid arguments for 'get_file'"},
		"unknown":  {got.Unknown, "Unknown tool 'nope'. Available tools: "},
		"resource": {got.Resource, `"name": "demo"`},
		"missing":  {got.Missing, "-32602"},
	} {
		if !strings.Contains(pair[0], pair[1]) {
			t.Errorf("%s: %q, want %q in it", name, pair[0], pair[1])
		}
	}
}
