package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/queue"
	"codesage/queue/redistest"
)

const patience = 20 * time.Second

// onEach runs a test on a Redis in the process and on a real one.
func onEach(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		rdb := queue.NewEmbedded()
		t.Cleanup(func() { _ = rdb.Close() })
		test(t, rdb)
	})
	t.Run("server", func(t *testing.T) {
		test(t, connect(t, redistest.Start(t).URL))
	})
}

func connect(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	rdb, err := queue.Connect(url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// start runs a server whose handler passes each run to the returned channel and
// then waits for release or the end of its context.
func start(t *testing.T, rdb redis.UniversalClient, concurrency int) (q *queue.Queue, started chan codesage.RunID, ended chan error, release chan struct{}, s *queue.Server) {
	t.Helper()
	started, ended, release = make(chan codesage.RunID, 1000), make(chan error, 1000), make(chan struct{})
	s = queue.NewServer(queue.ServerOptions{
		Redis: rdb, Concurrency: concurrency, Poll: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Handler: func(ctx context.Context, run codesage.RunID) error {
			started <- run
			select {
			case <-release:
				ended <- nil
			case <-ctx.Done():
				ended <- context.Cause(ctx)
			}
			return nil
		},
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return queue.New(rdb), started, ended, release, s
}

func receive[T any](t *testing.T, c chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func shutdown(t *testing.T, s *queue.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func run(id codesage.RunID, attempt int, p codesage.Priority) codesage.Run {
	return codesage.Run{ID: id, Attempt: attempt, Priority: p}
}

func TestTheSameAttemptRunsOnce(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q, started, _, release, s := start(t, rdb, 4)
		for range 3 {
			if err := q.Enqueue(t.Context(), run(7, 0, codesage.PriorityFirst)); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Enqueue(t.Context(), run(8, 0, codesage.PriorityRefresh)); err != nil {
			t.Fatal(err)
		}
		got := map[codesage.RunID]int{receive(t, started): 1}
		got[receive(t, started)]++
		if got[7] != 1 || got[8] != 1 {
			t.Errorf("started %v", got)
		}
		waitUntil(t, func() bool { // what was enqueued twice has been turned away
			waiting, active := load(t, q)
			return waiting == 0 && active == 2
		})
		close(release)
		shutdown(t, s)
		if len(started) != 0 {
			t.Errorf("run %d started again", <-started)
		}
	})
}

func TestAFinishedAttemptCanBeEnqueuedAgain(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q, started, ended, release, s := start(t, rdb, 1)
		defer shutdown(t, s)
		close(release)
		for range 2 {
			if err := q.Enqueue(t.Context(), run(7, 0, codesage.PriorityFirst)); err != nil {
				t.Fatal(err)
			}
			receive(t, started)
			receive(t, ended)
			waitUntil(t, func() bool {
				waiting, active := load(t, q)
				return waiting+active == 0
			})
		}
	})
}

func TestCancelReachesTheHandler(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q, started, ended, _, s := start(t, rdb, 2)
		defer shutdown(t, s)
		if err := q.Enqueue(t.Context(), run(3, 1, codesage.PriorityFirst)); err != nil {
			t.Fatal(err)
		}
		receive(t, started)
		if err := q.Cancel(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		if cause := receive(t, ended); !errors.Is(cause, queue.ErrCancelled) {
			t.Errorf("got %v", cause)
		}
	})
}

func TestShutdownWaitsForHandlers(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q, started, ended, _, s := start(t, rdb, 2)
		if err := q.Enqueue(t.Context(), run(3, 1, codesage.PriorityFirst)); err != nil {
			t.Fatal(err)
		}
		receive(t, started)
		shutdown(t, s)
		if len(ended) != 1 {
			t.Fatal("shutdown returned before the handler")
		}
		if cause := <-ended; !errors.Is(cause, queue.ErrShutdown) {
			t.Errorf("got %v", cause)
		}
	})
}

// TestAFirstIndexGoesBeforeARefresh enqueues so many runs that the draw by the
// weights of the queues does not matter: of 100 runs 75 are first indexes, give
// or take 4.
func TestOneProcessOfManyHasAClaim(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		claim := func(what string, life time.Duration) bool {
			t.Helper()
			first, err := queue.New(rdb).Claim(t.Context(), what, life)
			if err != nil {
				t.Fatal(err)
			}
			return first
		}
		if !claim("a", time.Hour) || claim("a", time.Hour) || !claim("b", time.Millisecond) {
			t.Error("a claim is taken by the first alone")
		}
		ticker, limit := time.NewTicker(5*time.Millisecond), time.After(patience)
		defer ticker.Stop()
		for !claim("b", time.Hour) {
			select {
			case <-ticker.C:
			case <-limit:
				t.Fatal("a claim never ends")
			}
		}
	})
}

func TestAFirstIndexGoesBeforeARefresh(t *testing.T) {
	const each = 100
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q, started, _, release, s := start(t, rdb, 1)
		defer shutdown(t, s)
		if err := q.Enqueue(t.Context(), run(1, 0, codesage.PriorityFirst)); err != nil {
			t.Fatal(err)
		}
		receive(t, started)
		for id := codesage.RunID(10); id < 10+2*each; id++ {
			p := codesage.PriorityRefresh
			if id >= 10+each {
				p = codesage.PriorityFirst
			}
			if err := q.Enqueue(t.Context(), run(id, 0, p)); err != nil {
				t.Fatal(err)
			}
		}
		close(release)
		first := 0
		for range each {
			if receive(t, started) >= 10+each {
				first++
			}
		}
		if first <= each/2 {
			t.Errorf("of the first %d runs %d were first indexes", each, first)
		}
	})
}

// What else may be in Redis is none of the server's business, nor a label of its
// metrics.
func TestOnlyTheServersQueuesHaveADepth(t *testing.T) {
	onEach(t, func(t *testing.T, rdb redis.UniversalClient) {
		q := queue.New(rdb)
		if err := q.Enqueue(t.Context(), run(7, 0, codesage.PriorityFirst)); err != nil {
			t.Fatal(err)
		}
		if err := rdb.SAdd(t.Context(), "asynq:queues", "another", "\xff").Err(); err != nil {
			t.Fatal(err)
		}
		depths, err := q.Depths()
		if err != nil || len(depths) != 1 || depths[0].Queue != "first" || depths[0].Waiting != 1 {
			t.Errorf("got %+v, %v", depths, err)
		}
	})
}

// load counts the runs that wait and those that workers have.
func load(t *testing.T, q *queue.Queue) (waiting, active int) {
	t.Helper()
	depths, err := q.Depths()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range depths {
		waiting, active = waiting+d.Waiting, active+d.Active
	}
	return waiting, active
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the condition did not come true")
		}
	}
}
