package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"codesage/api/client"
)

// leaks is a team whose every secret is a canary, and what it has said so far.
type leaks struct {
	watched
	team    *team
	worker  *server
	secrets []string
	said    map[string]string
}

// newLeaks starts a team of which Algolia, the proxy for git hosts, GitHub and
// the collector of traces never work: errors are where secrets get out.
func newLeaks(t *testing.T) *leaks {
	t.Helper()
	l := &leaks{said: map[string]string{}}
	secret := func(name string) string {
		canary := "S3cr3t" + name
		l.secrets = append(l.secrets, canary)
		return canary
	}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	t.Cleanup(collector.Close)
	withUser := func(address, password string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		name := u.User.Username()
		u.User = url.UserPassword(name, password)
		return u.String()
	}
	key := secret("Wr1te")
	l.team = newTeam(t, "LOG_LEVEL=debug", "LOG_FORMAT=json", "OTEL_BSP_SCHEDULE_DELAY=50",
		"CODESAGE_API_KEY="+key, "CODESAGE_READ_KEY="+secret("R3ad"), "WEBHOOK_SECRET="+secret("H00k"), "GITHUB_TOKEN="+secret("G1t"),
		"GITHUB_API_URL=http://127.0.0.1:1", "CODESAGE_GIT_PROXY="+withUser("http://bob@127.0.0.1:1", secret("Pr0xy")),
		"CODESAGE_PRIVATE_HOSTS=git.example.org",
		"ALGOLIA_APP_ID=APP", "ALGOLIA_ADMIN_API_KEY="+secret("Alg0l1a"), "ALGOLIA_HOSTS=127.0.0.1:1",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+withUser(strings.Replace(collector.URL, "://", "://bob@", 1), secret("C0llect0r")),
		"OTEL_EXPORTER_OTLP_HEADERS=api-key="+secret("H3ader"))
	for i, v := range l.team.env {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "DATABASE_URL":
			l.team.env[i] = name + "=" + withUser(value, secret("P0stgr3s"))
		case "REDIS_URL":
			l.team.env[i] = name + "=" + withUser(value, redisCanary)
			l.secrets = append(l.secrets, redisCanary)
		}
	}
	l.lockRedis(t)
	l.server, l.worker = l.team.start("api"), l.team.start("worker")
	var err error
	if l.api, err = client.New(client.Config{BaseURL: l.url, Key: key}); err != nil {
		t.Fatal(err)
	}
	return l
}

// lockRedis gives Redis the password of the team's, which a restart takes away.
func (l *leaks) lockRedis(t *testing.T) {
	t.Helper()
	o, err := redis.ParseURL(l.team.redis.URL)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	defer rdb.Close()
	if err := rdb.ConfigSet(t.Context(), "requirepass", redisCanary).Err(); err != nil {
		t.Fatal(err)
	}
}

// ask calls what may fail, and keeps the answers.
func (l *leaks) ask(when, folder string) {
	l.t.Helper()
	key := l.secrets[0]
	send := func(method, path, body string, headers ...string) {
		q, err := http.NewRequestWithContext(context.Background(), method, l.url+path, strings.NewReader(body))
		if err != nil {
			l.t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			q.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			l.t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			l.t.Fatal(err)
		}
		l.said[fmt.Sprintf("%s: the answer of %s %s", when, method, path)] += string(text)
	}
	mine := []string{"X-API-Key", key}
	tool := func(name, arguments string) {
		send("POST", "/api/v1/ai/mcp/tools/call", fmt.Sprintf(`{"tool_name":%q,"arguments":%s}`, name, arguments), mine...)
	}
	send("POST", "/api/v1/folders", fmt.Sprintf(`{"path":%q,"session":"tree","force":true}`, folder), mine...)
	send("POST", "/api/v1/repositories", `{"url":"https://github.com/o/r"}`, mine...)
	send("POST", "/api/v1/repositories", `{"url":"https://git.example.org/o/r"}`, mine...)
	tool("search_code", `{"query":"alpha"}`)
	tool("add_repository", `{"url":"https://bob:`+key+`@git.example.org/o/r"}`)
	send("POST", "/api/v1/webhooks/gitlab", `{}`, "X-Gitlab-Token", "wrong", "X-Gitlab-Event", "Push Hook")
	send("GET", "/api/v1/repositories?key="+key, "", mine...)
	send("GET", "/metrics", "", "Authorization", "Bearer "+key)
	send("GET", "/readyz", "")
	for _, path := range []string{"servers", "redis_info", "queues", "queues/first/archived_tasks", "queues/first/completed_tasks"} {
		send("GET", "/monitoring/api/"+path, "", mine...)
	}
}

// A secret gets out by the errors of parts that are away, most of all.
func TestATeamKeepsItsSecretsWhenItsPartsFail(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"pg_dump", "ps"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	l := newLeaks(t)
	folder := filepath.Join(t.TempDir(), "tree")
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
	l.ask("all there", folder)
	l.eventually("a run is tried", func() bool { return strings.Contains(l.worker.log.text(), `"run"`) })
	l.keep(t)
	l.team.redis.Crash(t)
	l.ask("without Redis", folder)
	l.commands("without Redis")
	l.team.redis.Restart(t)
	l.ask("with a wrong password of Redis", folder)
	l.commands("with a wrong password of Redis")
	l.lockRedis(t)
	l.team.postgres.Crash(t)
	l.ask("without PostgreSQL", folder)
	l.commands("without PostgreSQL")
	l.team.postgres.Restart(t)
	l.ask("all back", folder)
	l.commands("all back")
	l.keep(t)
	l.worker.stop()
	l.stop()
	l.said["the API's log"], l.said["the worker's log"] = l.log.text(), l.worker.log.text()
	for where, text := range l.said {
		for _, secret := range l.secrets {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s shows %s: …%s…", where, secret, text[max(at-150, 0):min(at+100, len(text))])
			}
		}
	}
	for where, want := range map[string]string{
		"the API's log": `"http://127.0.0.1:1"`, "the worker's log": "127.0.0.1:1", "the rows": "tree", "Redis": "asynq", "the processes": "worker",
		"all back: codesage health worker": "", "without PostgreSQL: the answer of POST /api/v1/folders": "database",
		"all there: the answer of POST /api/v1/repositories": "detail",
	} {
		if text, ok := l.said[where]; !ok || !strings.Contains(text, want) {
			t.Errorf("%s lacks %q: the test looks at nothing: %.300s", where, want, text)
		}
	}
}

// commands keeps what commands say that end.
func (l *leaks) commands(when string) {
	l.t.Helper()
	for _, args := range [][]string{{"health", "worker"}, {"health", "api"}, {"help", "config"}, {"backup", "x"}, {"migrate"}} {
		if args[0] == "migrate" && when == "without PostgreSQL" {
			continue // it waits for the database
		}
		out := command{args: args, env: l.team.env}.run(l.t)
		l.said[when+": codesage "+strings.Join(args, " ")] = out.stdout + out.stderr
	}
	broken := append(l.team.env[:len(l.team.env):len(l.team.env)], "CODESAGE_PORT=x", "CODESAGE_HOST=0.0.0.0")
	for _, role := range []string{"api", "worker", "serve"} {
		out := command{args: []string{role}, env: broken}.run(l.t)
		l.said[when+": codesage "+role+" with a fault"] = out.stdout + out.stderr
	}
}

// keep keeps what others than the program hold: Redis, PostgreSQL, the data
// folder and the system's list of processes.
func (l *leaks) keep(t *testing.T) {
	t.Helper()
	o, err := redis.ParseURL(l.team.redis.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.Password = redisCanary
	rdb := redis.NewClient(o)
	defer rdb.Close()
	keys := rdb.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		value, err := rdb.Dump(t.Context(), keys.Val()).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		l.said["Redis"] += keys.Val() + value
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	var database string
	for _, v := range l.team.env {
		if rest, ok := strings.CutPrefix(v, "DATABASE_URL="); ok {
			u, err := url.Parse(rest)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			q.Del("pool_max_conns")
			q.Del("synchronous_commit")
			u.RawQuery = q.Encode()
			database = u.String()
		}
	}
	rows, err := exec.Command("pg_dump", "--inserts", database).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_dump: %v\n%.500s", err, rows)
	}
	l.said["the rows"] += string(rows)
	if err := filepath.WalkDir(dataOf(l.team.env), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		l.said["the data folder"] += path + string(text)
		return err
	}); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, p := range []*server{l.server, l.worker} {
		line, err := exec.Command("ps", "-o", "args=", "-p", fmt.Sprint(p.cmd.Process.Pid)).Output()
		if err != nil {
			t.Fatalf("ps: %v", err)
		}
		l.said["the processes"] += string(line)
	}
}
