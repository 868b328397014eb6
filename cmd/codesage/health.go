package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codesage/config"
	"codesage/queue"
)

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
	return checkReady(ctx, fmt.Sprintf("http://127.0.0.1:%d", c.Port))
}

// checkReady asks an API whether all its parts answer; the error names those
// that don't.
func checkReady(ctx context.Context, base string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var answer struct{ Parts map[string]string }
	_ = json.NewDecoder(io.LimitReader(res.Body, 4096)).Decode(&answer) // a proxy may answer otherwise
	var away []string
	for part, state := range answer.Parts {
		if state != "ok" {
			away = append(away, part)
		}
	}
	slices.Sort(away)
	return fmt.Errorf("the API at %s is not ready: %s %s", base, res.Status, strings.Join(away, ", "))
}

// checkWorker looks for the heartbeats of this machine's workers in Redis. All
// that run must be there: one that hangs is not hidden by another beside it.
func checkWorker(c config.Config, log *slog.Logger) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the name of this machine: %w", err)
	}
	running, err := markedWorkers(c.DataDir, host)
	if err != nil {
		return err
	}
	if len(running) == 0 {
		return fmt.Errorf("no worker runs on %s with the data folder %s", host, c.DataDir)
	}
	client, err := queue.Connect(c.RedisURL, log)
	if err != nil {
		return err
	}
	defer client.Close()
	alive, err := queue.New(client).Workers()
	if err != nil {
		return err
	}
	for _, pid := range running {
		if !slices.Contains(alive, queue.Worker{Host: host, PID: pid}) {
			return fmt.Errorf("worker %d of %s has not shown itself for ten seconds", pid, host)
		}
	}
	return nil
}
