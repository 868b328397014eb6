package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/common/expfmt"
	"github.com/redis/go-redis/v9"

	"codesage"
	"codesage/queue"
)

// shelf is a store that knows repositories only. full is why it takes no writes.
type shelf struct {
	all       []codesage.Repository
	err, full error
}

func (s *shelf) Ping(context.Context) error { return s.full }

func (s *shelf) ListRepositories(context.Context) ([]codesage.Repository, error) { return s.all, s.err }

// line is a queue of some runs. full is why it takes no more.
type line struct {
	depths    []queue.Depth
	err, full error
}

func (l *line) Ping(context.Context) error { return l.full }

func (l *line) Depths() ([]queue.Depth, error) { return l.depths, l.err }

// work is a pipeline that goes through phases.
type work struct {
	phases []codesage.Phase
	err    error
}

func (w work) Run(_ context.Context, _ codesage.Repository, _ codesage.Run, report func(codesage.Progress)) error {
	for _, phase := range w.phases {
		report(codesage.Progress{Phase: phase})
		report(codesage.Progress{Phase: phase, TextFiles: 9, KeptFiles: 4, ParsedFiles: 3, Bytes: 100})
	}
	return w.err
}

// show is what /metrics would.
func show(t *testing.T, s *Set) string {
	t.Helper()
	families, err := s.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// expect fails the test unless a text has all these lines.
func expect(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains("\n"+text, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if t.Failed() {
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, "codesage_") {
				t.Log(strings.TrimSpace(l))
			}
		}
	}
}

// outage lets no command reach Redis while it is on.
type outage struct{ on bool }

func (o *outage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (o *outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if o.on {
			return errors.New("away")
		}
		return next(ctx, commands)
	}
}

func newSet(t *testing.T, addr string, away *outage, restarts func() int64) *Set {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	rdb.AddHook(away)
	return New(Options{Version: "7", Redis: rdb, Queue: &line{}, Restarts: restarts, Log: slog.New(slog.DiscardHandler)}, &shelf{})
}

var allPhases = []codesage.Phase{codesage.PhaseFetch, codesage.PhaseList, codesage.PhaseText, codesage.PhaseSymbols, codesage.PhasePublish}

// The API shows what all workers did, also what they did while Redis was away.
func TestWorkersCountTogether(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	lost := int64(0)
	away := &outage{}
	api, two := newSet(t, server.Addr(), away, nil), newSet(t, server.Addr(), away, nil)
	one := newSet(t, server.Addr(), away, func() int64 { return lost })
	run := func(s *Set, w work) {
		t.Helper()
		if err := s.Pipeline(w, nil).Run(t.Context(), codesage.Repository{}, codesage.Run{}, func(codesage.Progress) {}); !errors.Is(err, w.err) {
			t.Errorf("got %v", err)
		}
	}
	expect(t, show(t, api), `codesage_run_attempts_total{outcome="completed"} 0`, "codesage_parser_restarts_total 0")
	run(one, work{phases: allPhases})
	lost = 2
	away.on = true
	run(one, work{phases: allPhases[:2], err: codesage.Errorf(codesage.KindInvalid, "no")})
	away.on = false
	lost = 3
	run(two, work{phases: allPhases, err: codesage.ErrConflict})
	run(one, work{phases: allPhases[:3], err: codesage.ErrUnavailable})
	run(two, work{phases: allPhases[:1], err: codesage.ErrUnavailable})
	server.HSet(tallyKey, "attempts https://x", "9")
	text := show(t, api)
	expect(t, text,
		`codesage_run_attempts_total{outcome="completed"} 1`, `codesage_run_attempts_total{outcome="failed"} 2`,
		`codesage_run_attempts_total{outcome="stopped"} 1`, `codesage_run_attempts_total{outcome="interrupted"} 1`,
		`codesage_run_phase_seconds_count{phase="fetch"} 5`, `codesage_run_phase_seconds_count{phase="list"} 4`,
		`codesage_run_phase_seconds_count{phase="text"} 3`, `codesage_run_phase_seconds_count{phase="publish"} 2`,
		`codesage_run_files_total{what="text"} 45`, `codesage_run_files_total{what="kept"} 20`, `codesage_run_files_total{what="parsed"} 15`,
		"codesage_run_bytes_total 500", "codesage_parser_restarts_total 3")
	if strings.Contains(text, "https") {
		t.Error("a label comes from Redis")
	}
}

func TestACancelledRunIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	if got := ending(ctx, codesage.Progress{}, errors.New("x")); got != "failed" {
		t.Errorf("got %s", got)
	}
	cancel(queue.ErrShutdown)
	if got := ending(ctx, codesage.Progress{}, ctx.Err()); got != "stopped" {
		t.Errorf("got %s", got)
	}
}

// repository is one whose index was published a while ago.
func repository(n int, status codesage.Status, now time.Time) codesage.Repository {
	run := &codesage.Run{TotalFiles: 10, Bytes: 1000, Entities: 30, FinishedAt: now.Add(-time.Duration(n) * time.Minute),
		Skipped: map[codesage.SkipReason]int{codesage.SkipBinary: 2}}
	return codesage.Repository{Session: fmt.Sprintf("s-%d", n), Published: run, Latest: &codesage.Run{Status: status, Phase: codesage.PhaseText}}
}

func TestStateIsShownAndItsSeriesAreBounded(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	now := time.Now()
	repos := &shelf{}
	for n := range maxSessions + 200 {
		repos.all = append(repos.all, repository(n, codesage.StatusCompleted, now))
	}
	repos.all[3].Latest.Status = codesage.StatusProcessing
	repos.all[4].Latest.Status, repos.all[4].Published = codesage.StatusFailed, nil
	waiting := &line{depths: []queue.Depth{{Queue: "first", Waiting: 4, Active: 2, Age: 90 * time.Second}}}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	s := New(Options{Version: "7", Redis: rdb, Queue: waiting, Log: slog.New(slog.DiscardHandler)}, repos)
	text := show(t, s)
	expect(t, text,
		`codesage_runs{phase="",status="completed"} 1198`, `codesage_runs{phase="text",status="processing"} 1`, `codesage_runs{phase="",status="failed"} 1`,
		"codesage_indexed_files 11990", "codesage_indexed_bytes 1.199e+06", "codesage_indexed_entities 35970",
		`codesage_skipped_files{reason="binary"} 2398`, `codesage_queue_runs{queue="first",state="waiting"} 4`,
		`codesage_queue_runs{queue="first",state="active"} 2`, `codesage_queue_oldest_seconds{queue="first"} 90`,
		`codesage_up{part="store"} 1`, `codesage_up{part="queue"} 1`)
	if n := strings.Count(text, "\ncodesage_index_age_seconds{"); n != maxSessions-1 {
		t.Errorf("%d repositories have a series", n)
	}
	repos.full, waiting.full = errors.New("only reads"), errors.New("full")
	expect(t, show(t, s), `codesage_up{part="store"} 0`, `codesage_up{part="queue"} 0`,
		"codesage_indexed_files 11990", `codesage_queue_runs{queue="first",state="waiting"} 4`)
	repos.full, waiting.full = nil, nil
	repos.err, waiting.depths, waiting.err = errors.New("away"), nil, errors.New("away")
	server.Close()
	text = show(t, s)
	expect(t, text, `codesage_up{part="store"} 0`, `codesage_up{part="queue"} 0`)
	if strings.Contains(text, "\ncodesage_runs{") || !strings.Contains(text, "\ngo_goroutines ") {
		t.Error("what is not known is shown, or what is known is not")
	}
}
