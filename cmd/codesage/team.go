package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/config"
	"codesage/queue"
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
	p, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer p.close()
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

func healthCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:       "health <api|worker>",
		Short:     "Tell by the exit code whether this machine's API or worker is well; for container checks",
		Hidden:    true,
		ValidArgs: []string{"api", "worker"},
		Args:      arguments(1, "api or worker"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, _, err := serverConfig(t.getenv)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTime)
			defer cancel()
			switch args[0] {
			case "api":
				return checkAPI(ctx, c)
			case "worker":
				return checkWorker(c, newLog(t.err, c.LogLevel, c.LogFormat))
			}
			return usageError{fmt.Errorf("%s is neither api nor worker", args[0])}
		},
	}
}

// healthTime bounds a check.
const healthTime = 8 * time.Second

// checkAPI asks the API on this machine whether all its parts answer.
func checkAPI(ctx context.Context, c config.Config) error {
	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", c.Port)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the API is not ready: %s says %s", url, res.Status)
	}
	return nil
}

// checkWorker looks for the heartbeat of this machine's worker in Redis.
func checkWorker(c config.Config, log *slog.Logger) error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the name of this machine: %w", err)
	}
	client, err := queue.Connect(c.RedisURL, log)
	if err != nil {
		return err
	}
	defer client.Close()
	hosts, err := queue.New(client).Hosts()
	if err != nil {
		return err
	}
	if !slices.Contains(hosts, name) {
		return fmt.Errorf("no worker of %s has shown itself for ten seconds", name)
	}
	return nil
}
