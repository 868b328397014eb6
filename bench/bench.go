// Package bench asks a server with many clients at once and measures how long
// its answers take.
package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"codesage/api/client"
)

// A Question makes a call; r decides what is asked.
type Question func(r *rand.Rand) client.Call

// Options say how a server is asked.
type Options struct {
	Dial     func() (*client.Client, error) // one for each client, which closes it
	Clients  int
	Duration time.Duration // no call begins later, but for each client's first

	// Progress, when set, is told every so often how many calls had an answer and
	// how many had none, and not after Run has returned.
	Progress func(answered, failed int)
	Every    time.Duration
}

// pauseTime is how long a client waits after a call that went wrong or met the
// rate limit: a server that refuses is not asked as fast as it refuses.
const pauseTime = time.Second

// Run lets all clients ask questions, which each takes at random, and returns
// what came of it. Calls that are under way at the end are waited for. When ctx
// ends they are not, and the report is of those before.
func Run(ctx context.Context, questions []Question, o Options) (Report, error) {
	clients := make([]*client.Client, o.Clients)
	for i := range clients {
		c, err := o.Dial()
		if err != nil {
			return Report{}, err
		}
		defer c.Close()
		clients[i] = c
	}
	began := time.Now()
	asking, cancel := context.WithTimeout(ctx, o.Duration)
	defer cancel()
	counts := newTally()
	var clientsDone, progressDone sync.WaitGroup
	for i, c := range clients {
		clientsDone.Go(func() {
			ask(ctx, asking, c, questions, rand.New(rand.NewPCG(1, uint64(i))), counts)
		})
	}
	if o.Progress != nil {
		progressDone.Go(func() { tell(asking, counts, o) })
	}
	clientsDone.Wait()
	cancel()
	progressDone.Wait()
	return counts.report(o.Clients, time.Since(began)), nil
}

// ask is what one client does. Calls end with ctx, and none begins after asking.
func ask(ctx, asking context.Context, c *client.Client, questions []Question, r *rand.Rand, counts *tally) {
	for {
		call := questions[r.IntN(len(questions))](r)
		began := time.Now()
		answer, err := c.CallTool(ctx, call)
		took := time.Since(began)
		if ctx.Err() != nil {
			return // whatever err is, it is not the server's
		}
		if !counts.add(call.Tool, took, answer, err) {
			pause(asking)
		}
		if asking.Err() != nil {
			return
		}
	}
}

func pause(ctx context.Context) {
	timer := time.NewTimer(pauseTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// tell tells the progress until ctx ends.
func tell(ctx context.Context, counts *tally, o Options) {
	ticker := time.NewTicker(o.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			o.Progress(counts.sums())
		case <-ctx.Done():
			return
		}
	}
}
