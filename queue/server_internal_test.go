package queue

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"codesage"
)

// Asynq gives out another task for each whose lease ran out while Redis was away,
// though its handler goes on.
func TestNoMoreRunsAreHandledThanAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"}) // is not asked anything
		defer rdb.Close()
		started, release := make(chan codesage.RunID, 3), make(chan struct{})
		goOn := sync.OnceFunc(func() { close(release) })
		defer goOn()
		s := NewServer(ServerOptions{
			Redis: rdb, Concurrency: 1, Log: slog.New(slog.DiscardHandler),
			Handler: func(_ context.Context, id codesage.RunID) error {
				started <- id
				<-release
				return nil
			},
		})
		hand := func(id codesage.RunID) (ended chan error) {
			ended = make(chan error, 1)
			task := asynq.NewTask(taskType, []byte(strconv.FormatInt(int64(id), 10)))
			go func() { ended <- s.handle(context.Background(), task) }()
			synctest.Wait()
			return ended
		}
		first, second, third := hand(1), hand(2), hand(3)
		if len(started) != 1 || <-started != 1 {
			t.Fatal("a run was handled beside the one that is allowed")
		}
		s.running[2](ErrCancelled)
		if err := <-second; err != nil {
			t.Errorf("a run that was cancelled while it waited: %v", err)
		}
		goOn()
		if err := <-first; err != nil || <-started != 3 || <-third != nil {
			t.Errorf("the next run: %v", err)
		}
		if len(started) != 0 || len(s.running) != 0 {
			t.Errorf("%d more were handled, %d are left", len(started), len(s.running))
		}
	})
}
