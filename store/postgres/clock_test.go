package postgres_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"codesage"
	"codesage/store"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
)

// clock is a database whose clock the test sets: the store's statements find a
// clock_timestamp of ours before PostgreSQL's.
type clock struct {
	t    *testing.T
	conn *pgx.Conn
	url  string
}

func newClock(t *testing.T) *clock {
	t.Helper()
	address := migrated(t, postgrestest.Start(t))
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", "public,pg_catalog")
	u.RawQuery = q.Encode()
	c := &clock{t: t, conn: conn, url: u.String()}
	c.ahead(0)
	return c
}

// ahead sets the database's clock, which begins as this machine's.
func (c *clock) ahead(d time.Duration) {
	c.t.Helper()
	statement := `CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE SQL
		AS 'SELECT pg_catalog.clock_timestamp() + INTERVAL ''` + d.String() + `'''`
	if _, err := c.conn.Exec(c.t.Context(), statement); err != nil {
		c.t.Fatal(err)
	}
}

func TestTheDatabasesClockDecides(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClock(t)
	c.ahead(-20 * time.Second)
	s := connect(t, c.url)
	_, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err == nil {
		run, err = s.StartRun(ctx, run.ID, codesage.HeartbeatTimeout)
	}
	if err != nil {
		t.Fatal(err)
	}
	if now, err := s.Now(ctx); err != nil || time.Since(now) < 15*time.Second {
		t.Errorf("the store's time is %s, %v; the database's clock is 20 s behind", now, err)
	}
	isDead := func() bool {
		t.Helper()
		runs, err := s.UnfinishedRuns(ctx, codesage.HeartbeatTimeout)
		if err != nil {
			t.Fatal(err)
		}
		return len(runs) == 1
	}
	if isDead() {
		t.Error("a run counts as dead because the database's clock is behind this machine's")
	}
	if _, err := s.StartRun(ctx, run.ID, codesage.HeartbeatTimeout); codesage.KindOf(err) != codesage.KindConflict {
		t.Errorf("take over a live run: %v", err)
	}
	c.ahead(0) // 20 s have passed
	if !isDead() {
		t.Error("a run whose heart has been silent for 20 s does not count as dead")
	}
	if err := s.Report(ctx, run, codesage.Progress{}); err != nil {
		t.Fatal(err)
	}
	if isDead() {
		t.Error("a run whose heart has just beaten counts as dead")
	}
	c.ahead(16 * time.Second)
	if _, err := s.StartRun(ctx, run.ID, codesage.HeartbeatTimeout); err != nil {
		t.Errorf("take over a dead run: %v", err)
	}
}

func TestSnapshotsLiveByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClock(t)
	c.ahead(-time.Hour)
	s := connect(t, c.url)
	repo, run, err := s.CreateRepository(ctx, codesage.Repository{Session: "a", Source: codesage.SourceFolder})
	if err != nil {
		t.Fatal(err)
	}
	first := publish(t, s, run, "a")
	if run, err = s.CreateRun(ctx, store.NewRun{Repository: repo.ID}); err != nil {
		t.Fatal(err)
	}
	publish(t, s, run, "b")
	for _, tc := range []struct {
		now  time.Duration
		want int
	}{{-59 * time.Minute, 1}, {-40 * time.Minute, 0}} {
		c.ahead(tc.now)
		if err := s.Prune(ctx, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		files, err := s.ListFiles(ctx, first, "", 9)
		if err != nil || len(files) != tc.want {
			t.Errorf("%s: the replaced snapshot has %d files, %v; want %d", tc.now, len(files), err, tc.want)
		}
	}
}

// publish publishes one file as all that a run has.
func publish(t *testing.T, s *postgres.Store, run codesage.Run, path string) codesage.Snapshot {
	t.Helper()
	ctx := t.Context()
	run, err := s.StartRun(ctx, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(ctx, run, 0)
	if err == nil {
		_, err = w.Put(ctx, []store.Text{{File: codesage.File{Path: path}}})
	}
	if err == nil {
		err = w.Publish(ctx, codesage.Outcome{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return codesage.Snapshot{Repository: run.Repository, Run: run.ID}
}
