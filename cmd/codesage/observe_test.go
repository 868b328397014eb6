package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"codesage/api/client"
	"codesage/trace/otlp/otlptest"
)

// The secrets of the watched server, and a text that a user searches for.
const (
	adminCanary = "S3cr3tWr1te"
	readCanary  = "S3cr3tR3ad"
	gitCanary   = "S3cr3tG1t"
	hookCanary  = "S3cr3tH00k"
	queryCanary = "S3cr3tQuery"
	redisCanary = "S3cr3tR3d1s"
)

// watched is a server with keys that sends its traces to a collector.
type watched struct {
	*server
	collector *otlptest.Collector
}

func newWatched(t *testing.T) watched {
	t.Helper()
	c := otlptest.Start(t)
	s := newServer(t, "CODESAGE_API_KEY="+adminCanary, "CODESAGE_READ_KEY="+readCanary, "GITHUB_TOKEN="+gitCanary, "WEBHOOK_SECRET="+hookCanary,
		"OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50", "LOG_FORMAT=json", "LOG_LEVEL=debug")
	var err error
	if s.api, err = client.New(client.Config{BaseURL: s.url, Key: adminCanary}); err != nil {
		t.Fatal(err)
	}
	return watched{s, c}
}

// get asks for a page; headers are name, value, name, value.
func (w watched) get(method, path string, headers ...string) (status int, body string) {
	w.t.Helper()
	q, err := http.NewRequestWithContext(context.Background(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// metrics returns the value of each series.
func (w watched) metrics() map[string]float64 {
	w.t.Helper()
	status, text := w.get("GET", "/metrics", "X-API-Key", readCanary)
	if status != http.StatusOK {
		w.t.Fatalf("metrics: %d %s", status, text)
	}
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			if n, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64); err == nil {
				values[line[:at]] = n
			}
		}
	}
	return values
}

// moved checks by how much series grew.
func (w watched) moved(before map[string]float64, by map[string]float64) {
	w.t.Helper()
	after := w.metrics()
	for series, want := range by {
		if got := after[series] - before[series]; got != want {
			w.t.Errorf("%s moved by %v, want %v", series, got, want)
		}
	}
}

// logged returns the first line of the log for which want holds.
func (w watched) logged(want func(line map[string]any) bool) map[string]any {
	for text := range strings.Lines(w.log.text()) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && want(line) {
			return line
		}
	}
	return nil
}

func TestWhatHappensIsMeasuredLoggedAndTraced(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	folder := filepath.Join(t.TempDir(), "tree")
	writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n", "b.go": "package a\n\nfunc Beta() {}\n", "c.bin": "\x00\x01"})
	w.indexing(folder)
	w.calling()
	w.bridging()
	w.traces()
	w.doors()
	w.keepsSecrets()
}

// indexing checks what a run and a refresh leave.
func (w watched) indexing(folder string) {
	w.t.Helper()
	before := w.metrics()
	w.index(folder, "tree")
	w.eventually("the first run is counted", func() bool { return w.metrics()[`codesage_run_attempts_total{outcome="completed"}`] == 1 })
	w.moved(before, map[string]float64{
		`codesage_run_files_total{what="text"}`:                                                   2,
		`codesage_run_files_total{what="parsed"}`:                                                 2,
		`codesage_run_files_total{what="kept"}`:                                                   0,
		`codesage_run_phase_seconds_count{phase="symbols"}`:                                       1,
		`codesage_indexed_files`:                                                                  2,
		`codesage_indexed_entities`:                                                               2,
		`codesage_skipped_files{reason="binary"}`:                                                 1,
		`codesage_runs{phase="",status="completed"}`:                                              1,
		`codesage_store_seconds_count{operation="create_repository",outcome="ok"}`:                1,
		`codesage_http_request_seconds_count{method="POST",route="/api/v1/folders",status="201"}`: 1,
	})
	now := w.metrics()
	if age, ok := now[`codesage_index_age_seconds{session="tree"}`]; !ok || age > patience.Seconds() || now["codesage_indexed_bytes"] == 0 {
		w.t.Errorf("age %v, bytes %v", age, now["codesage_indexed_bytes"])
	}
	writeFiles(w.t, folder, map[string]string{"b.go": "package a\n\nfunc Gamma() {}\n\nfunc Delta() {}\n"})
	w.index(folder, "tree")
	w.eventually("the refresh is counted", func() bool { return w.metrics()[`codesage_run_attempts_total{outcome="completed"}`] == 2 })
	w.moved(now, map[string]float64{
		`codesage_run_files_total{what="kept"}`:   1,
		`codesage_run_files_total{what="parsed"}`: 1,
		`codesage_indexed_entities`:               1,
		`codesage_skipped_files{reason="binary"}`: 0,
	})
	created := w.logged(func(l map[string]any) bool { return l["msg"] == "run created" })
	request := w.logged(func(l map[string]any) bool { return l["msg"] == "request" && l["request"] == created["request"] })
	done := w.logged(func(l map[string]any) bool { return l["msg"] == "run completed" && l["run"] == created["run"] })
	if created == nil || created["by"] != "api key" || created["name"] != "tree" || request["route"] != "/api/v1/folders" || done == nil {
		w.t.Errorf("the lines of a refresh: %v, %v, %v", created, request, done)
	}
}

// calling checks what tool calls leave.
func (w watched) calling() {
	w.t.Helper()
	before := w.metrics()
	for _, c := range []struct {
		tool, toolset, arguments string
	}{
		{"search_code", "", `{"query":"` + queryCanary + `"}`},
		{"search_code", "", `{"query":"alpha"}`},
		{"search_code", "", `{"page":-1}`},
		{"get_file", "", `{"repository":"tree","path":"` + queryCanary + `"}`},
		{"get_file", "", `{"repository":"tree","path":"a.go"}`},
		{"search_code", "sessions", `{"session":"tree","query":"alpha"}`},
		{"add_repository", "", `{"url":"https://bob:` + gitCanary + `@127.0.0.1/o/r"}`},
	} {
		_, _ = w.api.CallTool(context.Background(), client.Call{Tool: c.tool, Toolset: c.toolset, Arguments: json.RawMessage(c.arguments)})
	}
	w.moved(before, map[string]float64{
		`codesage_tool_call_seconds_count{outcome="ok",tool="search_code"}`:         3,
		`codesage_tool_call_seconds_count{outcome="invalid",tool="search_code"}`:    1,
		`codesage_tool_call_seconds_count{outcome="ok",tool="get_file"}`:            1,
		`codesage_tool_call_seconds_count{outcome="refused",tool="get_file"}`:       1,
		`codesage_tool_call_seconds_count{outcome="refused",tool="add_repository"}`: 1,
		`codesage_search_seconds_count{operation="search",outcome="ok"}`:            2,
		`codesage_search_seconds_count{operation="chunks",outcome="ok"}`:            1,
		`codesage_store_seconds_count{operation="file",outcome="not_found"}`:        1,
	})
	line := w.logged(func(l map[string]any) bool {
		return l["tool"] == "get_file" && l["outcome"] == "refused" && l["msg"] == "request"
	})
	if line == nil || line["by"] != "api key" || line["client"] != "127.0.0.1" || line["status"] != 200.0 {
		w.t.Errorf("the line of a call: %v", line)
	}
}

// bridging checks that the bridge's log and trace lead to the server's.
func (w watched) bridging() {
	w.t.Helper()
	out := command{
		args:  []string{"bridge"},
		env:   settings{"MCP_SERVER_URL=" + w.url, "CODESAGE_API_KEY=" + readCanary, "OTEL_EXPORTER_OTLP_ENDPOINT=" + w.collector.URL},
		stdin: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repositories","arguments":{}}}` + "\n",
	}.run(w.t)
	_, rest, found := strings.Cut(out.stderr, "msg=call request=")
	id, _, _ := strings.Cut(rest, " ")
	line := w.logged(func(l map[string]any) bool { return l["request"] == id })
	if !found || line["tool"] != "list_repositories" || line["by"] != "read key" {
		w.t.Errorf("request %q of the bridge is %v in the server's log\n%s", id, line, out.stderr)
	}
	if strings.Contains(out.stderr, readCanary) {
		w.t.Error("the bridge's log shows the key")
	}
	door, _ := w.collector.Find("bridge list_repositories")
	server := w.span(func(s otlptest.Span) bool { return s.Attributes["codesage.request"] == id })
	if door.Service != "codesage-bridge" || server.Service != "codesage" || server.Trace != door.Trace || door.Trace == "" {
		w.t.Errorf("the bridge's span %+v, the server's %+v", door, server)
	}
}

// span waits for a span.
func (w watched) span(want func(otlptest.Span) bool) (found otlptest.Span) {
	w.t.Helper()
	w.eventually("a span is there", func() bool {
		for _, s := range w.collector.Spans() {
			if want(s) {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// traces checks who hangs from whom.
func (w watched) traces() {
	w.t.Helper()
	below := func(parent otlptest.Span, name string) otlptest.Span {
		w.t.Helper()
		return w.span(func(s otlptest.Span) bool { return s.Name == name && s.Parent == parent.ID && s.Trace == parent.Trace })
	}
	tool := w.span(func(s otlptest.Span) bool {
		return s.Name == "tool search_code" && s.Attributes["codesage.outcome"] == "ok"
	})
	door := w.span(func(s otlptest.Span) bool { return s.ID == tool.Parent })
	if door.Name != "POST /api/v1/ai/mcp/tools/call" || door.Attributes["http.route"] != "/api/v1/ai/mcp/tools/call" || door.Parent != "" {
		w.t.Errorf("the door's span: %+v", door)
	}
	below(tool, "search search")
	below(tool, "store list_repositories")
	run := w.span(func(s otlptest.Span) bool { return s.Name == "run" })
	for _, phase := range []string{"fetch", "list", "text", "symbols", "publish"} {
		below(run, phase)
	}
	added := w.span(func(s otlptest.Span) bool { return s.Name == "enqueue" })
	if added.Attributes["codesage.run"] == "" || run.Attributes["codesage.run"] != added.Attributes["codesage.run"] {
		w.t.Errorf("the run's span %v, that of its request %v", run.Attributes, added.Attributes)
	}
}

// doors checks who may watch.
func (w watched) doors() {
	w.t.Helper()
	login := func(password string) []string {
		q, _ := http.NewRequestWithContext(context.Background(), "GET", w.url, nil)
		q.SetBasicAuth("anyone", password)
		return []string{"Authorization", q.Header.Get("Authorization")}
	}
	for _, path := range []string{"/metrics", "/monitoring", "/monitoring/", "/monitoring/api/queues"} {
		for _, tc := range []struct {
			name    string
			headers []string
			want    int
		}{
			{"nothing", nil, 401}, {"a wrong key", []string{"X-API-Key", "no"}, 401},
			{"the key", []string{"X-API-Key", adminCanary}, 200}, {"the read key", []string{"X-API-Key", readCanary}, 200},
			{"the key as a token", []string{"Authorization", "Bearer " + adminCanary}, 200},
			{"the key as a password", login(adminCanary), 200}, {"the read key as a password", login(readCanary), 200},
		} {
			if status, body := w.get("GET", path, tc.headers...); status != tc.want {
				w.t.Errorf("%s with %s: %d %.100s", path, tc.name, status, body)
			}
		}
	}
	for _, tc := range []struct{ method, path string }{
		{"POST", "/monitoring/api/queues/first:pause"}, {"DELETE", "/monitoring/api/queues/first"}, {"POST", "/metrics"},
	} {
		if status, _ := w.get(tc.method, tc.path, "X-API-Key", adminCanary); status != http.StatusMethodNotAllowed {
			w.t.Errorf("%s %s: %d", tc.method, tc.path, status)
		}
	}
	if status, body := w.get("GET", "/readyz"); status != 200 || !strings.Contains(body, `"queue":"ok"`) {
		w.t.Errorf("readyz: %d %s", status, body)
	}
}

// keepsSecrets checks that nothing that watches tells what it must not.
func (w watched) keepsSecrets() {
	w.t.Helper()
	said := map[string]string{"the traces": w.collector.Text(), "the log": w.log.text()}
	for _, path := range []string{
		"/metrics", "/monitoring/", "/monitoring/api/queues", "/monitoring/api/queues/first/completed_tasks", "/monitoring/api/queues/first/archived_tasks",
		"/monitoring/api/servers", "/monitoring/api/redis_info", "/monitoring/api/queue_stats",
	} {
		status, body := w.get("GET", path, "X-API-Key", readCanary)
		if status != http.StatusOK {
			w.t.Errorf("%s: %d %s", path, status, body)
		}
		said[path] = body
	}
	for where, text := range said {
		for _, secret := range []string{adminCanary, readCanary, gitCanary, hookCanary, queryCanary} {
			if at := strings.Index(text, secret); at >= 0 {
				w.t.Errorf("%s shows %s: …%s…", where, secret, text[max(at-100, 0):min(at+100, len(text))])
			}
		}
	}
	if strings.Contains(said["the traces"], "Alpha") || strings.Contains(said["the traces"], "a.go") {
		w.t.Error("the traces hold names of a repository's files or their content")
	}
}

// Workers listen on no port: the API shows what they did, and who they are.
func TestTheAPIShowsWhatWorkersDid(t *testing.T) {
	t.Parallel()
	team := newTeam(t)
	w := watched{server: team.start("api")}
	team.start("worker")
	team.start("worker")
	for _, session := range []string{"one", "two", "three"} {
		folder := filepath.Join(t.TempDir(), session)
		writeFiles(t, folder, map[string]string{"a.go": "package a\n\nfunc Alpha() {}\n"})
		w.index(folder, session)
	}
	w.eventually("all runs are counted", func() bool { return w.metrics()[`codesage_run_attempts_total{outcome="completed"}`] == 3 })
	w.moved(nil, map[string]float64{
		`codesage_run_phase_seconds_count{phase="publish"}`:  3,
		`codesage_run_files_total{what="parsed"}`:            3,
		`codesage_queue_runs{queue="first",state="waiting"}`: 0,
		`codesage_runs{phase="",status="completed"}`:         3,
		`codesage_up{part="store"}`:                          1,
	})
	if status, body := w.get("GET", "/monitoring/api/servers"); status != http.StatusOK || strings.Count(body, `"pid":`) != 2 {
		t.Errorf("workers: %d %s", status, body)
	}
	team.redis.Crash(t)
	if status, body := w.get("GET", "/monitoring/api/queues"); status != http.StatusServiceUnavailable {
		t.Errorf("without Redis: %d %s", status, body)
	}
	w.moved(nil, map[string]float64{`codesage_up{part="queue"}`: 0, `codesage_up{part="store"}`: 1, `codesage_indexed_files`: 3})
	if status, body := w.get("GET", "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"queue":"unavailable"`) || !strings.Contains(body, `"store":"ok"`) {
		t.Errorf("readyz: %d %s", status, body)
	}
}

func TestLongTextsOfTheLogAreCut(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		var out strings.Builder
		long := strings.Repeat("é", maxLogValue)
		newLog(&out, slog.LevelInfo, format).Info("x"+long, "text", long, "err", fmt.Errorf("read: %s", long), "number", 7)
		if got := out.Len(); got > 4*maxLogValue || got < 3*maxLogValue {
			t.Errorf("%s: a line of %d bytes", format, got)
		}
		if !strings.Contains(out.String(), "number") || strings.Contains(out.String(), "\uFFFD") {
			t.Errorf("%s: %s", format, cmp.Or(out.String(), "nothing"))
		}
	}
}
