package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// listenHost is an address or a name of this machine.
func listenHost(c *Config, text string) error {
	host := strings.Trim(text, "[]")
	if _, err := netip.ParseAddr(host); err != nil && !isHostName(host) {
		return errors.New("must be an address or a name of this machine, without scheme and port (CODESAGE_PORT is the port)")
	}
	c.Host = host
	return nil
}

// hosts is a list of names or addresses, each with or without a port.
func hosts(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		for _, item := range items(text) {
			host, port, err := net.SplitHostPort(item)
			if err != nil {
				host, port = strings.Trim(item, "[]"), "1"
			}
			if _, err := netip.ParseAddr(host); err != nil && !isHostName(host) || !isPort(port) {
				return fmt.Errorf("%s is not a host such as codesage.example.org or codesage.example.org:443, without scheme, path or wildcard", quoted(item))
			}
			*field(c) = append(*field(c), item)
		}
		return nil
	}
}

// hostNames is a list of names without scheme, port or wildcard. An address is
// none: a git URL with a private one is refused whatever is allowed.
func hostNames(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, text string) error {
		for _, name := range items(text) {
			name = strings.ToLower(name)
			_, err := netip.ParseAddr(strings.Trim(name, "[]"))
			switch {
			case err == nil:
				return fmt.Errorf("%q is an address; name the host, as git URLs do", name)
			case name == "localhost" || strings.HasSuffix(name, ".localhost"):
				return fmt.Errorf("%q is never a git host; use another name of the machine", name)
			case !isHostName(name) || onlyNumber.MatchString(name):
				return fmt.Errorf("%s is not a host name such as git.example.org, without scheme, port, path or wildcard", quoted(name))
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

func isHostName(text string) bool { return hostName.MatchString(strings.ToLower(text)) }

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// origins is a list of what browsers send as Origin.
func origins(c *Config, text string) error {
	for _, item := range items(text) {
		u, err := url.Parse(strings.TrimSuffix(item, "/"))
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != strings.TrimSuffix(item, "/") {
			return fmt.Errorf("%s is not an origin such as https://app.example.org, without path or wildcard", quoted(item))
		}
		c.CORSOrigins = append(c.CORSOrigins, item)
	}
	return nil
}

// address is a URL with one of the schemes.
func address(field func(*Config) *string, schemes ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if text == "" {
			return nil
		}
		u, err := url.Parse(text)
		if !isEncoded(text, u) {
			return errors.New("must be a URL; percent-encode the signs of its password: # is %23, / is %2F, ? is %3F, @ is %40, % is %25")
		}
		switch {
		case err != nil || u.Host == "" && !isSocket(u):
			return errors.New("must be a URL with a host")
		case !slices.Contains(schemes, u.Scheme):
			return fmt.Errorf("must begin with %s://", strings.Join(schemes, ":// or "))
		case u.Port() != "" && !isPort(u.Port()):
			return errors.New("must have a port from 1 to 65535, or none")
		}
		*field(c) = text
		return nil
	}
}

// isEncoded reports whether all readers of a URL, which is nil when it could not be
// read, find the same end of its password. Those of Go look for the last @ before
// the host, PostgreSQL's for the first, and what they take for the host is shown.
func isEncoded(text string, u *url.URL) bool {
	_, rest, _ := strings.Cut(text, "://")
	if strings.HasPrefix(rest, "/") { // there is no place for a password
		rest, _, _ = strings.Cut(rest, "?")
		return !strings.Contains(rest, "@")
	}
	switch strings.Count(rest, "@") {
	case 0:
		return true
	case 1:
		return u != nil && u.User != nil
	}
	return false
}

// isSocket reports whether a URL names a PostgreSQL server by the folder of its
// socket: postgres:///codesage?host=/run/postgresql.
func isSocket(u *url.URL) bool {
	return strings.HasPrefix(u.Scheme, "postgres") && u.Query().Get("host") != ""
}

// redisAddress is a URL whose path, if it has one, is the database's number.
func redisAddress(c *Config, text string) error {
	if err := address(func(c *Config) *string { return &c.RedisURL }, "redis", "rediss")(c, text); err != nil || text == "" {
		return err
	}
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("must be a URL with a host")
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		if _, err := strconv.ParseUint(path, 10, 16); err != nil {
			return errors.New("must end with the number of a database, such as /0, or with the port")
		}
	}
	return nil
}

// plainAddress is a URL that holds no user, query or fragment; http is for this
// machine only.
func plainAddress(field func(*Config) *string, schemes ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if err := address(field, schemes...)(c, text); err != nil {
			return err
		}
		u, err := url.Parse(text)
		if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("must be a URL without user, query and fragment")
		}
		if local := (Config{Host: u.Hostname()}); u.Scheme == "http" && !local.Loopback() {
			return errors.New("must begin with https://")
		}
		return nil
	}
}

func networks(c *Config, text string) error {
	for _, item := range items(text) {
		if addr, err := netip.ParseAddr(item); err == nil {
			c.TrustedProxies = append(c.TrustedProxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(item)
		if err != nil {
			return fmt.Errorf("%s is neither an address nor a network such as 10.0.0.0/8", quoted(item))
		}
		c.TrustedProxies = append(c.TrustedProxies, p.Masked())
	}
	return nil
}

// items are the parts of a comma-separated list.
func items(text string) []string {
	var parts []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			parts = append(parts, item)
		}
	}
	return parts
}

// quoted is an item for a message, unless it may hold a password.
func quoted(item string) string {
	if mayHoldSecret(item) {
		return "one of them"
	}
	return strconv.Quote(item)
}

// mayHoldSecret reports whether a text looks like a URL with a user in it.
func mayHoldSecret(text string) bool { return strings.Contains(text, "@") }
