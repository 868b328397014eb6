package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"
	"github.com/tidwall/sjson"

	"codesage/bridge"
)

// mcpHost is a program that starts MCP servers, and where it keeps their list.
type mcpHost struct {
	name  string
	title string
	key   string // of the object that holds the servers
	typed bool   // whether an entry says its transport
	path  func(getenv func(string) string) string
}

var mcpHosts = []mcpHost{
	{"claude-desktop", "Claude Desktop", "mcpServers", false, func(getenv func(string) string) string {
		return filepath.Join(appSupport(getenv), "Claude", "claude_desktop_config.json")
	}},
	{"claude-code", "Claude Code", "mcpServers", true, func(getenv func(string) string) string {
		return filepath.Join(home(getenv), ".claude.json")
	}},
	{"cursor", "Cursor", "mcpServers", false, func(getenv func(string) string) string {
		return filepath.Join(home(getenv), ".cursor", "mcp.json")
	}},
	{"vscode", "VS Code", "servers", true, func(getenv func(string) string) string {
		return filepath.Join(appSupport(getenv), "Code", "User", "mcp.json")
	}},
}

// serverEntry is how a client starts the bridge.
type serverEntry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// bridgeSettings are the variables that an entry takes over from the
// environment of install.
var bridgeSettings = []string{
	"MCP_SERVER_URL", "CODESAGE_API_KEY", "CODESAGE_BASIC_AUTH_USER", "CODESAGE_ALLOW_INSECURE_AUTH",
	"CODESAGE_TOOLSET", "CODESAGE_MCP_LOG_LEVEL", "CODESAGE_DATA_DIR", "MCP_SERVER_NAME", "MCP_SERVER_VERSION",
}

func installCommand(t terminal) *cobra.Command {
	names := make([]string, len(mcpHosts))
	for i, h := range mcpHosts {
		names[i] = h.name
	}
	list := strings.Join(names, "|")
	return &cobra.Command{
		Use:     "install " + list,
		Short:   "Add the bridge to an MCP client's configuration",
		GroupID: "client",
		Args:    arguments(1, "one client: "+strings.Join(names, ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return usageError{fmt.Errorf("unknown client %q; there are %s", args[0], strings.Join(names, ", "))}
			}
			binary, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			return install(cmd.Context(), t, mcpHosts[i], binary)
		},
	}
}

// install writes the entry, after it has been seen to start.
func install(ctx context.Context, t terminal, host mcpHost, binary string) error {
	entry := serverEntry{Command: binary, Args: []string{"bridge"}, Env: map[string]string{}}
	if host.typed {
		entry.Type = "stdio"
	}
	for _, name := range bridgeSettings {
		v := strings.TrimSpace(t.getenv(name))
		if v == "" || name == "MCP_SERVER_URL" && v == bridge.DefaultURL {
			continue
		}
		entry.Env[name] = v
	}
	tools, err := tryEntry(ctx, entry)
	if err != nil {
		return fmt.Errorf("start the entry to check it: %w", err)
	}
	path := host.path(t.getenv)
	if err := writeEntry(path, host, entry); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "%s starts CodeSage now (%d tools), as %s says. Restart %s to see it.\n", host.title, tools, path, host.title)
	return err
}

// tryEntry starts an entry as a client would and returns how many tools it has.
func tryEntry(ctx context.Context, e serverEntry) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	env := []string{"HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH")}
	for name, value := range e.Env {
		env = append(env, name+"="+value)
	}
	c, err := mcpclient.NewStdioMCPClient(e.Command, env, e.Args...)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "codesage-install", Version: versionText()}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return 0, err
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return 0, err
	}
	return len(list.Tools), nil
}

// writeEntry puts an entry into a client's configuration and leaves everything
// else in it as it is. The file as it was is kept beside it.
func writeEntry(path string, host mcpHost, e serverEntry) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the configuration of %s: %w", host.title, err)
	}
	text, err := withEntry(old, host.key, e)
	if err != nil {
		return fmt.Errorf("%s is not plain JSON (%w); add the entry to %q yourself, or mend the file", path, err, host.key)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	if len(old) > 0 {
		if err := os.WriteFile(path+".before-codesage", old, 0o600); err != nil {
			return fmt.Errorf("keep the configuration as it was: %w", err)
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays, and what it leads to changes
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// withEntry returns a configuration with the entry in it.
func withEntry(old []byte, key string, e serverEntry) ([]byte, error) {
	if len(strings.TrimSpace(string(old))) == 0 {
		return json.MarshalIndent(map[string]any{key: map[string]serverEntry{"codesage": e}}, "", "  ")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(old, &object); err != nil {
		return nil, err
	}
	raw, err := json.MarshalIndent(e, "    ", "  ")
	if err != nil {
		return nil, err
	}
	return sjson.SetRawBytes(old, key+".codesage", raw)
}

func home(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// appSupport is where desktop programs keep their configuration.
func appSupport(getenv func(string) string) string {
	switch runtime.GOOS {
	case "windows":
		return getenv("APPDATA")
	case "darwin":
		return filepath.Join(home(getenv), "Library", "Application Support")
	}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home(getenv), ".config")
}
