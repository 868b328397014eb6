package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api"
	"codesage/config"
	"codesage/queue"
	"codesage/tools"
)

// queuePoll is how often an idle in-process worker looks for runs.
const queuePoll = 200 * time.Millisecond

// shutdownTime is how long requests and runs may take to end.
const shutdownTime = 15 * time.Second

func serveCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "Serve the API and index, in one process with nothing to install",
		GroupID: "server",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), t)
		},
	}
}

// serve runs API and worker in this process until ctx ends.
func serve(ctx context.Context, t terminal) error {
	c, env, file, err := serverConfig(t.getenv)
	if err != nil {
		return err
	}
	log := newLog(t.err, c.LogLevel, c.LogFormat)
	if file != "" {
		log.Info("read settings from the working folder", "file", file)
	}
	log.Info("starting", append([]any{"version", versionText()}, config.Redacted(env)...)...)
	listener, err := listen(c)
	if err != nil {
		return err
	}
	defer listener.Close()
	dir, err := openDataDir(c.DataDir)
	if err != nil {
		return err
	}
	defer dir.close()
	if err := dir.writeKey(c.APIKey); err != nil {
		return err
	}
	p, err := assemble(ctx, c, log)
	if err != nil {
		return err
	}
	defer p.close()
	stopWorker, err := startWorker(ctx, p)
	if err != nil {
		return err
	}
	defer stopWorker()
	return serveHTTP(ctx, p, listener, func(url string) {
		fmt.Fprintf(t.out, "CodeSage is ready at %s (data in %s). Press Ctrl-C to stop.\n", url, c.DataDir)
	})
}

// listen takes the configured address.
func listen(c config.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", c.Address())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, codesage.Errorf(codesage.KindConflict,
			"%s is taken by another program (perhaps another codesage serve); stop it, or set CODESAGE_PORT to another port", c.Address())
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; set CODESAGE_HOST and CODESAGE_PORT to an address of this machine", c.Address(), err)
	}
	return l, nil
}

// startWorker takes up what an earlier process left and begins to work. The
// returned function stops it and waits.
func startWorker(ctx context.Context, p *parts) (stop func(), err error) {
	sweeper, refresher := p.sweeper(), p.refresher()
	server := queue.NewServer(queue.ServerOptions{
		Redis:       p.redis,
		Concurrency: p.config.WorkerConcurrency,
		Poll:        queuePoll,
		Handler:     p.worker(sweeper, refresher).Handle,
		Log:         p.log,
	})
	if err := sweeper.Adopt(ctx); err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, err
	}
	sweeping, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { sweeper.Run(sweeping) })
	if refresher != nil {
		done.Go(func() { refresher.Run(sweeping) })
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

// serveHTTP serves until ctx ends, then lets requests finish.
func serveHTTP(ctx context.Context, p *parts, l net.Listener, ready func(url string)) error {
	closing := make(chan struct{})
	server := &http.Server{
		Handler:           p.handler(closing),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	ready("http://" + strings.Replace(l.Addr().String(), "[::]", "127.0.0.1", 1))
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	close(closing)
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(wait); err != nil {
		_ = server.Close()
	}
	<-failed
	return nil
}

// handler returns the API over these parts.
func (p *parts) handler(closing <-chan struct{}) http.Handler {
	c := p.config
	limits := api.Limits{AI: c.RateLimitAI, Default: c.RateLimitDefault}
	if !c.RateLimiting {
		limits = api.Limits{}
	}
	return api.New(api.Deps{
		Store:    p.store,
		Catalog:  p.catalog,
		Engine:   p.index,
		Toolsets: []tools.Set{p.repositories(), p.sessions()},
		Name:     c.ServerName,
		Version:  c.ServerVersion,
		Access: api.Access{
			Key:            c.APIKey,
			ReadKey:        c.ReadKey,
			AllowedHosts:   c.AllowedHosts,
			CORSOrigins:    c.CORSOrigins,
			TrustedProxies: c.TrustedProxies,
		},
		Limits:   limits,
		Redis:    p.redis,
		Checks:   map[string]func(context.Context) error{"queue": p.queue.Ping},
		Webhooks: p.webhooks(),
		Closing:  closing,
		Log:      p.log,
	})
}
