package queue

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Embedded is a Redis inside this process: no port, nothing that another
// process can reach, gone with the process.
type Embedded struct {
	*redis.Client
	server *miniredis.Miniredis
	stop   chan struct{}
	done   sync.WaitGroup
	once   sync.Once
}

// NewEmbedded starts an in-process Redis and returns a client of it.
func NewEmbedded() *Embedded {
	server := miniredis.NewMiniRedis()
	e := &Embedded{
		server: server,
		stop:   make(chan struct{}),
		Client: redis.NewClient(&redis.Options{
			Addr:   "in-process",
			Dialer: func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
		}),
	}
	e.done.Go(e.tick)
	return e
}

// tick moves the server's clock: keys expire only when it is told that time has
// passed. Its own clock option walks every key on every command.
func (e *Embedded) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-e.stop:
			return
		case now := <-ticker.C:
			e.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Close stops the server and its client. A second call does nothing.
func (e *Embedded) Close() error {
	var err error
	e.once.Do(func() {
		close(e.stop)
		e.done.Wait()
		err = e.Client.Close()
		e.server.Close()
	})
	return err
}
