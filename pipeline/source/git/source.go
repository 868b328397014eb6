// Package git gets the files of a repository on a git host.
//
// It takes a URL as people paste it, says what is wrong with it, asks the host
// whether the repository and the branch are there, and fetches one commit of
// it, by go-git's smart-HTTP client. Nothing is checked out and no git program
// is run: the objects of the commit go into one temporary file and are read
// from there.
//
// A host is not trusted. Its name is resolved once for each operation, every
// address must be public, and the checked address is the one that is dialled;
// it can't redirect to another host; bytes, objects, time and memory are
// bounded whatever it sends. No proxy, credential, hook or configuration of the
// machine is used. The token for github.com is sent to github.com and its API
// only, in the Authorization header, and is in no error and no log line.
package git

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codesage"
	"codesage/pipeline/source"
)

var _ source.Source = (*Source)(nil)

// Defaults of Config.
const (
	DefaultGitHubAPIURL     = "https://api.github.com"
	DefaultPreflightTimeout = 10 * time.Second
	DefaultCloneTimeout     = 120 * time.Second
	DefaultCloneMaxBytes    = 2_000_000_000
	DefaultIdleTimeout      = 60 * time.Second
)

// Limits of a repository that no setting changes.
const (
	MaxObjectBytes = 64 << 20 // of one object, unpacked
	MaxObjects     = 500_000  // in one pack
	MaxEntries     = 400_000  // files, folders, links in one tree
	MaxPathBytes   = 64 << 20 // of the paths of one tree together
)

// tempPrefix begins the names of the temporary files, for SweepTemp.
const tempPrefix = "codesage-clone-"

// Config are the settings of a Source. Zero values mean the defaults.
type Config struct {
	GitHubToken      string        // white space around it does not matter; empty = none
	GitHubAPIURL     string        // https, or http to a loopback address
	PrivateHosts     []string      // host names whose addresses may be private or loopback
	Proxy            string        // http or https URL; empty = none, whatever the environment says
	PreflightTimeout time.Duration // of a Preflight or a Head
	CloneTimeout     time.Duration // of a Fetch
	CloneMaxBytes    int64         // received in a Fetch, and unpacked
	TempDir          string        // where the temporary files go; must exist. Empty = the system's
	IdleTimeout      time.Duration // the longest that a host may send nothing during a Fetch
	Log              *slog.Logger  // nil = none

	// The network as tests have it. Dial gets a checked address and port, or
	// the proxy's name; Resolve a host name, which ends in a dot when it has one
	// inside; RootCAs nil means the system's, with SSL_CERT_FILE.
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	RootCAs *x509.CertPool
}

// Source reads from git hosts. It is safe for concurrent use.
type Source struct {
	cfg     Config
	token   string
	api     *url.URL
	proxy   *url.URL
	private map[string]bool
	log     *slog.Logger
}

// New checks a configuration and returns a Source. The error names the setting
// that is wrong and shows no value that may hold a secret.
func New(cfg Config) (*Source, error) {
	setDefault(&cfg.GitHubAPIURL, DefaultGitHubAPIURL)
	setDefault(&cfg.PreflightTimeout, DefaultPreflightTimeout)
	setDefault(&cfg.CloneTimeout, DefaultCloneTimeout)
	setDefault(&cfg.CloneMaxBytes, DefaultCloneMaxBytes)
	setDefault(&cfg.IdleTimeout, DefaultIdleTimeout)
	setDefault(&cfg.TempDir, os.TempDir())
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	if cfg.Resolve == nil {
		cfg.Resolve = lookupIP
	}
	s := &Source{cfg: cfg, token: strings.TrimSpace(cfg.GitHubToken), private: map[string]bool{}, log: cfg.Log}
	s.cfg.GitHubToken = ""
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, h := range cfg.PrivateHosts {
		if h = strings.ToLower(strings.TrimSpace(h)); h != "" {
			s.private[h] = true
		}
	}
	return s, s.parse()
}

// parse fills what New keeps in parsed form.
func (s *Source) parse() error {
	if strings.ContainsFunc(s.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("GITHUB_TOKEN holds characters that no token has")
	}
	api, err := url.Parse(strings.TrimRight(strings.TrimSpace(s.cfg.GitHubAPIURL), "/"))
	if err != nil || api.Host == "" || api.User != nil || api.RawQuery != "" {
		return errors.New("GITHUB_API_URL is not a URL such as " + DefaultGitHubAPIURL)
	}
	if api.Scheme != "https" && (api.Scheme != "http" || !isLoopback(api.Hostname())) {
		return errors.New("GITHUB_API_URL must begin with https://")
	}
	s.api = api
	if s.cfg.Proxy == "" {
		return nil
	}
	proxy, err := url.Parse(s.cfg.Proxy)
	if err != nil || proxy.Host == "" || proxy.Scheme != "http" && proxy.Scheme != "https" {
		return errors.New("CODESAGE_GIT_PROXY is not an http or https URL")
	}
	s.proxy = proxy
	return nil
}

// setDefault sets a zero value.
func setDefault[T comparable](v *T, to T) {
	if *v == *new(T) {
		*v = to
	}
}

// isLoopback reports whether a host is a loopback address or localhost.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// SweepTemp removes the temporary files that a process which died left in a
// folder. Where open files can be removed, a file has no name while it is in
// use, so that other processes lose nothing by it.
func SweepTemp(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list temporary files: %w", err)
	}
	var failed error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return failed
}

// remoteOf returns the remote of a stored repository.
func remoteOf(repo codesage.Repository) (Remote, error) {
	return ParseURL(repo.URL, repo.Branch)
}
