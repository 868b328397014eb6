package metrics

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"codesage"
	"codesage/queue"
)

// repositories is the part of store.Store that tells how repositories stand.
type repositories interface {
	Ping(ctx context.Context) error
	ListRepositories(ctx context.Context) ([]codesage.Repository, error)
}

// depths is queue.Queue.
type depths interface {
	Ping(ctx context.Context) error
	Depths() ([]queue.Depth, error)
}

// maxSessions is how many repositories have a time series of their own.
const maxSessions = 1000

// stateTime is how long store and queue may take to tell how they stand.
const stateTime = 3 * time.Second

// state tells how repositories and queue stand when it is asked. A part is up when
// /readyz says so; what it does not tell is missing.
type state struct {
	repositories repositories
	queue        depths
	log          *slog.Logger
	now          func() time.Time
}

var (
	up = prometheus.NewDesc("codesage_up", "Whether a part answers and takes writes: store, queue.", []string{"part"}, nil)

	runs = prometheus.NewDesc("codesage_runs", "The newest runs of the repositories, by status, and by phase while they are going.",
		[]string{"status", "phase"}, nil)
	indexedFiles    = prometheus.NewDesc("codesage_indexed_files", "Files in the published indexes.", nil, nil)
	indexedBytes    = prometheus.NewDesc("codesage_indexed_bytes", "Bytes of text in the published indexes.", nil, nil)
	indexedEntities = prometheus.NewDesc("codesage_indexed_entities", "Entities in the published indexes.", nil, nil)
	skippedFiles    = prometheus.NewDesc("codesage_skipped_files", "Files that the published indexes left out, or hold as text only, by reason.", []string{"reason"}, nil)
	indexAge        = prometheus.NewDesc("codesage_index_age_seconds", "Time since a repository's index was published; of the first 1,000 repositories.",
		[]string{"session"}, nil)

	queueRuns   = prometheus.NewDesc("codesage_queue_runs", "Runs in the queue, by state: waiting or active.", []string{"queue", "state"}, nil)
	queueOldest = prometheus.NewDesc("codesage_queue_oldest_seconds", "For how long the oldest run that waits has waited.", []string{"queue"}, nil)
)

// Describe implements prometheus.Collector.
func (s *state) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{up, runs, indexedFiles, indexedBytes, indexedEntities, skippedFiles, indexAge, queueRuns, queueOldest} {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (s *state) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTime)
	defer cancel()
	all, err := s.repositories.ListRepositories(ctx)
	s.answered(to, "store", errors.Join(s.repositories.Ping(ctx), err))
	if err == nil {
		s.collectRepositories(to, all)
	}
	found, err := s.queue.Depths()
	s.answered(to, "queue", errors.Join(s.queue.Ping(ctx), err))
	for _, d := range found {
		gauge(to, queueRuns, float64(d.Waiting), d.Queue, "waiting")
		gauge(to, queueRuns, float64(d.Active), d.Queue, "active")
		gauge(to, queueOldest, d.Age.Seconds(), d.Queue)
	}
}

// answered tells whether a part did.
func (s *state) answered(to chan<- prometheus.Metric, part string, err error) {
	value := 1.0
	if err != nil {
		value = 0
		s.log.Warn("measure a part that is not well", "part", part, "err", err)
	}
	gauge(to, up, value, part)
}

// stand is a state that a run can be in.
type stand struct {
	status codesage.Status
	phase  codesage.Phase
}

func (s *state) collectRepositories(to chan<- prometheus.Metric, all []codesage.Repository) {
	stands := map[stand]int{}
	for _, status := range []codesage.Status{codesage.StatusPending, codesage.StatusProcessing, codesage.StatusCompleted, codesage.StatusFailed} {
		stands[stand{status: status}] = 0
	}
	skipped := map[codesage.SkipReason]int{}
	var files, entities int
	var bytes int64
	for i, r := range all {
		if r.Latest != nil {
			at := stand{status: r.Latest.Status}
			if r.Latest.Status == codesage.StatusProcessing {
				at.phase = r.Latest.Phase
			}
			stands[at]++
		}
		p := r.Published
		if p == nil {
			continue
		}
		files, bytes, entities = files+p.TotalFiles, bytes+p.Bytes, entities+p.Entities
		for reason, n := range p.Skipped {
			skipped[reason] += n
		}
		if i < maxSessions {
			gauge(to, indexAge, max(s.now().Sub(p.FinishedAt).Seconds(), 0), r.Session)
		}
	}
	for at, n := range stands {
		gauge(to, runs, float64(n), string(at.status), string(at.phase))
	}
	for reason, n := range skipped {
		gauge(to, skippedFiles, float64(n), string(reason))
	}
	gauge(to, indexedFiles, float64(files))
	gauge(to, indexedBytes, float64(bytes))
	gauge(to, indexedEntities, float64(entities))
}

func gauge(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
