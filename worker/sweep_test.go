package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"codesage"
	"codesage/queue"
	"codesage/search"
	"codesage/store"
	"codesage/worker"
)

// stuck is an engine whose sweeps do not end before their context.
type stuck struct {
	search.Engine
	sweeping chan struct{}
}

func (s stuck) Retain(ctx context.Context, _ search.Keep) error {
	close(s.sweeping)
	<-ctx.Done()
	return ctx.Err()
}

// asking is an engine that tells what it is to keep.
type asking struct {
	search.Engine
	told chan map[codesage.RepositoryID][]codesage.RunID
}

func (a asking) Retain(ctx context.Context, keep search.Keep) error {
	runs, err := keep(ctx)
	if err != nil {
		return err
	}
	a.told <- runs
	return nil
}

// TestAFreshSweeperKeepsWhatWasReplacedAMomentAgo holds for a worker that was
// started after the runs: readers of other processes may be at work.
func TestAFreshSweeperKeepsWhatWasReplacedAMomentAgo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w, first := newWorker(t, func(ctx context.Context, run codesage.Run, rows store.Writer) error {
		return rows.Publish(ctx, codesage.Outcome{})
	})
	if err := w.Handle(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	second, err := w.Store.CreateRun(ctx, store.NewRun{Repository: first.Repository, Trigger: codesage.TriggerReprocess})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Handle(ctx, second.ID); err != nil {
		t.Fatal(err)
	}
	engine := asking{told: make(chan map[codesage.RepositoryID][]codesage.RunID, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		(&worker.Sweeper{Store: w.Store, Queue: w.Queue, Engine: engine, Log: w.Log}).Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	select {
	case kept := <-engine.told:
		got := kept[first.Repository]
		if !slices.Contains(got, first.ID) || !slices.Contains(got, second.ID) {
			t.Errorf("kept %v, want runs %d and %d", kept, first.ID, second.ID)
		}
	case <-time.After(patience):
		t.Fatal("nothing is swept")
	}
}

func TestASweepThatTakesLongDoesNotDelayRuns(t *testing.T) {
	t.Parallel()
	w, first := newWorker(t, nil)
	redis := queue.NewEmbedded()
	t.Cleanup(func() { _ = redis.Close() })
	w.Queue = queue.New(redis)
	handled := make(chan codesage.RunID, 10)
	server := queue.NewServer(queue.ServerOptions{Redis: redis, Concurrency: 1, Poll: 20 * time.Millisecond, Log: w.Log,
		Handler: func(_ context.Context, id codesage.RunID) error { handled <- id; return nil }})
	ctx, cancel := context.WithCancel(t.Context())
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	engine := stuck{sweeping: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		(&worker.Sweeper{Store: w.Store, Queue: w.Queue, Engine: engine, Log: w.Log}).Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	wait := time.After(patience)
	select {
	case <-engine.sweeping:
	case <-wait:
		t.Fatal("nothing is swept")
	}
	_, second, err := w.Store.CreateRepository(t.Context(), codesage.Repository{
		Name: "late", Session: "late", Source: codesage.SourceFolder, Path: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := codesage.RunID(0); id != second.ID; {
		select {
		case id = <-handled:
		case <-wait:
			t.Fatalf("run %d is not enqueued during a sweep, after run %d", second.ID, first.ID)
		}
	}
}
