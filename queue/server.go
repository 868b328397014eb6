package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"codesage"
)

// ErrCancelled and ErrShutdown are the causes of a handler's context when the
// run was cancelled and when the server shuts down.
var (
	ErrCancelled = errors.New("run cancelled")
	ErrShutdown  = errors.New("worker is shutting down")
)

// Handler works on a run. It records the outcome in the store itself; the error
// is for the queue's own web page.
type Handler func(ctx context.Context, run codesage.RunID) error

// ServerOptions are what a Server needs.
type ServerOptions struct {
	Redis       redis.UniversalClient
	Concurrency int
	Poll        time.Duration // how often an empty queue is looked at; 0 = 1 s
	Handler     Handler
	Log         *slog.Logger
}

// Server takes runs from the queue and gives them to the handler, at most
// Concurrency at a time.
type Server struct {
	options ServerOptions
	asynq   *asynq.Server
	stop    context.CancelCauseFunc
	base    context.Context
	pubsub  *redis.PubSub
	slots   chan struct{} // taken by each handler that is at work

	mu      sync.Mutex
	running map[codesage.RunID]context.CancelCauseFunc
	closed  bool
	done    sync.WaitGroup
}

// NewServer returns a Server that has not started.
func NewServer(o ServerOptions) *Server {
	s := &Server{options: o, slots: make(chan struct{}, o.Concurrency), running: map[codesage.RunID]context.CancelCauseFunc{}}
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.asynq = asynq.NewServerFromRedisClient(o.Redis, asynq.Config{
		Concurrency:              o.Concurrency,
		Queues:                   Queues,
		TaskCheckInterval:        o.Poll,
		DelayedTaskCheckInterval: 5 * time.Second,
		JanitorInterval:          30 * time.Second,
		ShutdownTimeout:          time.Second,
		Logger:                   logger{o.Log},
		LogLevel:                 asynq.WarnLevel,
	})
	return s
}

// Start begins to take runs. It returns once Redis has answered; when that
// fails it may be called again.
func (s *Server) Start(ctx context.Context) error {
	s.pubsub = s.options.Redis.Subscribe(ctx, cancelChannel)
	if _, err := s.pubsub.ReceiveTimeout(ctx, answerTime); err != nil {
		_ = s.pubsub.Close()
		return fmt.Errorf("subscribe to cancels: %w", err)
	}
	s.done.Go(s.listen)
	mux := asynq.NewServeMux()
	mux.HandleFunc(taskType, s.handle)
	if err := s.asynq.Start(mux); err != nil {
		_ = s.pubsub.Close()
		return fmt.Errorf("start queue server: %w", err)
	}
	return nil
}

// Shutdown takes no more runs, cancels those that are going and waits until
// their handlers have returned or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.asynq.Stop()
	s.stop(ErrShutdown)
	s.asynq.Shutdown()
	if s.pubsub != nil {
		_ = s.pubsub.Close()
	}
	finished := make(chan struct{})
	go func() {
		s.done.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for running handlers: %w", ctx.Err())
	}
}

// handle runs the handler under a context of our own: asynq's ends with its
// deadline and with a lost lease, and asynq does not wait for handlers. Nor does
// it count those whose lease is lost, so that we do. A run that waits here for its
// turn is enqueued again by the sweep, for whoever is free.
func (s *Server) handle(_ context.Context, t *asynq.Task) error {
	n, err := strconv.ParseInt(string(t.Payload()), 10, 64)
	if err != nil {
		return fmt.Errorf("task payload is no run id: %w", asynq.SkipRetry)
	}
	id := codesage.RunID(n)
	ctx, cancel := context.WithCancelCause(s.base)
	defer cancel(nil)
	if !s.admit(id, cancel) {
		return nil
	}
	defer s.leave(id)
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil
	}
	if err := s.options.Handler(ctx, id); err != nil {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	return nil
}

// admit registers a run; false when it is running here already or the server
// is closed.
func (s *Server) admit(id codesage.RunID, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.running[id]; twice || s.closed {
		return false
	}
	s.running[id] = cancel
	s.done.Add(1)
	return true
}

func (s *Server) leave(id codesage.RunID) {
	s.mu.Lock()
	delete(s.running, id)
	s.mu.Unlock()
	s.done.Done()
}

// listen cancels runs that are announced on the cancel channel.
func (s *Server) listen() {
	for m := range s.pubsub.Channel() {
		n, err := strconv.ParseInt(m.Payload, 10, 64)
		if err != nil {
			continue
		}
		s.mu.Lock()
		cancel := s.running[codesage.RunID(n)]
		s.mu.Unlock()
		if cancel != nil {
			cancel(ErrCancelled)
		}
	}
}
