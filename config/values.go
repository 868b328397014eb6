package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// unchecked is a value that others read and check.
func unchecked(*Config, string) error { return nil }

// printable is a short text without control characters.
func printable(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if len(text) > 200 || strings.ContainsFunc(text, unicode.IsControl) {
			return errors.New("must be at most 200 bytes of one line")
		}
		*field(c) = text
		return nil
	}
}

// key is a secret that is sent in a header.
func key(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return errors.New("must be letters, digits and signs of ASCII, without spaces")
		}
		*field(c) = text
		return nil
	}
}

// name is what Algolia calls applications and indexes by.
func name(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		isOdd := func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_.", r)
		}
		if strings.ContainsFunc(text, isOdd) {
			return errors.New("may hold letters, digits, - _ and dots only")
		}
		*field(c) = text
		return nil
	}
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
		return fmt.Errorf("must be %s or %s", strings.Join(values[:len(values)-1], ", "), values[len(values)-1])
	}
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

// someSize is a size of which nothing is no limit.
func someSize(field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, text string) error {
		if err := size(field)(c, text); err != nil || *field(c) == 0 {
			return errors.New("must be a number of bytes such as 100MB, more than 0")
		}
		return nil
	}
}

func duration(least, most time.Duration, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > most {
			return fmt.Errorf("must be a time such as 90s, 10m or 1h, from %s to %s", short(least), short(most))
		}
		*field(c) = d
		return nil
	}
}

// interval is a time between repetitions; 0 = never.
func interval(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		if d, err := time.ParseDuration(text); err == nil && d == 0 {
			return nil
		}
		return duration(time.Second, 365*24*time.Hour, field)(c, text)
	}
}

// short is a duration without minutes and seconds when it is of whole hours.
func short(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}

func optionalBool(c *Config, text string) error {
	if text == "" {
		return nil
	}
	c.FolderWatchSet = true
	return boolean(func(c *Config) *bool { return &c.FolderWatch })(c, text)
}

func level(c *Config, text string) error {
	text = strings.ToLower(text)
	if err := oneOf(func(*Config) *string { return &text }, "debug", "info", "warn", "error")(c, text); err != nil {
		return err
	}
	return c.LogLevel.UnmarshalText([]byte(text))
}

// headers are those of OpenTelemetry's exporter, whose own messages show them.
func headers(_ *Config, text string) error {
	if text == "" {
		return nil
	}
	for item := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(item, "=")
		if _, err := url.PathUnescape(value); err != nil || !found || !headerName.MatchString(strings.TrimSpace(name)) {
			return errors.New("must be name=value, comma-separated, with percent-encoded values")
		}
	}
	return nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func sampler(c *Config, text string) error {
	if text == "" {
		return nil
	}
	return oneOf(func(*Config) *string { return &text }, "always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio")(c, text)
}

func ratio(_ *Config, text string) error {
	if text == "" {
		return nil
	}
	if share, err := strconv.ParseFloat(text, 64); err != nil || !(share >= 0 && share <= 1) {
		return errors.New("must be a number from 0 to 1")
	}
	return nil
}

// certificates is a file that TLS reads: it says nothing of one that it can't.
func certificates(_ *Config, text string) error {
	if text == "" {
		return nil
	}
	info, err := os.Stat(text)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxCertificates) {
		return errors.New("must be a file of PEM certificates")
	}
	data, err := os.ReadFile(text)
	if err != nil {
		return fmt.Errorf("can't be read: %w", errors.Unwrap(err))
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return errors.New("has no PEM certificate")
	}
	return nil
}

// maxCertificates is the largest file of certificates; Mozilla's is 200 kB.
const maxCertificates = 16 << 20
