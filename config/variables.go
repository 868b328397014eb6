package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Variable is one row of the configuration table.
type Variable struct {
	Name    string
	Default string // as it would be written; empty = none
	Help    string
	Secret  bool
	set     func(c *Config, text string) error
}

// Variables is the whole configuration of the server commands.
var Variables = []Variable{
	{"CODESAGE_HOST", "127.0.0.1", "address to listen on; any but loopback needs CODESAGE_API_KEY", false, str(func(c *Config) *string { return &c.Host })},
	{"CODESAGE_PORT", "8001", "port to listen on; 0 takes a free one", false, number(65535, func(c *Config) *int { return &c.Port })},
	{"CODESAGE_DATA_DIR", "", "folder of the database and the search index; default $XDG_DATA_HOME/codesage or ~/.local/share/codesage", false, str(func(c *Config) *string { return &c.DataDir })},
	{"DATABASE_URL", "", "postgres://… for a team server; empty = SQLite in the data folder", true, address(func(c *Config) *string { return &c.DatabaseURL }, "postgres", "postgresql")},
	{"REDIS_URL", "", "redis:// or rediss://… for a team server; empty = in-process", true, address(func(c *Config) *string { return &c.RedisURL }, "redis", "rediss")},
	{"SEARCH_ENGINE", "auto", "auto, algolia or local; auto = Algolia when both its keys are set", false, oneOf(func(c *Config) *string { return &c.SearchEngine }, "auto", "algolia", "local")},
	{"ALGOLIA_APP_ID", "", "Algolia application", false, str(func(c *Config) *string { return &c.AlgoliaAppID })},
	{"ALGOLIA_ADMIN_API_KEY", "", "Algolia key that may write", true, str(func(c *Config) *string { return &c.AlgoliaAdminKey })},
	{"ALGOLIA_INDEX_NAME", "codesage_code_entities", "Algolia index", false, str(func(c *Config) *string { return &c.AlgoliaIndexName })},
	{"ALGOLIA_HOSTS", "", "other hosts than Algolia's own, comma-separated; for proxies", false, list(func(c *Config) *[]string { return &c.AlgoliaHosts })},
	{"CODESAGE_API_KEY", "", "key that every request must carry; empty = local clients only", true, str(func(c *Config) *string { return &c.APIKey })},
	{"CODESAGE_READ_KEY", "", "second key, which reads everything and changes nothing", true, str(func(c *Config) *string { return &c.ReadKey })},
	{"ALLOWED_HOSTS", "", "host names by which the server may be asked, besides loopback; comma-separated", false, list(func(c *Config) *[]string { return &c.AllowedHosts })},
	{"CORS_ORIGINS", "", "origins of other web pages that may ask; comma-separated", false, list(func(c *Config) *[]string { return &c.CORSOrigins })},
	{"TRUSTED_PROXIES", "", "addresses or networks of proxies whose X-Forwarded-For counts; comma-separated", false, networks},
	{"ENABLE_RATE_LIMITING", "true", "whether clients are limited", false, boolean(func(c *Config) *bool { return &c.RateLimiting })},
	{"RATE_LIMIT_AI", "30/minute", "tool calls and resource reads a minute for each client address", false, rate(func(c *Config) *int { return &c.RateLimitAI })},
	{"RATE_LIMIT_DEFAULT", "100/minute", "other requests a minute for each client address", false, rate(func(c *Config) *int { return &c.RateLimitDefault })},
	{"GITHUB_TOKEN", "", "token for github.com: private repositories and a higher rate limit", true, str(func(c *Config) *string { return &c.GitHubToken })},
	{"GITHUB_API_URL", "https://api.github.com", "GitHub's REST API", false, address(func(c *Config) *string { return &c.GitHubAPIURL }, "https", "http")},
	{"CODESAGE_PRIVATE_HOSTS", "", "git host names that may have private addresses; comma-separated", false, hostNames(func(c *Config) *[]string { return &c.PrivateHosts })},
	{"CODESAGE_GIT_PROXY", "", "proxy for git hosts; those of the environment are not used", true, address(func(c *Config) *string { return &c.GitProxy }, "http", "https")},
	{"CODESAGE_LOCAL_ROOTS", "", "folders below which local folders may be indexed, separated by " + string(os.PathListSeparator) + "; default: any when bound to loopback, else none", false, paths},
	{"INDEX_MAX_FILES", "1000", "files of a git repository; 0 = no limit", false, number(math.MaxInt32, func(c *Config) *int { return &c.IndexMaxFiles })},
	{"INDEX_MAX_BYTES", "100MB", "bytes of a git repository; 0 = no limit", false, size(func(c *Config) *int64 { return &c.IndexMaxBytes })},
	{"INDEX_MAX_FILE_BYTES", "1MB", "a file of a git repository of that many bytes or more is left out; 0 = no limit", false, size(func(c *Config) *int64 { return &c.IndexMaxFileBytes })},
	{"PREFLIGHT_TIMEOUT", "10s", "time for the check of a git URL", false, duration(time.Second, func(c *Config) *time.Duration { return &c.PreflightTimeout })},
	{"CLONE_TIMEOUT", "120s", "time for a clone", false, duration(time.Second, func(c *Config) *time.Duration { return &c.CloneTimeout })},
	{"CLONE_MAX_BYTES", "2GB", "bytes of a clone, received or unpacked", false, size(func(c *Config) *int64 { return &c.CloneMaxBytes })},
	{"WORKER_CONCURRENCY", "0", "runs at the same time; 0 = one for each core", false, number(256, func(c *Config) *int { return &c.WorkerConcurrency })},
	{"PARSE_PROCESSES", "0", "parse processes; 0 = one for each core", false, number(256, func(c *Config) *int { return &c.ParseProcesses })},
	{"REFRESH_INTERVAL", "0", "how often each git repository's head is checked; 0 = never", false, duration(0, func(c *Config) *time.Duration { return &c.RefreshInterval })},
	{"WEBHOOK_SECRET", "", "secret of the webhooks; empty = off", true, str(func(c *Config) *string { return &c.WebhookSecret })},
	{"MCP_SERVER_NAME", "codesage", "name that MCP clients see", false, str(func(c *Config) *string { return &c.ServerName })},
	{"MCP_SERVER_VERSION", "1.0.0", "version that MCP clients see", false, str(func(c *Config) *string { return &c.ServerVersion })},
	{"FOLDER_WATCH", "", "whether changed folders refresh by themselves; default: true with `serve`", false, optionalBool},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "", "where traces go; empty = nowhere", false, str(func(c *Config) *string { return &c.OTLPEndpoint })},
	{"LOG_LEVEL", "info", "debug, info, warn or error", false, level},
	{"LOG_FORMAT", "auto", "text, json, or auto: text on a terminal", false, oneOf(func(c *Config) *string { return &c.LogFormat }, "auto", "text", "json")},
}

// BridgeVariables are those of `codesage bridge` and of the commands that ask a
// server. They are listed for people; the commands read them.
var BridgeVariables = []Variable{
	{Name: "MCP_SERVER_URL", Default: "http://127.0.0.1:8001", Help: "the server, without /api/v1"},
	{Name: "CODESAGE_API_KEY", Help: "its key; for a loopback server the file api_key in the data folder serves when this is empty", Secret: true},
	{Name: "CODESAGE_BASIC_AUTH_USER", Help: "user of a proxy in front of the server"},
	{Name: "CODESAGE_BASIC_AUTH_PASSWORD", Help: "password of that user; on macOS the Keychain entry of that user when empty", Secret: true},
	{Name: "CODESAGE_ALLOW_INSECURE_AUTH", Help: "1 = send keys over plain http to another host"},
	{Name: "CODESAGE_MCP_LOG_LEVEL", Default: "INFO", Help: "level of the bridge's log on stderr"},
	{Name: "CODESAGE_TOOLSET", Default: "repositories", Help: "repositories, sessions or all"},
	{Name: "MCP_SERVER_NAME", Default: "codesage", Help: "name that MCP clients see; set it as the server's is"},
	{Name: "MCP_SERVER_VERSION", Default: "1.0.0", Help: "version that MCP clients see; set it as the server's is"},
}

// Identity returns the name and the version that MCP clients of the bridge see.
func Identity(getenv func(string) string) (name, version string) {
	value := func(wanted string) string {
		text := strings.TrimSpace(getenv(wanted))
		for _, v := range BridgeVariables {
			if v.Name == wanted && text == "" {
				return v.Default
			}
		}
		return text
	}
	return value("MCP_SERVER_NAME"), value("MCP_SERVER_VERSION")
}

// Print writes the table for people.
func Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, section := range []struct {
		title string
		rows  []Variable
	}{{"Server", Variables}, {"Bridge and command line", BridgeVariables}} {
		fmt.Fprintf(t, "%s\n", section.title)
		for _, v := range section.rows {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", v.Name, v.Default, v.Help)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// DataDir is the data folder that an environment names, or the default one;
// empty when neither is known.
func DataDir(getenv func(string) string) string {
	if dir := strings.TrimSpace(getenv("CODESAGE_DATA_DIR")); dir != "" {
		return dir
	}
	return defaultDataDir(getenv)
}

func defaultDataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "codesage")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "codesage")
	}
	return ""
}

func str(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error { *field(c) = text; return nil }
}

func number(most int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("must be a whole number from 0 to %d", most)
		}
		*field(c) = n
		return nil
	}
}

func boolean(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, text string) error {
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return errors.New("must be true or false")
		}
		*field(c) = b
		return nil
	}
}

func oneOf(field func(*Config) *string, values ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		for _, v := range values {
			if strings.EqualFold(v, text) {
				*field(c) = v
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", strings.Join(values, ", "))
	}
}

func list(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*field(c) = append(*field(c), item)
			}
		}
		return nil
	}
}

// hostNames is a list of names without scheme, port or wildcard. An address is
// none: a git URL with a private one is refused whatever is allowed.
func hostNames(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		var names []string
		if err := list(func(*Config) *[]string { return &names })(c, text); err != nil {
			return err
		}
		for _, name := range names {
			name = strings.ToLower(name)
			_, err := netip.ParseAddr(strings.Trim(name, "[]"))
			switch {
			case err == nil:
				return fmt.Errorf("%q is an address; name the host, as git URLs do", name)
			case name == "localhost" || strings.HasSuffix(name, ".localhost"):
				return fmt.Errorf("%q is never a git host; use another name of the machine", name)
			case !hostName.MatchString(name) || onlyNumber.MatchString(name):
				return fmt.Errorf("%q is not a host name such as git.example.org, without scheme, port, path or wildcard", name)
			}
			*field(c) = append(*field(c), name)
		}
		return nil
	}
}

var (
	hostName   = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)
	onlyNumber = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`) // as a last label, which resolvers take for an address
)

func address(field func(*Config) *string, schemes ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if text == "" {
			return nil
		}
		u, err := url.Parse(text)
		if err != nil || u.Host == "" && !isSocket(u) {
			return errors.New("must be a URL with a host")
		}
		for _, s := range schemes {
			if u.Scheme == s {
				*field(c) = text
				return nil
			}
		}
		return fmt.Errorf("must begin with %s://", strings.Join(schemes, ":// or "))
	}
}

// isSocket reports whether a URL names a PostgreSQL server by the folder of its
// socket: postgres:///codesage?host=/run/postgresql.
func isSocket(u *url.URL) bool {
	return strings.HasPrefix(u.Scheme, "postgres") && u.Query().Get("host") != ""
}

func networks(c *Config, text string) error {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if addr, err := netip.ParseAddr(item); err == nil {
			c.TrustedProxies = append(c.TrustedProxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(item)
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", item)
		}
		c.TrustedProxies = append(c.TrustedProxies, p.Masked())
	}
	return nil
}

func paths(c *Config, text string) error {
	for _, dir := range filepath.SplitList(text) {
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("%q is not an absolute path", dir)
		}
		c.LocalRoots = append(c.LocalRoots, filepath.Clean(dir))
	}
	return nil
}

func rate(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, text string) error {
		n, err := strconv.Atoi(strings.TrimSuffix(text, "/minute"))
		if err != nil || n < 1 {
			return errors.New("must be a number of requests such as 30/minute")
		}
		*field(c) = n
		return nil
	}
}

func size(field func(*Config) *int64) func(*Config, string) error {
	units := []struct {
		suffix string
		factor int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"", 1}}
	return func(c *Config, text string) error {
		digits := strings.ReplaceAll(strings.ToUpper(text), ",", "")
		for _, u := range units {
			if !strings.HasSuffix(digits, u.suffix) {
				continue
			}
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(digits, u.suffix)), 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64/u.factor {
				return errors.New("must be a number of bytes such as 100MB")
			}
			*field(c) = n * u.factor
			return nil
		}
		return nil
	}
}

func duration(least time.Duration, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < least {
			return errors.New("must be a time such as 90s, 10m or 1h")
		}
		*field(c) = d
		return nil
	}
}

func optionalBool(c *Config, text string) error {
	if text == "" {
		return nil
	}
	c.FolderWatchSet = true
	return boolean(func(c *Config) *bool { return &c.FolderWatch })(c, text)
}

func level(c *Config, text string) error {
	if err := c.LogLevel.UnmarshalText([]byte(text)); err != nil || c.LogLevel < slog.LevelDebug {
		return errors.New("must be debug, info, warn or error")
	}
	return nil
}
