package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"codesage"
)

func apiCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "api",
		Short:   "Serve the API for a team; workers index in processes of their own",
		GroupID: "server",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveAPI(cmd.Context(), t) },
	}
}

// serveAPI serves until ctx ends.
func serveAPI(ctx context.Context, t terminal) error {
	s, err := readTeamSetup(t, "api")
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
	return serveHTTP(ctx, p, listener, func(url string) {
		fmt.Fprintf(t.out, "CodeSage API is ready at %s\n", url)
	})
}

func workerCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "worker",
		Short:   "Index for a team; any number of workers share the runs",
		GroupID: "server",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return work(cmd.Context(), t) },
	}
}

// work indexes until ctx ends, then hands back what is going.
func work(ctx context.Context, t terminal) error {
	s, err := readTeamSetup(t, "worker")
	if err != nil {
		return err
	}
	s.needsRedis = true
	p, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer p.close()
	unmark, err := markWorker(p.config.DataDir)
	if err != nil {
		return err
	}
	defer unmark()
	stop, err := startWorker(ctx, p)
	if err != nil {
		return err
	}
	defer stop()
	defer startWatch(ctx, p, false)()
	fmt.Fprintln(t.out, "CodeSage worker is ready")
	<-ctx.Done()
	return nil
}

// readTeamSetup is readSetup for the commands of which several processes share
// a database and a queue.
func readTeamSetup(t terminal, command string) (setup, error) {
	s, err := readSetup(t)
	if err != nil {
		return s, err
	}
	if s.config.DatabaseURL == "" || s.config.RedisURL == "" {
		return s, codesage.Errorf(codesage.KindInvalid,
			"`codesage %s` needs DATABASE_URL and REDIS_URL: SQLite and the in-process queue are for one process, which `codesage serve` is", command)
	}
	return s, nil
}
