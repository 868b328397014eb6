package queue_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"codesage"
	"codesage/queue"
	"codesage/queue/redistest"
)

func TestAddressesAreCheckedWithoutShowingThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:hunter2@host:port", "http://:hunter2@host:1", "redis://:hunter2@host:1/x", "redis://:hunter2@ho st:1",
		"redis://:hunter2#@host:1", "redis://:hunter2/@host:1", "redis://:hunter2%@host:1", "redis://bob:1/hunter2@host:1", "redis://bob:1@hunter2/@host:1", "redis://bob:1?hunter2@host:1"} {
		if got := queue.Host(url); strings.Contains(got, "hunter2") {
			t.Errorf("host %q of %s", got, url)
		}
		_, err := queue.Connect(url, slog.New(slog.DiscardHandler))
		if codesage.KindOf(err) != codesage.KindInvalid || !strings.Contains(err.Error(), "REDIS_URL") {
			t.Errorf("%s: got %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the password is shown: %v", url, err)
		}
	}
}

func TestARedisThatRefusesIsToldFromOneThatIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.StartPrivate(t)
	for _, tc := range []struct {
		name, url string
		want      codesage.Kind
	}{
		{"right", server.URL, ""},
		{"wrong password", strings.Replace(server.URL, ":secret@", ":hunter2@", 1), codesage.KindInvalid},
		{"no password", strings.Replace(server.URL, ":secret@", "", 1), codesage.KindInvalid},
		{"no such user", strings.Replace(server.URL, ":secret@", "somebody:hunter2@", 1), codesage.KindInvalid},
		{"no such database", strings.TrimSuffix(server.URL, "0") + "999", codesage.KindInvalid},
		{"away", "redis://:hunter2@127.0.0.1:1", ""},
	} {
		err := queue.CheckAccess(t.Context(), connect(t, tc.url))
		if got := codesage.KindOf(err); got != tc.want {
			t.Errorf("%s: got kind %q of %v, want %q", tc.name, got, err, tc.want)
		}
		if err != nil && (strings.Contains(codesage.Detail(err), "hunter2") || !strings.Contains(err.Error(), "REDIS_URL")) {
			t.Errorf("%s: got %s", tc.name, codesage.Detail(err))
		}
	}
	if got, want := queue.Host(server.URL), server.URL[strings.Index(server.URL, "@")+1:]; got+"/0" != want {
		t.Errorf("host %q of %s", got, want)
	}
}

func TestARedisThatIsAwayIsUnavailableAndFoundAgain(t *testing.T) {
	server := redistest.StartPrivate(t)
	rdb := connect(t, server.URL)
	q, started, _, release, s := start(t, rdb, 2)
	server.Crash(t)
	began := time.Now()
	if err := q.Enqueue(t.Context(), run(1, 0, codesage.PriorityFirst)); codesage.KindOf(err) != codesage.KindUnavailable {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer took %s", took)
	}
	server.Restart(t)
	waitUntil(t, func() bool { return q.Enqueue(t.Context(), run(1, 0, codesage.PriorityFirst)) == nil })
	if got := receive(t, started); got != 1 {
		t.Errorf("got run %d", got)
	}
	close(release)
	shutdown(t, s)
}

// A worker that is killed between taking a task and taking up its run leaves
// the task active under the name that the next sweep uses.
func TestATaskThatADeadWorkerTookDoesNotBlockItsRun(t *testing.T) {
	server := redistest.Start(t)
	rdb := connect(t, server.URL)
	first := queue.New(rdb)
	if err := first.Enqueue(t.Context(), run(4, 0, codesage.PriorityFirst)); err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{})
	dead := asynq.NewServerFromRedisClient(connect(t, server.URL), asynq.Config{
		ShutdownTimeout: time.Second,
		Queues:          queue.Queues, TaskCheckInterval: 20 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	never := make(chan struct{})
	t.Cleanup(func() {
		close(never)
		dead.Shutdown()
	})
	if err := dead.Start(asynq.HandlerFunc(func(_ context.Context, _ *asynq.Task) error {
		close(taken)
		<-never
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	receive(t, taken)
	dead.Stop()
	q, started, _, release, s := start(t, rdb, 2)
	for range 3 { // several sweeps
		if err := q.Enqueue(t.Context(), run(4, 0, codesage.PriorityFirst)); err != nil {
			t.Fatal(err)
		}
	}
	if got := receive(t, started); got != 4 {
		t.Errorf("got run %d", got)
	}
	close(release)
	shutdown(t, s)
}

func TestPingFindsARedisThatTakesNothing(t *testing.T) {
	t.Parallel()
	server := redistest.StartPrivate(t)
	client := connect(t, server.URL)
	q := queue.New(client)
	if err := q.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := q.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("a Redis that is full: %v", err)
	}
}
