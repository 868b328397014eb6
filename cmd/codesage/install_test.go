package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallKeepsWhatElseIsInTheConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "config.json")
	entry := serverEntry{Command: "/opt/codesage", Args: []string{"bridge"}}
	host := mcpHosts[0]
	if err := writeEntry(path, host, entry); err != nil {
		t.Fatal(err)
	}
	before := "{\n  \"zeta\": 1,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n    \"codesage\": {\"command\": \"old\"}\n  },\n  \"alpha\": [1.0, 1e2]\n}\n"
	if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeEntry(path, host, entry); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		MCPServers map[string]serverEntry `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if got.MCPServers["codesage"].Command != "/opt/codesage" || got.MCPServers["other"].Command != "x" {
		t.Errorf("got %s", data)
	}
	for _, kept := range []string{`"zeta": 1`, `"alpha": [1.0, 1e2]`} {
		if !strings.Contains(string(data), kept) {
			t.Errorf("%s is lost in %s", kept, data)
		}
	}
	if kept, err := os.ReadFile(path + ".before-codesage"); err != nil || string(kept) != before {
		t.Errorf("the file as it was: %q, %v", kept, err)
	}
}

// Who keeps such files elsewhere has a link in their place.
func TestInstallWritesThroughALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "kept.json")
	if err := os.WriteFile(kept, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, path); err != nil {
		t.Skip(err)
	}
	if err := writeEntry(path, mcpHosts[0], serverEntry{Command: "/opt/codesage"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if data, err := os.ReadFile(kept); err != nil || !strings.Contains(string(data), "/opt/codesage") {
		t.Errorf("the file has %s, %v", data, err)
	}
}

func TestInstallLeavesAConfigurationThatItCannotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mcp.json")
	text := "{ // a comment\n \"servers\": {} }\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeEntry(path, mcpHosts[3], serverEntry{Command: "x"})
	if err == nil || !strings.Contains(err.Error(), "is not plain JSON") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != text {
		t.Errorf("the file changed to %q", data)
	}
}
