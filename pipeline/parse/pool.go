package parse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"codesage"
	"codesage/trace"
)

// Config says how a Pool works. The zero value is usable.
type Config struct {
	Processes int           // parse processes at most; default: one per CPU
	Timeout   time.Duration // for one file; default: 5 s
	Command   []string      // argv of a parse process; default: this program with the argument WorkerCommand
	Log       *slog.Logger  // default: slog.Default()
}

// startTimeout is the time in which a process must greet.
const startTimeout = 30 * time.Second

// Pool parses files in child processes. They are started when they are needed
// and live on; one that dies, or is killed because its file takes too long, is
// replaced when the next file needs it. A Pool is safe for concurrent use.
type Pool struct {
	config   Config
	seats    chan struct{} // one for each process that may be busy
	starts   chan start
	restarts atomic.Int64

	mu   sync.Mutex
	idle []*child // the last used at the end

	closing context.Context
	cancel  context.CancelFunc
	starter sync.WaitGroup
}

type start struct{ reply chan<- started }

type started struct {
	child *child
	err   error
}

var errClosed = codesage.Errorf(codesage.KindUnavailable, "the parser is shut down")

// NewPool returns a pool that has not started any process yet. The caller
// closes it.
func NewPool(config Config) *Pool {
	if config.Processes <= 0 {
		config.Processes = runtime.NumCPU()
	}
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	p := &Pool{config: config, seats: make(chan struct{}, config.Processes), starts: make(chan start)}
	p.closing, p.cancel = context.WithCancel(context.Background())
	p.starter.Go(p.startChildren)
	return p
}

// Restarts returns how many processes were lost so far: died, or were killed
// because a file took too long or its caller went away.
func (p *Pool) Restarts() int64 { return p.restarts.Load() }

// Close ends all processes and waits for them. Files that are being parsed fail.
func (p *Pool) Close() {
	p.cancel()
	for range cap(p.seats) {
		p.seats <- struct{}{}
	}
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.end()
	}
	p.starter.Wait()
	for range cap(p.seats) {
		<-p.seats
	}
}

// Parse returns the entities and spans of one file's text. path is the file's
// path in its repository; its extension tells dialects apart. A file in a
// language without grammar has none. A file that is too large, takes too long
// or kills the parser has the reason in Skip; that is not an error. An error is
// ctx's, or says that no parse process could be started.
func (p *Pool) Parse(ctx context.Context, language string, path string, text []byte) (Result, error) {
	switch {
	case !Supports(language):
		return Result{}, ctx.Err()
	case len(text) > MaxFileBytes:
		return Result{Skip: codesage.SkipParseSize}, ctx.Err()
	case language == markdown:
		entities, truncated := sections(text)
		return Result{Entities: entities, Truncated: truncated}, ctx.Err()
	}
	select {
	case p.seats <- struct{}{}:
		defer func() { <-p.seats }()
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-p.closing.Done():
		return Result{}, errClosed
	}
	q := request{grammar: grammarOf(language, path), limit: p.config.Timeout * 9 / 10, text: text}
	r, crash, err := p.try(ctx, q, p.take)
	if crash == nil || err != nil {
		return r, err
	}
	// An earlier file may have broken that process's heap: ask a fresh one.
	r, crash, err = p.try(ctx, q, p.start)
	switch {
	case crash == nil || err != nil:
	case errors.Is(crash, errMemory):
		r.Skip = codesage.SkipParseSize
	default:
		trace.Log(ctx, p.config.Log).Warn("parser crashed", "path", path, "language", language, "cause", crash)
		r.Skip = codesage.SkipParserCrash
	}
	return r, err
}

// open returns an error when the pool is closed.
func (p *Pool) open() error {
	if p.closing.Err() != nil {
		return errClosed
	}
	return nil
}

// try parses one file in a process that get gives. crash says that the process
// died of it.
func (p *Pool) try(ctx context.Context, q request, get func(context.Context) (*child, error)) (r Result, crash, err error) {
	if err := cmp.Or(ctx.Err(), p.open()); err != nil { // a call that waited for its seat in vain
		return Result{}, nil, err
	}
	c, err := get(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	limited, stop := context.WithTimeout(ctx, p.config.Timeout)
	defer stop()
	unhook := context.AfterFunc(p.closing, stop)
	defer unhook()
	a, err := c.ask(limited, q)
	if err == nil && limited.Err() == nil {
		p.put(c)
		return p.result(ctx, a, q), nil, nil
	}
	p.restarts.Add(1)
	c.kill()
	status := c.wait()
	switch {
	case ctx.Err() != nil:
		return Result{}, nil, ctx.Err()
	case p.closing.Err() != nil:
		return Result{}, nil, errClosed
	case err == nil: // the answer came with the deadline
		return p.result(ctx, a, q), nil, nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return Result{Skip: codesage.SkipParseTimeout}, nil, nil
	}
	return Result{}, c.cause(err, status), nil
}

// result turns an answer into what callers see.
func (p *Pool) result(ctx context.Context, a *answer, q request) Result {
	switch a.status {
	case statusOK:
		return Result{Entities: a.entities, Spans: a.spans, Truncated: a.truncated}
	case statusTimeout:
		return Result{Skip: codesage.SkipParseTimeout}
	case statusMemory:
		return Result{Skip: codesage.SkipParseSize}
	}
	trace.Log(ctx, p.config.Log).Warn("parser failed", "grammar", q.grammar, "cause", a.message)
	return Result{Skip: codesage.SkipParserCrash}
}

// take returns an idle process or starts one.
func (p *Pool) take(ctx context.Context) (*child, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return p.start(ctx)
}

// start starts a process.
func (p *Pool) start(ctx context.Context) (*child, error) {
	reply := make(chan started, 1)
	select {
	case p.starts <- start{reply}:
	case <-p.closing.Done():
		return nil, errClosed
	}
	s := <-reply
	if s.err != nil {
		return nil, s.err
	}
	limited, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	if err := s.child.greet(limited); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return s.child, nil
}

// put returns a process after use.
func (p *Pool) put(c *child) {
	if c.worn() {
		c.end()
		return
	}
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// startChildren starts processes on a thread of its own that lives as long as
// the pool: on Linux a process is killed when the thread that started it ends,
// which is how none is left behind when this program is killed.
func (p *Pool) startChildren() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case s := <-p.starts:
			c, err := p.startOne()
			s.reply <- started{c, err}
		case <-p.closing.Done():
			return
		}
	}
}

func (p *Pool) startOne() (*child, error) {
	argv := p.config.Command
	if len(argv) == 0 {
		program, err := self()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		argv = []string{program, WorkerCommand}
	}
	return startChild(argv)
}
