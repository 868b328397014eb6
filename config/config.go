// Package config reads the program's configuration from the environment. One
// table names every variable with its default, how it is read, and what it is
// for; the same table prints `codesage help config` and the README's section.
package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"time"
)

// Config is the configuration of the server commands. Values are checked;
// nothing in it changes after Load.
type Config struct {
	Host    string
	Port    int
	DataDir string

	DatabaseURL string // empty = SQLite in the data folder
	RedisURL    string // empty = in-process

	SearchEngine     string // auto, algolia or local
	AlgoliaAppID     string
	AlgoliaAdminKey  string
	AlgoliaIndexName string
	AlgoliaHosts     []string

	APIKey         string
	ReadKey        string
	AllowedHosts   []string
	CORSOrigins    []string
	TrustedProxies []netip.Prefix

	RateLimiting     bool
	RateLimitAI      int // requests in 60 s
	RateLimitDefault int

	GitHubToken  string
	GitHubAPIURL string
	PrivateHosts []string
	GitProxy     string

	LocalRoots    []string
	LocalRootsSet bool

	IndexMaxFiles     int
	IndexMaxBytes     int64
	IndexMaxFileBytes int64

	PreflightTimeout time.Duration
	CloneTimeout     time.Duration
	CloneMaxBytes    int64

	WorkerConcurrency int
	ParseProcesses    int

	RefreshInterval time.Duration
	WebhookSecret   string

	ServerName    string
	ServerVersion string

	FolderWatch    bool
	FolderWatchSet bool // whether FolderWatch was chosen; else it is true with serve

	OTLPEndpoint string

	LogLevel  slog.Level
	LogFormat string // auto, text or json
}

// Loopback reports whether the server can be reached from this machine only.
func (c Config) Loopback() bool {
	if c.Host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(c.Host)
	return err == nil && addr.IsLoopback()
}

// Algolia reports whether the entity engine is Algolia's.
func (c Config) Algolia() bool {
	configured := c.AlgoliaAppID != "" && c.AlgoliaAdminKey != ""
	return c.SearchEngine == "algolia" || c.SearchEngine == "auto" && configured
}

// Faults is every fault of a configuration, so that all can be mended at once.
type Faults []string

// Error lists the faults, one a line.
func (f Faults) Error() string {
	return "the configuration has " + plural(len(f), "fault") + ":\n  " + strings.Join(f, "\n  ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Load reads the configuration from an environment. All faults come back at
// once, as Faults.
func Load(getenv func(string) string) (Config, error) {
	c := Config{}
	var faults Faults
	for _, v := range Variables {
		text := strings.TrimSpace(getenv(v.Name))
		if text == "" {
			text = v.Default
		}
		if err := v.set(&c, text); err != nil {
			faults = append(faults, fmt.Sprintf("%s=%s: %v", v.Name, v.shown(text), err))
		}
	}
	c.DataDir = DataDir(getenv)
	if c.WorkerConcurrency == 0 {
		c.WorkerConcurrency = runtime.GOMAXPROCS(0)
	}
	if c.ParseProcesses == 0 {
		c.ParseProcesses = runtime.GOMAXPROCS(0)
	}
	c.LocalRootsSet = len(c.LocalRoots) > 0
	faults = append(faults, c.check()...)
	if len(faults) > 0 {
		return c, faults
	}
	return c, nil
}

// check finds the faults that lie between variables.
func (c Config) check() (faults Faults) {
	if c.DataDir == "" {
		faults = append(faults, "CODESAGE_DATA_DIR: not set, and no home folder is known; set it to a folder")
	}
	if c.Host != "" && !c.Loopback() && c.APIKey == "" {
		faults = append(faults, fmt.Sprintf("CODESAGE_HOST=%s: an address that other machines reach needs CODESAGE_API_KEY; set a key, or bind 127.0.0.1", c.Host))
	}
	if c.APIKey != "" && c.APIKey == c.ReadKey {
		faults = append(faults, "CODESAGE_READ_KEY: equals CODESAGE_API_KEY; the key that only reads must be another one")
	}
	if c.ReadKey != "" && c.APIKey == "" {
		faults = append(faults, "CODESAGE_READ_KEY: set without CODESAGE_API_KEY, so that nothing could be changed; set both or neither")
	}
	return faults
}

// Address is where the server listens.
func (c Config) Address() string {
	if strings.Contains(c.Host, ":") {
		return fmt.Sprintf("[%s]:%d", strings.Trim(c.Host, "[]"), c.Port)
	}
	return fmt.Sprintf("%s:%d", c.Host, c.Port)
}

// Redacted lists every variable that differs from its default, with secrets
// hidden, for the start-up log.
func Redacted(getenv func(string) string) []any {
	var attrs []any
	for _, v := range Variables {
		text := strings.TrimSpace(getenv(v.Name))
		if text == "" || text == v.Default {
			continue
		}
		attrs = append(attrs, v.Name, v.shown(text))
	}
	return attrs
}

// shown is a value for messages and the log. A URL with a user is hidden like a
// secret: the user may be a token.
func (v Variable) shown(text string) string {
	if v.Secret || strings.Contains(text, "://") && mayHoldSecret(text) {
		return "(hidden)"
	}
	return text
}

// Doubts are what is allowed and yet hardly meant, for the log at start.
func (c Config) Doubts() (doubts []string) {
	if c.SearchEngine == "auto" && (c.AlgoliaAppID == "") != (c.AlgoliaAdminKey == "") {
		missing := "ALGOLIA_APP_ID"
		if c.AlgoliaAppID != "" {
			missing = "ALGOLIA_ADMIN_API_KEY"
		}
		doubts = append(doubts, missing+" is missing, so that search is local; set it for Algolia, or SEARCH_ENGINE=local")
	}
	if !c.Algolia() && len(c.AlgoliaHosts) > 0 {
		doubts = append(doubts, "ALGOLIA_HOSTS is set and search is local; set ALGOLIA_APP_ID and ALGOLIA_ADMIN_API_KEY for Algolia")
	}
	return doubts
}
