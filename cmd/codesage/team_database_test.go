package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"codesage/api"
	"codesage/queue/redistest"
	"codesage/store/postgres/postgrestest"
	"codesage/tools"
)

// altered is a URL with a part of it changed.
func altered(t testing.TB, address string, alter func(u *url.URL, q url.Values)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	alter(u, q)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestAStartThatIsRefusedEndsAtOnce(t *testing.T) {
	t.Parallel()
	postgres, redis := postgrestest.Start(t).Database(t), redistest.StartPrivate(t).URL
	migrated := command{args: []string{"migrate"}, env: settings{"DATABASE_URL=" + postgres}}
	if out := migrated.run(t); out.code != exitOK {
		t.Fatalf("migrate: %s", out.stderr)
	}
	for _, tc := range []struct {
		name, postgres, redis, want string
		roles                       []string
	}{
		{"a user whom PostgreSQL does not know", altered(t, postgres, func(u *url.URL, q url.Values) {
			u.User = nil
			q.Set("user", "nobody_here")
			q.Set("password", "hunter2")
		}), redis, "DATABASE_URL", []string{"api", "worker", "migrate"}},
		{"a database that is not there", altered(t, postgres, func(u *url.URL, _ url.Values) { u.Path = "/not_there" }), redis,
			"DATABASE_URL", []string{"api", "worker", "migrate"}},
		{"a wrong password of Redis", postgres, strings.Replace(redis, "secret", "hunter2", 1), "REDIS_URL", []string{"api", "worker"}},
	} {
		for _, role := range tc.roles {
			t.Run(role+" with "+tc.name, func(t *testing.T) {
				t.Parallel()
				out := command{args: []string{role}, env: settings{"DATABASE_URL=" + tc.postgres, "REDIS_URL=" + tc.redis, "CODESAGE_PORT=0"}}.run(t)
				if faults := out.faults(); out.code != exitFailed || len(faults) != 1 || !strings.Contains(faults[0], tc.want) {
					t.Errorf("code %d, %q", out.code, faults)
				}
				if strings.Contains(out.stderr, "waiting for") || strings.Contains(out.stderr, "hunter2") {
					t.Errorf("the log:\n%s", out.stderr)
				}
			})
		}
	}
}

// The containers of a team start in any order, and a name is unknown until its
// container is there.
func TestAStartWaitsForServicesAndSaysWhich(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t).Database(t)
	if out := (command{args: []string{"migrate"}, env: settings{"DATABASE_URL=" + postgres}}).run(t); out.code != exitOK {
		t.Fatalf("migrate: %s", out.stderr)
	}
	for _, tc := range []struct {
		name, role string
		env        settings
		want, host string
	}{
		{"a host that is unknown", "api", settings{"DATABASE_URL=postgres://u:hunter2@no-such-host.invalid/x", "REDIS_URL=redis://127.0.0.1:1"},
			"waiting for the database", "no-such-host.invalid:5432"},
		{"a Redis that is not there", "worker", settings{"DATABASE_URL=" + postgres, "REDIS_URL=redis://:hunter2@127.0.0.1:1"},
			"waiting for Redis", "127.0.0.1:1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			log, exited := &buffer{}, make(chan struct{})
			cmd := exec.Command(program(t), tc.role)
			cmd.Dir = t.TempDir()
			cmd.Env, cmd.Stderr = environ(cmd.Dir, append(tc.env, "CODESAGE_PORT=0")...), log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() {
				_ = cmd.Wait()
				close(exited)
			}()
			said := await(func() bool { return strings.Contains(log.text(), tc.want) }, exited)
			select {
			case <-exited:
				said = false
			default:
			}
			_ = cmd.Process.Kill()
			<-exited
			if text := log.text(); !said || !strings.Contains(text, tc.host) || strings.Contains(text, "hunter2") {
				t.Errorf("the log:\n%s", text)
			}
		})
	}
}

func TestMigrateWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	server := postgrestest.StartPrivate(t)
	x := &team{t: t, env: settings{"DATABASE_URL=" + server.Database(t)}}
	server.Crash(t)
	migrate := x.launch("migrate")
	migrate.eventually("it says what it waits for", func() bool { return strings.Contains(migrate.log.text(), "waiting for the database") })
	if log := migrate.log.text(); !strings.Contains(log, "can't be reached") || strings.Contains(log, "null") {
		t.Errorf("it does not say why:\n%s", log)
	}
	server.Restart(t)
	if code := migrate.exitCode(); code != exitOK {
		t.Errorf("code %d\n%s", code, migrate.log.text())
	}
	if out := (command{args: []string{"migrate"}, env: x.env}).run(t); !strings.Contains(out.stdout, "is up to date") {
		t.Errorf("the schema is not there: %s%s", out.stdout, out.stderr)
	}
}

// A database that is frozen keeps its connections and answers nothing, which no
// driver tells from one that is slow.
func TestRequestsEndThoughTheDatabaseIsFrozen(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	c, _, _, err := serverConfig(func(name string) string {
		for _, s := range x.env {
			if value, is := strings.CutPrefix(s, name+"="); is {
				return value
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := assemble(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	h := httptest.NewServer(p.newAPI(api.Deps{
		Store: p.store, Catalog: p.catalog, Engine: p.engine, Toolsets: []tools.Set{p.repositories()},
		Redis: p.redis, Log: p.log, RequestTime: time.Second,
	}))
	t.Cleanup(h.Close)
	ask := func(method, path, body string) (status int, text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		q, err := http.NewRequestWithContext(ctx, method, h.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(answer)
	}
	if status, text := ask(http.MethodGet, "/api/v1/repositories", ""); status != http.StatusOK {
		t.Fatalf("before: %d %s", status, text)
	}
	x.postgres.Freeze(t)
	for range 2 { // with connections of before, and with new ones
		for _, q := range []struct{ method, path, body string }{
			{http.MethodGet, "/api/v1/repositories", ""},
			{http.MethodPost, "/api/v1/folders", `{"path": "/", "session": "x"}`},
			{http.MethodDelete, "/api/v1/repositories/1", ""},
			{http.MethodPost, "/api/v1/ai/mcp/tools/call", `{"tool_name": "list_repositories"}`},
			{http.MethodGet, "/readyz", ""},
		} {
			if status, text := ask(q.method, q.path, q.body); status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %d %s", q.method, q.path, status, text)
			}
		}
	}
	x.postgres.Thaw(t)
	if !await(func() bool {
		status, _ := ask(http.MethodGet, "/api/v1/repositories", "")
		return status == http.StatusOK
	}, nil) {
		t.Error("no answer after the thaw")
	}
}
