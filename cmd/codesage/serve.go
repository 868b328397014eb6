package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api"
	"codesage/config"
	"codesage/tools"
)

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
	s, err := readSetup(t)
	if err != nil {
		return err
	}
	listener, err := listen(s.config)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer p.close()
	if err := writeKey(p.config.DataDir, p.config.APIKey); err != nil {
		return err
	}
	stopWorker, err := startWorker(ctx, p)
	if err != nil {
		return err
	}
	defer stopWorker()
	defer startWatch(ctx, p, true)()
	return serveHTTP(ctx, p, listener, func(url string) {
		fmt.Fprintf(t.out, "CodeSage is ready at %s (data in %s). Press Ctrl-C to stop.\n", url, p.config.DataDir)
	})
}

// setup is the configuration of a server command that begins.
type setup struct {
	config     config.Config
	log        *slog.Logger
	needsRedis bool // the command can do nothing without, and waits
}

// readSetup reads the configuration and says in the log what it holds.
func readSetup(t terminal) (setup, error) {
	c, env, file, err := serverConfig(t.getenv)
	if err != nil {
		return setup{}, err
	}
	log := newLog(t.err, c.LogLevel, c.LogFormat)
	if file != "" {
		log.Info("read settings from the working folder", "file", file)
	}
	log.Info("starting", append([]any{"version", versionText()}, config.Redacted(env)...)...)
	for _, doubt := range c.Doubts() {
		log.Warn(doubt)
	}
	return setup{config: c, log: log}, nil
}

// open takes the data folder and opens all parts. The caller closes them.
func (s setup) open(ctx context.Context) (*parts, error) {
	kind := lockAlone
	if s.config.DatabaseURL != "" {
		kind = lockShared
	}
	dir, err := openDataDir(s.config.DataDir, kind)
	if err != nil {
		return nil, err
	}
	if dir.openToOthers() {
		s.log.Warn("the data folder can be entered by other users of this machine; chmod 700 keeps it for this one", "folder", s.config.DataDir)
	}
	p, err := assemble(ctx, s.config, s.log)
	if err != nil {
		dir.close()
		return nil, err
	}
	p.closers = append([]func() error{func() error { dir.close(); return nil }}, p.closers...)
	if s.config.RedisURL == "" {
		return p, nil
	}
	if err := p.watchFolder(ctx, s); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// watchFolder compares the data folder with that of the others, now and until
// the parts are closed.
func (p *parts) watchFolder(ctx context.Context, s setup) error {
	p.folder = p.sharedFolder()
	if s.needsRedis {
		if err := p.folder.waitForRedis(ctx); err != nil {
			return err
		}
	}
	stop, err := p.folder.watch(ctx)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, func() error { stop(); return nil })
	return nil
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
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// handler returns the API over these parts.
func (p *parts) handler(closing <-chan struct{}) http.Handler {
	c := p.config
	limits := api.Limits{AI: c.RateLimitAI, Default: c.RateLimitDefault}
	if !c.RateLimiting {
		limits = api.Limits{}
	}
	engine := p.engine
	if engine == nil {
		engine = noSearch{}
	}
	checks := map[string]func(context.Context) error{"queue": p.queue.Ping}
	if p.folder != nil {
		checks["data folder"] = p.folder.ready
	}
	return p.newAPI(api.Deps{
		Store:    p.store,
		Catalog:  p.catalog,
		Engine:   engine,
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
		Folders:  len(localRoots(c)) > 0,
		Redis:    p.redis,
		Checks:   checks,
		Webhooks: p.webhooks(),
		Closing:  closing,
		Log:      p.log,
	})
}
