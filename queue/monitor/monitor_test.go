package monitor_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/queue"
	"codesage/queue/monitor"
	"codesage/queue/redistest"
)

// onEach runs a test on a Redis in the process and on a real one, each with one
// run that waits and one foreign task.
func onEach(t *testing.T, test func(t *testing.T, get func(method, path string) *httptest.ResponseRecorder)) {
	t.Helper()
	with := func(t *testing.T, rdb redis.UniversalClient) {
		if err := queue.New(rdb).Enqueue(t.Context(), codesage.Run{ID: 41, Priority: codesage.PriorityFirst}); err != nil {
			t.Fatal(err)
		}
		foreign := asynq.NewTask("index", []byte(`{"token":"S3cr3t"}`))
		if _, err := asynq.NewClientFromRedisClient(rdb).Enqueue(foreign, asynq.Queue("first")); err != nil {
			t.Fatal(err)
		}
		ui, err := monitor.New(rdb)
		if err != nil {
			t.Fatal(err)
		}
		test(t, func(method, path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			ui.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			return w
		})
	}
	t.Run("in process", func(t *testing.T) {
		rdb := queue.NewEmbedded()
		t.Cleanup(func() { _ = rdb.Close() })
		with(t, rdb)
	})
	t.Run("server", func(t *testing.T) {
		rdb, err := queue.Connect(redistest.Start(t).URL, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rdb.Close() })
		with(t, rdb)
	})
}

// reference finds what a page loads.
var reference = regexp.MustCompile(`(?:src|href)="([^"]*)"`)

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, get func(method, path string) *httptest.ResponseRecorder) {
		for _, path := range []string{"/monitoring/", "/monitoring/queues/first", "/monitoring/no/such/page"} {
			page := get("GET", path)
			body, policy := page.Body.String(), page.Header().Get("Content-Security-Policy")
			if page.Code != 200 || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") || !strings.Contains(body, `<div id="root">`) {
				t.Fatalf("%s: %d %s", path, page.Code, page.Header())
			}
			if strings.Contains(body, "//fonts.") || strings.Contains(body, "http://") || strings.Contains(body, "https://") {
				t.Errorf("%s names another server", path)
			}
			if strings.Contains(policy, "http") || strings.Contains(policy, "*") || !strings.Contains(policy, "script-src 'self' 'sha256-") ||
				strings.Count(policy, "sha256-") != 2 || !strings.Contains(policy, "connect-src 'self';") {
				t.Errorf("policy of %s: %s", path, policy)
			}
			found := reference.FindAllStringSubmatch(body, -1)
			if len(found) < 6 {
				t.Errorf("%s has %d references", path, len(found))
			}
			for _, m := range found {
				file := get("GET", m[1])
				kind := file.Header().Get("Content-Type")
				if !strings.HasPrefix(m[1], "/monitoring/") || file.Code != 200 || file.Body.Len() == 0 || strings.HasPrefix(kind, "text/html") {
					t.Errorf("%s: %d %s", m[1], file.Code, kind)
				}
				if strings.HasSuffix(m[1], ".js") && !strings.HasPrefix(kind, "application/javascript") {
					t.Errorf("%s is %s, which no browser runs", m[1], kind)
				}
			}
		}
	})
}

func TestTheQueueIsShownAndCannotBeChanged(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, get func(method, path string) *httptest.ResponseRecorder) {
		for path, want := range map[string]string{
			"/monitoring/api/queues":                     `"queue":"first"`,
			"/monitoring/api/queues/first":               `"size":2`,
			"/monitoring/api/queues/first/pending_tasks": `"payload":"41"`,
			"/monitoring/api/queues/first/tasks/41-0":    `"payload":"41"`,
			"/monitoring/api/queue_stats":                `"stats"`,
			"/monitoring/api/redis_info":                 `"raw_info"`,
			"/monitoring/api/servers":                    `"servers"`,
			"/monitoring/api/scheduler_entries":          `"entries"`,
		} {
			got := get("GET", path)
			if got.Code != 200 || !strings.Contains(got.Body.String(), want) || got.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s %s", path, got.Code, got.Header().Get("Content-Type"), got.Body)
			}
			if strings.Contains(got.Body.String(), "S3cr3t") {
				t.Errorf("%s shows the payload of a foreign task: %s", path, got.Body)
			}
		}
		for _, try := range []struct{ method, path string }{
			{"POST", "/monitoring/api/queues/first:pause"},
			{"DELETE", "/monitoring/api/queues/first"},
			{"DELETE", "/monitoring/api/queues/first/pending_tasks/41-0"},
			{"POST", "/monitoring/api/queues/first/pending_tasks:archive_all"},
			{"PUT", "/monitoring/"},
		} {
			if got := get(try.method, try.path); got.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", try.method, try.path, got.Code)
			}
		}
		if got := get("GET", "/monitoring/api/queues/first"); !strings.Contains(got.Body.String(), `"paused":false`) || !strings.Contains(got.Body.String(), `"size":2`) {
			t.Errorf("the queue was changed: %s", got.Body)
		}
		if got := get("GET", "/monitoring"); got.Code != http.StatusFound || got.Header().Get("Location") != "/monitoring/" {
			t.Errorf("/monitoring: %d %s", got.Code, got.Header())
		}
		for _, path := range []string{"/monitoring/api/queues/nowhere", "/monitoring/api/queues/nowhere/pending_tasks", "/monitoring/api/queues/first/tasks/1-0"} {
			if got := get("GET", path); got.Code != http.StatusNotFound {
				t.Errorf("%s: %d %s", path, got.Code, got.Body)
			}
		}
		if got := get("GET", "/monitoring/api/metrics"); got.Code != http.StatusNotFound {
			t.Errorf("metrics of a Prometheus server: %d", got.Code)
		}
	})
}

func TestAQueueThatIsAwayIsSaidSo(t *testing.T) {
	t.Parallel()
	rdb := queue.NewEmbedded()
	ui, err := monitor.New(rdb)
	if err != nil {
		t.Fatal(err)
	}
	_ = rdb.Close()
	w := httptest.NewRecorder()
	ui.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/monitoring/api/queues", nil))
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != "The job queue can't be reached; try again later.\n" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
