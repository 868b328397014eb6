package main

import (
	"context"
	"sync"
	"time"

	"codesage"
	"codesage/queue"
)

// How often an idle worker looks for runs: in this process and over a network.
const (
	queuePoll       = 200 * time.Millisecond
	sharedQueuePoll = 500 * time.Millisecond
)

// redisLook is how often a worker looks whether Redis is back.
const redisLook = 2 * time.Second

// startWorker takes up what an earlier process left and begins to work, as soon
// as Redis answers. The returned function stops it and waits: runs that are
// going are handed back.
func startWorker(ctx context.Context, p *parts) (stop func(), err error) {
	sweeper, refresher := p.sweeper(), p.refresher()
	poll := queuePoll
	if p.config.RedisURL != "" {
		poll = sharedQueuePoll
	}
	server := queue.NewServer(queue.ServerOptions{
		Redis:       p.redis,
		Concurrency: p.config.WorkerConcurrency,
		Poll:        poll,
		Handler:     p.worker(sweeper, refresher).Handle,
		Log:         p.log,
	})
	if p.alone() {
		// What can't be enqueued now is by the sweep.
		if err := sweeper.Adopt(ctx); err != nil && codesage.KindOf(err) != codesage.KindUnavailable {
			return nil, err
		}
	}
	running, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { takeRuns(running, p, server) })
	done.Go(func() { sweeper.Run(running) })
	if refresher != nil {
		done.Go(func() { refresher.Run(running) })
	}
	return func() {
		cancel()
		done.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			p.log.Warn("stop the worker", "err", err)
		}
	}, nil
}

// takeRuns starts the queue's server, again and again until Redis answers.
func takeRuns(ctx context.Context, p *parts, server *queue.Server) {
	ticker := time.NewTicker(redisLook)
	defer ticker.Stop()
	for w := (waiting{}); ; {
		err := server.Start(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		w.tell(p.log, "waiting for Redis", "host", queue.Host(p.config.RedisURL), "err", err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
