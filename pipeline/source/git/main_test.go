package git

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"codesage"
	"codesage/pipeline/source"
	"codesage/pipeline/source/git/gittest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// testToken is the secret that must not come out anywhere.
const testToken = "ghp_S3cr3tTok+canary"

// output collects a log, for many goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// config is the configuration of a test against a server, with short limits.
// The test fails if the token comes out in the log or a file is left behind.
func config(t testing.TB, server *gittest.Server) Config {
	t.Helper()
	dir, logged := t.TempDir(), &output{}
	t.Cleanup(func() {
		noSecret(t, logged.String())
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
	return Config{
		GitHubToken: testToken + "\n", PreflightTimeout: 30 * time.Second, CloneTimeout: time.Minute, TempDir: dir,
		Log:  slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Dial: server.Dial, Resolve: server.Resolve, RootCAs: server.RootCAs(),
	}
}

// open returns a Source with a configuration.
func open(t testing.TB, cfg Config) *Source {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noSecret fails the test when a text has the token in it, in any form in which
// it is sent.
func noSecret(t testing.TB, text string) {
	t.Helper()
	for _, secret := range []string{"S3cr3tTok", strings.TrimPrefix(basicAuth(testToken), "Basic ")} {
		if strings.Contains(text, secret) {
			t.Errorf("the token came out: %s", text)
		}
	}
}

// noSecretIn checks an error, its message and each of its causes.
func noSecretIn(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	noSecret(t, err.Error())
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		noSecretIn(t, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, cause := range e.Unwrap() {
			noSecretIn(t, cause)
		}
	}
}

// parse returns a Remote.
func parse(t testing.TB, url, branch string) Remote {
	t.Helper()
	r, err := ParseURL(url, branch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetch gets a checkout that is closed when the test ends.
func fetch(t testing.TB, s *Source, url, branch string) source.Checkout {
	t.Helper()
	c, err := s.Fetch(context.Background(), codesage.Repository{URL: url, Branch: branch})
	if err != nil {
		noSecretIn(t, err)
		t.Fatalf("fetch %s: %v (%v)", url, err, unwrapped(err))
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// unwrapped returns the cause of an error, for failures.
func unwrapped(err error) error {
	if e, ok := err.(*codesage.Error); ok {
		return e.Err
	}
	return nil
}

// listed is what a checkout lists.
func listed(t testing.TB, c source.Checkout) (files []source.File, skips []codesage.Skip) {
	t.Helper()
	err := c.List(context.Background(), func(f source.File) error {
		files = append(files, f)
		return nil
	}, func(s codesage.Skip) error {
		skips = append(skips, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, skips
}
