package config

import (
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	for _, v := range slices.Concat(Variables, BridgeVariables, ComposeVariables) {
		if !strings.Contains(out.String(), v.Name) || v.Help == "" {
			t.Errorf("help lacks %s", v.Name)
		}
	}
}

func TestTheServerReadsNoVariableOfTheComposeFile(t *testing.T) {
	t.Parallel()
	for _, v := range ComposeVariables {
		bad := env(v.Name, "a b\n://@%zz")
		want, err := Load(env())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Load(bad)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", v.Name, err, diff)
		}
		if attrs := Redacted(bad); len(attrs) > 0 {
			t.Errorf("the log at start shows %v", attrs)
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

// Whatever is found only later, by another part or by nobody, is found here.
func TestValuesThatCantWorkAreFaults(t *testing.T) {
	t.Parallel()
	notPEM := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(notPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string][]string{
		"CODESAGE_HOST":               {"http://x", "127.0.0.1:8001", "a b", "x/y"},
		"CODESAGE_PORT":               {"-1", "65536", "http"},
		"DATABASE_URL":                {"h:5432/x", "mysql://h/x", "postgres://", "postgres://h:99999/x", "postgres://h:port/x"},
		"REDIS_URL":                   {"h:6379", "redis://h:99999", "redis://h:0", "redis://h:1/x", "redis://h:1/0/1"},
		"ALGOLIA_APP_ID":              {"a/b", "a b", "https://x"},
		"ALGOLIA_ADMIN_API_KEY":       {"a b", "a\tb", "é"},
		"ALGOLIA_INDEX_NAME":          {"a/b", "a b", "a?"},
		"ALGOLIA_HOSTS":               {"http://x", "x/y", "x:port", "x:99999", "x:0", "x:", "a b", "ok.example,http://x", "*.x"},
		"CODESAGE_API_KEY":            {"a b", "a\tb", "ключ"},
		"GITHUB_TOKEN":                {"a b"},
		"ALLOWED_HOSTS":               {"http://x/", "*.x", "x:port", "x/y"},
		"CORS_ORIGINS":                {"x", "*", "https://x/path", "https://", "null"},
		"TRUSTED_PROXIES":             {"proxy", "10.0.0.0/99"},
		"RATE_LIMIT_AI":               {"-1", "0", "30/hour", "many"},
		"GITHUB_API_URL":              {"https://h:99999", "https://u:p@h", "https://h/?x", "http://h.example", "ftp://h"},
		"CODESAGE_GIT_PROXY":          {"http://p:99999", "p:3128"},
		"INDEX_MAX_FILES":             {"-1", "1e3", "99999999999"},
		"INDEX_MAX_BYTES":             {"-1", "1.5MB", "99999999999GB"},
		"CLONE_MAX_BYTES":             {"0", "-1"},
		"PREFLIGHT_TIMEOUT":           {"0", "-1s", "10", "2h", "1ns"},
		"CLONE_TIMEOUT":               {"0", "-1s", "99999h"},
		"REFRESH_INTERVAL":            {"-1h", "1ns", "often", "99999h"},
		"WORKER_CONCURRENCY":          {"-1", "257", "1.5"},
		"MCP_SERVER_NAME":             {"a\nb", strings.Repeat("x", 201)},
		"FOLDER_WATCH":                {"maybe"},
		"OTEL_EXPORTER_OTLP_ENDPOINT": {"x:4318", "grpc://x", "http://x:99999"},
		"OTEL_EXPORTER_OTLP_HEADERS":  {"token", "a=b,", "=b", "a b=c", "a=%zz"},
		"OTEL_TRACES_SAMPLER":         {"sometimes"},
		"OTEL_TRACES_SAMPLER_ARG":     {"2", "-1", "NaN", "half"},
		"SSL_CERT_FILE":               {"/nonexistent", "/", notPEM},
		"LOG_LEVEL":                   {"warn+2", "loud"},
		"LOG_FORMAT":                  {"xml"},
	} {
		for _, value := range values {
			_, err := Load(env(name, value))
			var faults Faults
			if !errors.As(err, &faults) || len(faults) != 1 || !strings.HasPrefix(faults[0], name+"=") {
				t.Errorf("%s=%s: got %v", name, value, err)
			}
		}
	}
}

func TestValuesThatWorkAreTaken(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"CODESAGE_HOST":               {"127.0.0.1", "[::1]", "localhost"},
		"DATABASE_URL":                {"postgres://u:p%23w@h/db?sslmode=disable", "postgres:///db?host=/run/postgresql&user=a@b", "postgresql://[::1]:5432/x"},
		"REDIS_URL":                   {"rediss://:pw@h:6380/15", "redis://h", "redis://h/"},
		"ALGOLIA_HOSTS":               {"proxy.example, 127.0.0.1:8443,[::1]:8443", "::1"},
		"CODESAGE_API_KEY":            {"!#$%&'*+-/=?@~"},
		"ALLOWED_HOSTS":               {"code.example.org, CODE:8001,10.0.0.5"},
		"CORS_ORIGINS":                {"https://app.example/, http://localhost:3000,vscode-webview://abc"},
		"GITHUB_API_URL":              {"https://ghe.example/api/v3/", "http://127.0.0.1:1"},
		"REFRESH_INTERVAL":            {"0", "0s", "1s", "720h"},
		"OTEL_EXPORTER_OTLP_ENDPOINT": {"http://collector:4318", "https://u:p@collector/base"},
		"OTEL_EXPORTER_OTLP_HEADERS":  {"api-key=a%20b, x=", "authorization=Basic YWJj=="},
		"OTEL_TRACES_SAMPLER":         {"TraceIdRatio"},
		"OTEL_TRACES_SAMPLER_ARG":     {"0.25"},
		"LOG_LEVEL":                   {"DEBUG", "Warn"},
	} {
		for _, value := range values {
			if _, err := Load(env(name, value)); err != nil {
				t.Errorf("%s=%s: got %v", name, value, err)
			}
		}
	}
}

func TestAPasswordThatIsNotEncodedIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	for name, scheme := range addressVariables {
		for _, password := range []string{"hunter#2", "hunter/2", "hunter%2", "hunter?2", "1#hunter", "1/hunter", "1?hunter",
			"hunter@2", "1@hunter", "@hunter", "hunter@", "1@hunter/2", "1@2/hunter", "1/hunter@2", "1?host=/run&x=@hunter"} {
			_, err := Load(env(name, scheme+"://bob:"+password+"@h/0"))
			if err == nil || !strings.Contains(err.Error(), "percent-encode") || strings.Contains(err.Error(), "hunter") {
				t.Errorf("%s with %s: got %v", name, password, err)
			}
		}
	}
}

// addressVariables are those whose URL may hold a password, with a scheme.
var addressVariables = map[string]string{"DATABASE_URL": "postgres", "REDIS_URL": "redis", "CODESAGE_GIT_PROXY": "http", "OTEL_EXPORTER_OTLP_ENDPOINT": "http"}

// A password is taken as a whole or refused, and no part of it is shown.
func FuzzNoPartOfAPasswordIsShown(f *testing.F) {
	for _, seed := range []string{"QQQQ", "QXZV@QZVX", "@QXZV", "QXZV@", "QXZV#QZVX", "1/QXZV@QZVX/V", "1?host=/QXZV&x=@QZVX", "%QXZV", "[QXZV]", "QXZV QZVX", ":QXZV:", "\\QXZV", ",QXZV@QZVX,Q"} {
		f.Add(seed)
	}
	const alphabet = "QXZV17@@@:/?#%&=[],\\ +;"
	f.Fuzz(func(t *testing.T, seed string) {
		password := []byte(seed) // of signs that no message has by chance
		for i, b := range password {
			if !strings.ContainsRune(alphabet, rune(b)) {
				password[i] = alphabet[int(b)%len(alphabet)]
			}
		}
		for name, scheme := range addressVariables {
			text := scheme + "://bob:" + string(password) + "@h.example:1/0"
			_, err := Load(env(name, text))
			if err == nil {
				if u, err := url.Parse(text); err != nil || u.Host != "h.example:1" || strings.Count(text, "@") != 1 {
					t.Errorf("%s=%s is taken", name, text)
				}
				continue
			}
			for i := 4; i <= len(password); i++ {
				if part := string(password[i-4 : i]); strings.ContainsAny(part, "QXZV") && strings.Contains(err.Error(), part) {
					t.Errorf("%s=%s: %q is shown: %v", name, text, part, err)
				}
			}
		}
	})
}

// People paste URLs with a password where a host belongs.
func TestNoFaultShowsThePasswordOfAURL(t *testing.T) {
	t.Parallel()
	for _, v := range Variables {
		_, err := Load(env(v.Name, "https://bob:hunter2@h:99999/x?y#z"))
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", v.Name, err)
		}
		for _, a := range Redacted(env(v.Name, "https://hunter2@h/x")) {
			if strings.Contains(a.(string), "hunter2") {
				t.Errorf("%s in the log at start: %s", v.Name, a)
			}
		}
	}
}

func TestWhatIsHardlyMeantIsADoubt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env  []string
		want string
	}{
		{nil, ""},
		{[]string{"ALGOLIA_APP_ID", "x"}, "ALGOLIA_ADMIN_API_KEY is missing"},
		{[]string{"ALGOLIA_ADMIN_API_KEY", "x"}, "ALGOLIA_APP_ID is missing"},
		{[]string{"ALGOLIA_APP_ID", "x", "ALGOLIA_ADMIN_API_KEY", "y", "ALGOLIA_HOSTS", "h"}, ""},
		{[]string{"ALGOLIA_APP_ID", "x", "SEARCH_ENGINE", "local"}, ""},
		{[]string{"ALGOLIA_HOSTS", "h"}, "ALGOLIA_HOSTS is set and search is local"},
	} {
		c, err := Load(env(tc.env...))
		got := strings.Join(c.Doubts(), "; ")
		if err != nil || !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%v: %q, %v", tc.env, got, err)
		}
	}
}
