package config

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
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
	{"CODESAGE_HOST", "127.0.0.1", "address to listen on; any but loopback needs CODESAGE_API_KEY", false, listenHost},
	{"CODESAGE_PORT", "8001", "port to listen on; 0 takes a free one", false, number(65535, func(c *Config) *int { return &c.Port })},
	{"CODESAGE_DATA_DIR", "", "folder of the database and the search index; default $XDG_DATA_HOME/codesage or ~/.local/share/codesage", false, str(func(c *Config) *string { return &c.DataDir })},
	{"DATABASE_URL", "", "postgres://… for a team server; empty = SQLite in the data folder", true, address(func(c *Config) *string { return &c.DatabaseURL }, "postgres", "postgresql")},
	{"REDIS_URL", "", "redis:// or rediss://… for a team server; empty = in-process", true, redisAddress},
	{"SEARCH_ENGINE", "auto", "auto, algolia or local; auto = Algolia when both its keys are set", false, oneOf(func(c *Config) *string { return &c.SearchEngine }, "auto", "algolia", "local")},
	{"ALGOLIA_APP_ID", "", "Algolia application", false, name(func(c *Config) *string { return &c.AlgoliaAppID })},
	{"ALGOLIA_ADMIN_API_KEY", "", "Algolia key that may write", true, key(func(c *Config) *string { return &c.AlgoliaAdminKey })},
	{"ALGOLIA_INDEX_NAME", "codesage_code_entities", "Algolia index", false, name(func(c *Config) *string { return &c.AlgoliaIndexName })},
	{"ALGOLIA_HOSTS", "", "other hosts than Algolia's own, asked by https; names, or name:port, comma-separated", false, hosts(func(c *Config) *[]string { return &c.AlgoliaHosts })},
	{"CODESAGE_API_KEY", "", "key that every request must carry; empty = local clients only", true, key(func(c *Config) *string { return &c.APIKey })},
	{"CODESAGE_READ_KEY", "", "second key, which reads everything and changes nothing", true, key(func(c *Config) *string { return &c.ReadKey })},
	{"ALLOWED_HOSTS", "", "host names by which the server may be asked, besides loopback; comma-separated", false, hosts(func(c *Config) *[]string { return &c.AllowedHosts })},
	{"CORS_ORIGINS", "", "origins of other web pages that may ask, such as https://app.example; comma-separated", false, origins},
	{"TRUSTED_PROXIES", "", "addresses or networks of proxies whose X-Forwarded-For counts; comma-separated", false, networks},
	{"ENABLE_RATE_LIMITING", "true", "whether clients are limited", false, boolean(func(c *Config) *bool { return &c.RateLimiting })},
	{"RATE_LIMIT_AI", "30/minute", "tool calls and resource reads a minute for each client address", false, rate(func(c *Config) *int { return &c.RateLimitAI })},
	{"RATE_LIMIT_DEFAULT", "100/minute", "other requests a minute for each client address", false, rate(func(c *Config) *int { return &c.RateLimitDefault })},
	{"GITHUB_TOKEN", "", "token for github.com: private repositories and a higher rate limit", true, key(func(c *Config) *string { return &c.GitHubToken })},
	{"GITHUB_API_URL", "https://api.github.com", "GitHub's REST API", false, plainAddress(func(c *Config) *string { return &c.GitHubAPIURL }, "https", "http")},
	{"CODESAGE_PRIVATE_HOSTS", "", "git host names that may have private addresses; comma-separated", false, hostNames(func(c *Config) *[]string { return &c.PrivateHosts })},
	{"CODESAGE_GIT_PROXY", "", "proxy for git hosts; those of the environment are not used", true, address(func(c *Config) *string { return &c.GitProxy }, "http", "https")},
	{"CODESAGE_LOCAL_ROOTS", "", "folders below which local folders may be indexed, separated by " + string(os.PathListSeparator) + "; default: any when bound to loopback, else none", false, paths},
	{"INDEX_MAX_FILES", "1000", "files of a git repository; 0 = no limit", false, number(math.MaxInt32, func(c *Config) *int { return &c.IndexMaxFiles })},
	{"INDEX_MAX_BYTES", "100MB", "bytes of a git repository; 0 = no limit", false, size(func(c *Config) *int64 { return &c.IndexMaxBytes })},
	{"INDEX_MAX_FILE_BYTES", "1MB", "a file of a git repository of that many bytes or more is left out; 0 = no limit", false, size(func(c *Config) *int64 { return &c.IndexMaxFileBytes })},
	{"PREFLIGHT_TIMEOUT", "10s", "time for the check of a git URL", false, duration(time.Second, time.Hour, func(c *Config) *time.Duration { return &c.PreflightTimeout })},
	{"CLONE_TIMEOUT", "120s", "time for a clone", false, duration(time.Second, 24*time.Hour, func(c *Config) *time.Duration { return &c.CloneTimeout })},
	{"CLONE_MAX_BYTES", "2GB", "bytes of a clone, received or unpacked", false, someSize(func(c *Config) *int64 { return &c.CloneMaxBytes })},
	{"WORKER_CONCURRENCY", "0", "runs at the same time; 0 = one for each core", false, number(256, func(c *Config) *int { return &c.WorkerConcurrency })},
	{"PARSE_PROCESSES", "0", "parse processes; 0 = one for each core", false, number(256, func(c *Config) *int { return &c.ParseProcesses })},
	{"REFRESH_INTERVAL", "0", "how often each git repository's head is checked; 0 = never", false, interval(func(c *Config) *time.Duration { return &c.RefreshInterval })},
	{"WEBHOOK_SECRET", "", "secret of the webhooks; empty = off", true, str(func(c *Config) *string { return &c.WebhookSecret })},
	{"MCP_SERVER_NAME", "codesage", "name that MCP clients see", false, printable(func(c *Config) *string { return &c.ServerName })},
	{"MCP_SERVER_VERSION", "1.0.0", "version that MCP clients see", false, printable(func(c *Config) *string { return &c.ServerVersion })},
	{"FOLDER_WATCH", "", "whether changed folders refresh by themselves; default: true with `serve`", false, optionalBool},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "", "where traces go; empty = nowhere", false, address(func(c *Config) *string { return &c.OTLPEndpoint }, "http", "https")},
	{"OTEL_EXPORTER_OTLP_HEADERS", "", "headers that traces are sent with, such as api-key=…; comma-separated", true, headers},
	{"OTEL_SERVICE_NAME", "", "the service's name in traces; default codesage", false, unchecked},
	{"OTEL_RESOURCE_ATTRIBUTES", "", "what else traces say of this process: name=value, comma-separated", false, unchecked},
	{"OTEL_TRACES_SAMPLER", "", "which requests are traced: always_on, traceidratio or another of OpenTelemetry's; default parentbased_always_on", false, sampler},
	{"OTEL_TRACES_SAMPLER_ARG", "", "share of requests that a ratio sampler traces, from 0 to 1", false, ratio},
	{"SSL_CERT_FILE", "", "PEM file with the certificates of CAs of your own", false, certificates},
	{"LOG_LEVEL", "info", "debug, info, warn or error", false, level},
	{"LOG_FORMAT", "auto", "text, json, or auto: text on a terminal", false, oneOf(func(c *Config) *string { return &c.LogFormat }, "auto", "text", "json")},
}

// OfLibraries are the variables that libraries read, from the environment of the
// process. An empty one counts as not set.
var OfLibraries = []string{
	"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "SSL_CERT_FILE",
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

// ComposeVariables are those that docker-compose.yml reads beside the server's, from
// .env or the shell. They are listed for people; the program reads none of them.
var ComposeVariables = []Variable{
	{Name: "POSTGRES_PASSWORD", Help: "PostgreSQL's password; it becomes part of DATABASE_URL, so letters and digits only", Secret: true},
	{Name: "REDIS_PASSWORD", Help: "Redis's password; it becomes part of REDIS_URL, so letters and digits only", Secret: true},
	{Name: "CODESAGE_LISTEN", Default: "127.0.0.1:8001", Help: "address and port of this machine at which the API is published"},
	{Name: "WORKERS", Default: "1", Help: "worker containers"},
	{Name: "TRACE_ATTRIBUTES", Help: "becomes OTEL_RESOURCE_ATTRIBUTES, a name that the docker command uses for itself"},
	{Name: "VERSION", Default: "container", Help: "version that `codesage version` tells; it is built into the image"},
}

// section is a part of the whole table, under a heading of its own.
type section struct {
	title     string
	variables []Variable
}

// sections is the whole table, in the order in which it is shown.
func sections() []section {
	return []section{
		{"Server", Variables},
		{"Bridge and command line", BridgeVariables},
		{"Only docker-compose.yml", ComposeVariables},
	}
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
	for _, s := range sections() {
		fmt.Fprintf(t, "%s\n", s.title)
		for _, v := range s.variables {
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
