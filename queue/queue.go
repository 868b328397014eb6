// Package queue hands runs to workers through asynq. A task is a run id and no
// more: the store's row is the truth and the queue a hint, so a task that comes
// twice, too late or not at all does no harm.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"codesage"
)

const (
	taskType      = "index"
	cancelChannel = "codesage:cancel"
	pingKey       = "codesage:ping"
	claimPrefix   = "codesage:claim:"

	// A run is bounded by its own limits; this only keeps asynq from ending one
	// at its default of 30 minutes.
	taskTimeout = 7 * 24 * time.Hour
)

// Queues lists the queues by name with their weights: a first index goes before
// a refresh.
var Queues = map[string]int{string(codesage.PriorityFirst): 6, string(codesage.PriorityRefresh): 2}

// Queue enqueues runs and tells workers to stop. It is safe for concurrent use.
type Queue struct {
	redis     redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
}

// New returns a Queue on a Redis client, which stays the caller's to close.
func New(rdb redis.UniversalClient) *Queue {
	return &Queue{
		redis:     rdb,
		client:    asynq.NewClientFromRedisClient(rdb),
		inspector: asynq.NewInspectorFromRedisClient(rdb),
	}
}

// Enqueue adds a run's task. A run whose attempt waits in the queue already is
// no error. KindUnavailable when Redis can't be reached.
func (q *Queue) Enqueue(ctx context.Context, run codesage.Run) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTime)
	defer cancel()
	if err := q.enqueue(ctx, run); err != nil {
		return &codesage.Error{Kind: codesage.KindUnavailable, Message: "The job queue can't be reached; try again later.", Err: err}
	}
	return nil
}

// enqueue adds a task under the name of the run's attempt. When that name is
// taken by a task that waits, there is nothing to do. One that has ended is out
// of date, and makes room. One that is active belongs to a worker that is about
// to take the run up, or that died before it could: asynq finds that out in a
// minute or two, and a second task, which does no harm, at once.
func (q *Queue) enqueue(ctx context.Context, run codesage.Run) error {
	task := asynq.NewTask(taskType, []byte(strconv.FormatInt(int64(run.ID), 10)))
	queue := string(run.Priority)
	for n := range maxNames {
		id := fmt.Sprintf("%d-%d", run.ID, run.Attempt)
		if n > 0 {
			id = fmt.Sprintf("%s-%d", id, n)
		}
		_, err := q.client.EnqueueContext(ctx, task,
			asynq.TaskID(id), asynq.Queue(queue), asynq.MaxRetry(0), asynq.Timeout(taskTimeout))
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
		there, err := q.inspector.GetTaskInfo(queue, id)
		switch {
		case errors.Is(err, asynq.ErrTaskNotFound):
			return nil // it has just ended; the next sweep sees what came of it
		case err != nil:
			return err
		case there.State == asynq.TaskStateArchived, there.State == asynq.TaskStateCompleted:
			if err := q.inspector.DeleteTask(queue, id); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
				return err
			}
		case there.State != asynq.TaskStateActive:
			return nil
		}
	}
	return nil
}

// maxNames bounds how many tasks one attempt may have.
const maxNames = 8

// enqueueTime bounds how long a request waits for the queue.
const enqueueTime = 4 * time.Second

// Cancel tells whichever worker has the run to stop.
func (q *Queue) Cancel(ctx context.Context, run codesage.RunID) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTime)
	defer cancel()
	if err := q.redis.Publish(ctx, cancelChannel, int64(run)).Err(); err != nil {
		return fmt.Errorf("publish cancel of run %d: %w", run, err)
	}
	return nil
}

// Depth is how many runs wait in a queue, and for how long the oldest has.
type Depth struct {
	Queue   string
	Waiting int
	Active  int
	Age     time.Duration
}

// Depths returns the depth of every one of Queues that has been used.
func (q *Queue) Depths() ([]Depth, error) {
	names, err := q.inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	var depths []Depth
	for _, name := range names {
		if _, ours := Queues[name]; !ours {
			continue
		}
		info, err := q.inspector.GetQueueInfo(name)
		if err != nil {
			return nil, fmt.Errorf("read queue %s: %w", name, err)
		}
		depths = append(depths, Depth{Queue: name, Waiting: info.Pending, Active: info.Active, Age: info.Latency})
	}
	return depths, nil
}

// Worker is a process that takes runs.
type Worker struct {
	Host string
	PID  int
}

// Workers lists the live workers. One that died or hangs is listed for ten
// seconds more.
func (q *Queue) Workers() ([]Worker, error) {
	servers, err := q.inspector.Servers()
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	workers := make([]Worker, len(servers))
	for i, s := range servers {
		workers[i] = Worker{Host: s.Host, PID: s.PID}
	}
	return workers, nil
}

// Ping reports whether Redis answers and takes what is written: one that is full
// or only reads can queue nothing.
func (q *Queue) Ping(ctx context.Context) error {
	if err := q.redis.Set(ctx, pingKey, 1, time.Minute).Err(); err != nil {
		return fmt.Errorf("write to redis: %w", err)
	}
	return nil
}

// Claim reports whether nobody has claimed that within life. Processes that share
// a Redis claim what one of them is to do.
func (q *Queue) Claim(ctx context.Context, what string, life time.Duration) (first bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTime)
	defer cancel()
	if first, err = q.redis.SetNX(ctx, claimPrefix+what, 1, life).Result(); err != nil {
		return false, fmt.Errorf("claim %s: %w", what, err)
	}
	return first, nil
}

// logger passes asynq's lines on. Closing a client that shares its connection
// is an error to asynq and none to us.
type logger struct{ log *slog.Logger }

func (l logger) Debug(args ...any) { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Info(args ...any)  { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Warn(args ...any)  { l.log.Warn(fmt.Sprint(args...)) }
func (l logger) Error(args ...any) { l.log.Error(fmt.Sprint(args...)) }
func (l logger) Fatal(args ...any) { l.log.Error(fmt.Sprint(args...)) }
