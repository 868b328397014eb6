//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"codesage"
	"codesage/store/postgres"
	"codesage/store/postgres/postgrestest"
	"codesage/tools/sessions"
)

// A database that is frozen keeps its connections and answers nothing. Calls that
// wait for a run have no bound of the API, and end all the same: those that wait
// already, and those that come then.
func TestCallsThatWaitForARunEndThoughTheDatabaseIsFrozen(t *testing.T) {
	t.Parallel()
	server := postgrestest.StartPrivate(t)
	url := server.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	rows, err := postgres.Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rows.Close() })
	h := newHouseOver(t, rows)
	root := fixture(t)
	for _, session := range []string{"again", "old"} {
		h.call("index_repository", args{"path": root, "session": session})
	}
	h.settle()
	h.deps.AnswerTime = 5 * time.Second
	h.deps.Schema = func(r codesage.Repository) int { return map[string]int{"old": 1, "again": 3, "new": 3}[r.Session] }
	h.set = sessions.New(h.deps)

	calls := map[string]args{
		"index_repository": {"path": root, "session": "new"},
		"reindex_session":  {"session": "again", "force": true},
		"upgrade_session":  {"session": "old"},
	}
	_, release := h.queue.holdAt(codesage.PhaseText)
	t.Cleanup(release)
	var waiting, later sync.WaitGroup
	ask := func(group *sync.WaitGroup, when string) {
		for tool, a := range calls {
			group.Go(func() {
				if text, err := h.ask(t.Context(), tool, a); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, %s: %q, %v", tool, when, text, err)
				}
			})
		}
	}
	ask(&waiting, "waiting")
	tick, deadline := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for h.going() < len(calls) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the runs do not begin")
		}
	}
	server.Freeze(t)
	thaw := sync.OnceFunc(func() { server.Thaw(t) })
	t.Cleanup(thaw)
	rescue := time.AfterFunc(time.Minute, func() { thaw(); release() }) // of calls that have no bound
	defer rescue.Stop()
	ask(&later, "asked later")
	waiting.Wait()
	later.Wait()
}

// going is how many repositories have a run that is being worked on.
func (h *house) going() (n int) {
	all, err := h.store.ListRepositories(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range all {
		if r.Latest.Status == codesage.StatusProcessing {
			n++
		}
	}
	return n
}
