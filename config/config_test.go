package config

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func env(pairs ...string) func(string) string {
	values := map[string]string{"HOME": "/home/ada"}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return values[name] }
}

func TestDefaults(t *testing.T) {
	c, err := Load(env())
	if err != nil {
		t.Fatal(err)
	}
	if c.Address() != "127.0.0.1:8001" || c.DataDir != "/home/ada/.local/share/codesage" {
		t.Errorf("address %s, data %s", c.Address(), c.DataDir)
	}
	if c.IndexMaxBytes != 100_000_000 || c.CloneMaxBytes != 2_000_000_000 || c.IndexMaxFileBytes != 1_000_000 {
		t.Errorf("limits %d, %d, %d", c.IndexMaxBytes, c.CloneMaxBytes, c.IndexMaxFileBytes)
	}
	if c.RateLimitAI != 30 || c.RateLimitDefault != 100 || c.PreflightTimeout != 10*time.Second || c.LogLevel != slog.LevelInfo {
		t.Errorf("got %+v", c)
	}
	if c.Algolia() || c.DatabaseURL != "" || c.RedisURL != "" || !c.Loopback() || c.WorkerConcurrency < 1 || c.ParseProcesses < 1 {
		t.Errorf("got %+v", c)
	}
}

func TestFolderWatchIsFreeOrChosen(t *testing.T) {
	for text, want := range map[string][2]bool{"": {false, false}, "true": {true, true}, "false": {false, true}} {
		c, err := Load(env("FOLDER_WATCH", text))
		if got := [2]bool{c.FolderWatch, c.FolderWatchSet}; err != nil || got != want {
			t.Errorf("FOLDER_WATCH=%s: %v %v, want %v", text, got, err, want)
		}
	}
}

func TestEveryFaultIsToldAtOnceAndNoSecretIsShown(t *testing.T) {
	_, err := Load(env(
		"CODESAGE_PORT", "eighty",
		"CODESAGE_HOST", "0.0.0.0",
		"DATABASE_URL", "mysql://u:hunter2@db/x",
		"RATE_LIMIT_AI", "fast",
		"CODESAGE_LOCAL_ROOTS", "relative",
		"TRUSTED_PROXIES", "10.0.0.0/99",
		"LOG_LEVEL", "loud",
		"INDEX_MAX_BYTES", "-1",
		"CLONE_TIMEOUT", "soon",
	))
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 9 {
		t.Fatalf("got %v", err)
	}
	for _, name := range []string{"CODESAGE_PORT", "CODESAGE_HOST", "DATABASE_URL", "RATE_LIMIT_AI", "CODESAGE_LOCAL_ROOTS", "TRUSTED_PROXIES", "LOG_LEVEL", "INDEX_MAX_BYTES", "CLONE_TIMEOUT"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("no word of %s in %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("a secret is shown")
	}
}

func TestValues(t *testing.T) {
	c, err := Load(env("CODESAGE_HOST", "::1", "CODESAGE_PORT", "0", "INDEX_MAX_BYTES", "0", "INDEX_MAX_FILE_BYTES", "2,500KB",
		"ALLOWED_HOSTS", " a.example , b.example,", "TRUSTED_PROXIES", "10.0.0.1, 192.168.0.0/16", "RATE_LIMIT_AI", "600",
		"DATABASE_URL", "postgres:///codesage?host=/run/postgresql",
		"ALGOLIA_APP_ID", "x", "ALGOLIA_ADMIN_API_KEY", "y", "CODESAGE_LOCAL_ROOTS", "/srv:/home/", "XDG_DATA_HOME", "/data"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Address() != "[::1]:0" || !c.Loopback() || c.IndexMaxFileBytes != 2_500_000 || c.IndexMaxBytes != 0 {
		t.Errorf("got %+v", c)
	}
	if len(c.AllowedHosts) != 2 || len(c.TrustedProxies) != 2 || c.RateLimitAI != 600 || !c.Algolia() || len(c.LocalRoots) != 2 || c.LocalRoots[1] != "/home" || c.DataDir != "/data/codesage" {
		t.Errorf("got %+v", c)
	}
}

func TestStartUpLogHidesSecrets(t *testing.T) {
	attrs := Redacted(env("CODESAGE_API_KEY", "s3cret", "REDIS_URL", "redis://:pw@r:1", "CODESAGE_PORT", "9000"))
	text := ""
	for _, a := range attrs {
		text += a.(string) + " "
	}
	if strings.Contains(text, "s3cret") || strings.Contains(text, "pw") || !strings.Contains(text, "9000") {
		t.Errorf("got %s", text)
	}
}

func TestHelpNamesEveryVariable(t *testing.T) {
	var out strings.Builder
	if err := Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(append([]Variable{}, Variables...), BridgeVariables...) {
		if !strings.Contains(out.String(), v.Name) || v.Help == "" {
			t.Errorf("help lacks %s", v.Name)
		}
	}
}

func TestBridgeAndServerShowClientsTheSameName(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{{}, {"MCP_SERVER_NAME": " house ", "MCP_SERVER_VERSION": "2.0"}} {
		getenv := func(name string) string {
			if name == "HOME" {
				return "/home/x"
			}
			return env[name]
		}
		c, err := Load(getenv)
		if err != nil {
			t.Fatal(err)
		}
		if name, version := Identity(getenv); name != c.ServerName || version != c.ServerVersion || name == "" || version == "" {
			t.Errorf("%v: the bridge is %s %s, the server %s %s", env, name, version, c.ServerName, c.ServerVersion)
		}
	}
}

func TestPrivateHostsAreNames(t *testing.T) {
	for _, text := range []string{
		"10.0.0.5", "[fd00::1]", "fd00::1", "https://git.corp", "git.corp:8443", "*.corp", "git.corp/x", "localhost", "a.localhost", "127.1", "git.corp.", "a b", "git.corp,10.0.0.5", "-a",
	} {
		if _, err := Load(env("CODESAGE_PRIVATE_HOSTS", text)); err == nil || !strings.Contains(err.Error(), "CODESAGE_PRIVATE_HOSTS="+text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c, err := Load(env("CODESAGE_PRIVATE_HOSTS", "Git.Corp, gitlab ,git_lab.intra-net.example,"))
	if err != nil || strings.Join(c.PrivateHosts, " ") != "git.corp gitlab git_lab.intra-net.example" {
		t.Errorf("%q, %v", c.PrivateHosts, err)
	}
}

func TestTheGitProxySpeaksHTTP(t *testing.T) {
	if _, err := Load(env("CODESAGE_GIT_PROXY", "socks5://proxy:1")); err == nil || !strings.Contains(err.Error(), "must begin with http:// or https://") {
		t.Errorf("got %v", err)
	}
}
