package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"codesage"
	"codesage/api/client"
	"codesage/bench"
)

// Limits of a bench.
const (
	maxBenchClients  = 1000
	minBenchDuration = time.Second
	maxBenchDuration = 10 * time.Minute
)

// benchInterval is how often a bench tells how far it is.
const benchInterval = 5 * time.Second

func benchCommand(t terminal) *cobra.Command {
	var clients int
	var duration time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use:   "bench [name]",
		Short: "Ask with many clients at once, and tell how long answers take",
		Long: "Lets many clients ask about a repository at the same time, each a mix of searches,\n" +
			"files, definitions, patterns and counts, and prints how long the answers took.\n" +
			"Without a name it is the largest repository. It changes nothing, but others who\n" +
			"use the server wait longer meanwhile. A client whose call goes wrong, or meets the\n" +
			"server's rate limit, waits a second. The exit code is 1 when a call went wrong for\n" +
			"another reason than the rate limit.",
		GroupID: "client",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneRepository(cmd, args)
		},
		RunE: asking(t, func(ctx context.Context, server *client.Client, args []string) error {
			if err := checkBench(clients, duration); err != nil {
				return err
			}
			repo, err := benchRepository(ctx, server, args)
			if err != nil {
				return err
			}
			report, err := runBench(ctx, t, server, repo, clients, duration)
			if err != nil {
				return err
			}
			if err := writeBench(t, repo, report, asJSON); err != nil {
				return err
			}
			if n := report.Failed(); n > 0 {
				return fmt.Errorf("%d of %d calls went wrong", n, n+report.All.Answers+report.RateLimited)
			}
			return ctx.Err()
		}),
	}
	c.Flags().IntVar(&clients, "clients", 10, fmt.Sprintf("clients at the same time, 1 to %d", maxBenchClients))
	c.Flags().DurationVar(&duration, "duration", 10*time.Second, fmt.Sprintf("how long they ask, %s to %s", minBenchDuration, maxBenchDuration))
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func checkBench(clients int, duration time.Duration) error {
	if clients < 1 || clients > maxBenchClients {
		return usageError{fmt.Errorf("--clients %d: must be from 1 to %d", clients, maxBenchClients)}
	}
	if duration < minBenchDuration || duration > maxBenchDuration {
		return usageError{fmt.Errorf("--duration %s: must be from %s to %s", duration, minBenchDuration, maxBenchDuration)}
	}
	return nil
}

// benchRepository returns the repository that is named, or else the largest that
// is indexed.
func benchRepository(ctx context.Context, server *client.Client, args []string) (client.Repository, error) {
	if len(args) > 0 {
		return find(ctx, server, args[0])
	}
	all, err := server.Repositories(ctx)
	if err != nil {
		return client.Repository{}, err
	}
	all = slices.DeleteFunc(all, func(r client.Repository) bool { return r.Status != codesage.StatusCompleted || r.TotalFiles == 0 })
	if len(all) == 0 {
		return client.Repository{}, errors.New("no repository is indexed yet; add one with `codesage add <url|folder>`, or see `codesage list`")
	}
	return slices.MaxFunc(all, func(a, b client.Repository) int { return cmp.Compare(a.TotalFiles, b.TotalFiles) }), nil
}

func runBench(ctx context.Context, t terminal, server *client.Client, repo client.Repository, clients int, duration time.Duration) (bench.Report, error) {
	questions, err := bench.Questions(ctx, server, repo)
	if err != nil {
		return bench.Report{}, err
	}
	fmt.Fprintf(t.err, "%d clients ask %s about %s for %s\n", clients, server.URL(), repo.Name, duration)
	return bench.Run(ctx, questions, bench.Options{
		Dial: readAddress(t.getenv).dial, Clients: clients, Duration: duration, Every: benchInterval,
		Progress: func(answered, failed int) {
			fmt.Fprintf(t.err, "%d answers so far, %d calls without\n", answered, failed)
		},
	})
}

// writeBench prints a report, and what to do about calls that met the rate limit.
func writeBench(t terminal, repo client.Repository, report bench.Report, asJSON bool) error {
	if report.RateLimited > 0 {
		fmt.Fprintf(t.err, "%d calls met the server's rate limit (429): RATE_LIMIT_AI in its environment raises it, ENABLE_RATE_LIMITING=false ends it\n",
			report.RateLimited)
	}
	if asJSON {
		return writeJSON(t.out, struct {
			Repository string `json:"repository"`
			bench.Report
		}{repo.Name, report})
	}
	writeLatencies(t.out, append(report.Tools, report.All))
	for _, f := range report.Faults {
		fmt.Fprintf(t.out, "%d × %s: %s: %s\n", f.Count, f.Tool, f.Kind, f.Example)
	}
	_, err := fmt.Fprintf(t.out, "%.0f answers a second; %d calls went wrong, %d met the rate limit\n", report.PerSecond, report.Failed(), report.RateLimited)
	return err
}

func writeLatencies(out io.Writer, rows []bench.Latency) {
	fmt.Fprintf(out, "%-20s %9s %10s %10s %10s %10s\n", "TOOL", "ANSWERS", "P50", "P90", "P99", "MAX")
	for _, l := range rows {
		fmt.Fprintf(out, "%-20s %9d", l.Tool, l.Answers)
		for _, ms := range []float64{l.P50, l.P90, l.P99, l.Max} {
			fmt.Fprintf(out, " %7.1f ms", ms)
		}
		fmt.Fprintln(out)
	}
}
