// Package metrics measures the server for Prometheus: what search and store take
// (engine.go, store.go), what runs do (runs.go), and how repositories and queue
// stand (state.go).
//
// Labels come from fixed sets: operations, outcomes, phases, reasons, names of
// queues; and the session ids of the first repositories. None holds a URL, a
// query or a token.
//
// Only the API is asked for metrics. What workers count they add to numbers in
// Redis (tally.go), so that it is the same for one process and for many, and no
// worker listens on a port.
package metrics

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"codesage"
)

// Options are what a Set needs.
type Options struct {
	Version  string
	Redis    redis.UniversalClient
	Queue    depths
	Restarts func() int64 // parse processes that were lost so far; nil = none
	Log      *slog.Logger
}

// Set is the metrics of one process. It is safe for concurrent use.
type Set struct {
	// Registry is what /metrics shows.
	Registry *prometheus.Registry

	search, store *prometheus.HistogramVec
	tally         *tally
}

// latencies are the buckets of operations that take a millisecond when all is
// well.
var latencies = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New returns the metrics of this process, registered. repositories lists those
// whose state is shown.
func New(o Options, repositories repositories) *Set {
	operation := []string{"operation", "outcome"}
	s := &Set{
		Registry: prometheus.NewRegistry(),
		search: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "codesage_search_seconds", Help: "What the search engine and the text index take to answer, by operation and outcome: ok or a kind of failure.", Buckets: latencies,
		}, operation),
		store: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "codesage_store_seconds", Help: "What the metadata store takes, by operation and outcome: ok or a kind of failure.", Buckets: latencies,
		}, operation),
		tally: newTally(o),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "codesage_build_info", Help: "The version of this process; always 1.",
		ConstLabels: prometheus.Labels{"version": o.Version, "go_version": runtime.Version()},
	})
	build.Set(1)
	s.Registry.MustRegister(build, s.search, s.store, s.tally,
		&state{repositories: repositories, queue: o.Queue, log: o.Log, now: time.Now},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// observe counts an operation that began then.
func observe(in *prometheus.HistogramVec, operation string, began time.Time, err error) {
	in.WithLabelValues(operation, outcome(err)).Observe(time.Since(began).Seconds())
}

// outcome is the label of how an operation ended.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return string(codesage.KindOf(err))
}
