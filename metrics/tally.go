package metrics

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/trace"
)

// tallyKey is the hash in Redis that holds the numbers of all workers. Its
// fields are a metric's name and, after a space, the value of its label.
const tallyKey = "codesage:metrics"

// tallyTime is how long Redis may take to count, or to tell.
const tallyTime = 2 * time.Second

// counted are the numbers of the tally by name; label is that of each.
var counted = map[string]struct {
	label string
	desc  *prometheus.Desc
}{
	"attempts": {"outcome", prometheus.NewDesc("codesage_run_attempts_total",
		"Attempts of runs that ended, by outcome: completed, failed, stopped, or interrupted because a part of the server was away.", []string{"outcome"}, nil)},
	"files": {"what", prometheus.NewDesc("codesage_run_files_total",
		"Files of runs that ended: text (went through the text pass), kept (unchanged, nothing was done), parsed.", []string{"what"}, nil)},
	"bytes": {"", prometheus.NewDesc("codesage_run_bytes_total", "Bytes of text that runs that ended had selected.", nil, nil)},
	"restarts": {"", prometheus.NewDesc("codesage_parser_restarts_total",
		"Parse processes that died or were killed. Counted when a run ends.", nil, nil)},
}

// phaseSeconds is made of two numbers, phase_seconds and phase_count.
var phaseSeconds = prometheus.NewDesc("codesage_run_phase_seconds", "What the phases of runs that ended took.", []string{"phase"}, nil)

// tally counts what workers do, in Redis. While that is away it counts in this
// process, and adds it later.
type tally struct {
	redis    redis.UniversalClient
	restarts func() int64
	log      *slog.Logger

	mu       sync.Mutex
	owed     map[string]float64 // by field, not in Redis yet
	reported int64              // restarts that were counted
}

func newTally(o Options) *tally {
	return &tally{redis: o.Redis, restarts: o.Restarts, log: o.Log, owed: map[string]float64{}}
}

// ended counts an attempt of a run.
func (t *tally) ended(ctx context.Context, outcome string, spent map[codesage.Phase]time.Duration, last codesage.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owed["attempts "+outcome]++
	for phase, took := range spent {
		t.owed["phase_seconds "+string(phase)] += took.Seconds()
		t.owed["phase_count "+string(phase)]++
	}
	t.owed["files text"] += float64(last.TextFiles)
	t.owed["files kept"] += float64(last.KeptFiles)
	t.owed["files parsed"] += float64(last.ParsedFiles)
	t.owed["bytes"] += float64(last.Bytes)
	if t.restarts != nil {
		now := t.restarts()
		t.owed["restarts"] += float64(now - t.reported)
		t.reported = now
	}
	t.pay(ctx)
}

// pay adds to Redis what is owed. The caller holds the lock.
func (t *tally) pay(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tallyTime)
	defer cancel()
	_, err := t.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for field, n := range t.owed {
			if n != 0 {
				p.HIncrByFloat(ctx, tallyKey, field, n)
			}
		}
		return nil
	})
	if err != nil {
		trace.Log(ctx, t.log).Warn("count a run; it is added to the metrics later", "err", err)
		return
	}
	clear(t.owed)
}

// Describe implements prometheus.Collector.
func (t *tally) Describe(descs chan<- *prometheus.Desc) {
	for _, c := range counted {
		descs <- c.desc
	}
	descs <- phaseSeconds
}

// Collect implements prometheus.Collector.
func (t *tally) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), tallyTime)
	defer cancel()
	fields, err := t.redis.HGetAll(ctx, tallyKey).Result()
	if err != nil {
		return // codesage_up says it
	}
	numbers := zeroes()
	for field := range numbers { // and no other: labels come from here
		if n, err := strconv.ParseFloat(fields[field], 64); err == nil {
			numbers[field] = n
		}
	}
	for field, n := range numbers {
		name, label, _ := strings.Cut(field, " ")
		if c, ok := counted[name]; ok {
			var labels []string
			if c.label != "" {
				labels = append(labels, label)
			}
			to <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, n, labels...)
		}
		if name == "phase_count" {
			to <- prometheus.MustNewConstSummary(phaseSeconds, uint64(n), numbers["phase_seconds "+label], nil, label)
		}
	}
}

// zeroes are all numbers of the tally, before anything was counted.
func zeroes() map[string]float64 {
	numbers := map[string]float64{"bytes": 0, "restarts": 0}
	for _, field := range []string{
		"attempts completed", "attempts failed", "attempts stopped", "attempts interrupted", "files text", "files kept", "files parsed",
	} {
		numbers[field] = 0
	}
	for _, phase := range []codesage.Phase{codesage.PhaseFetch, codesage.PhaseList, codesage.PhaseText, codesage.PhaseSymbols, codesage.PhasePublish} {
		numbers["phase_count "+string(phase)], numbers["phase_seconds "+string(phase)] = 0, 0
	}
	return numbers
}
