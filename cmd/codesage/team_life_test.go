package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
	"codesage/queue/redistest"
	"codesage/store/postgres/postgrestest"
)

func TestTeamCommandsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, role string
		env        settings
		want       string
	}{
		{"an API without services", "api", nil, "needs DATABASE_URL and REDIS_URL"},
		{"a worker without services", "worker", nil, "needs DATABASE_URL and REDIS_URL"},
		{"a worker on SQLite", "worker", settings{"REDIS_URL=redis://127.0.0.1:1"}, "SQLite"},
		{"a worker without a queue", "worker", settings{"DATABASE_URL=postgres://127.0.0.1:1/x"}, "REDIS_URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			out := command{args: []string{tc.role}, env: tc.env}.run(t)
			if faults := out.faults(); out.code != exitFailed || len(faults) != 1 || !strings.Contains(faults[0], tc.want) {
				t.Errorf("code %d, %q", out.code, faults)
			}
		})
	}
}

func TestTeamRefusesAnOldSchema(t *testing.T) {
	t.Parallel()
	env := settings{"DATABASE_URL=" + postgrestest.Start(t).Database(t), "REDIS_URL=redis://127.0.0.1:1", "CODESAGE_PORT=0"}
	for _, role := range []string{"api", "worker"} {
		out := command{args: []string{role}, env: env}.run(t)
		if faults := out.faults(); out.code != exitFailed || len(faults) != 1 || !strings.Contains(faults[0], "run `codesage migrate`") {
			t.Errorf("%s: code %d, %q", role, out.code, faults)
		}
	}
	for range 2 {
		if out := (command{args: []string{"migrate"}, env: env}).run(t); out.code != exitOK {
			t.Errorf("migrate: code %d, %s", out.code, out.stderr)
		}
	}
}

// A worker that is told to end hands its run back; one that is killed is found
// dead.
func TestAWorkersRunIsTakenUpByAnother(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	folder := t.TempDir()
	for i := range 100 { // each takes a parser all the time that a file may take
		writeFiles(t, folder, map[string]string{fmt.Sprintf("slow%d.sh", i): slowScript})
	}
	api, first := x.start("api"), x.start("worker")
	repo := api.add(folder, "slow")
	// Once its text is published, another attempt is another run.
	until := func(what string, w *server) {
		t.Helper()
		w.eventually(what, func() bool {
			if run := api.newest(repo.ID); !run.Going() {
				t.Fatalf("the run ended as %s in attempt %d: %s", run.Status, run.Attempt, run.Error)
			}
			return len(w.underWay()) > 0
		})
	}
	until("the run starts", first)
	second := x.start("worker")
	began := time.Now()
	first.stop()
	until("another worker takes the run that was handed back", second)
	t.Logf("handed back and taken up in %.1f s", time.Since(began).Seconds())
	third := x.start("worker")
	began = time.Now()
	second.kill()
	until("another worker takes the run of a dead one", third)
	took := time.Since(began)
	t.Logf("a dead worker's run was taken up in %.1f s", took.Seconds())
	if took > 30*time.Second {
		t.Errorf("that is more than 30 s")
	}
	if _, err := api.api.Cancel(context.Background(), repo.ID); err != nil {
		t.Fatal(err)
	}
	if _, run := api.finish(repo.ID); run.Status != codesage.StatusFailed || run.Error != "Cancelled" {
		t.Errorf("a cancelled run ended as %s: %s", run.Status, run.Error)
	}
}

func TestRepositoriesAreAddedWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.redis.Crash(t)
	api, worker := x.start("api"), x.launch("worker")
	folder := t.TempDir()
	newTree(4, 20, 1).write(t, folder)
	began := time.Now()
	repo := api.add(folder, "patient")
	t.Logf("added without Redis in %.1f s", time.Since(began).Seconds())
	if run := api.newest(repo.ID); run.Status != codesage.StatusPending {
		t.Errorf("the run is %s", run.Status)
	}
	if _, err := ask[listResult](api.api, "list_repositories", nil); err != nil {
		t.Error(err)
	}
	x.redis.Restart(t)
	if _, run := api.finish(repo.ID); run.Status != codesage.StatusCompleted {
		t.Errorf("the run is %s: %s\n%s", run.Status, run.Error, worker.log.text())
	}
	worker.stop()
	api.stop()
}

func TestAnAPIWithoutItsDatabaseSaysSoAndRecovers(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	api := x.start("api")
	x.postgres.Crash(t)
	if answer, err := call(api.api, "list_repositories", nil); err != nil || !isCleanRefusal(answer.Error) {
		t.Errorf("got %v, %v", answer, err)
	}
	for _, question := range []func() error{
		func() error { _, err := api.api.Repositories(context.Background()); return err },
		func() error {
			_, err := api.api.AddFolder(context.Background(), client.Folder{Path: t.TempDir(), Session: "x"})
			return err
		},
	} {
		if err := question(); !isClean503(err) {
			t.Errorf("got %v", err)
		}
	}
	x.postgres.Restart(t)
	api.eventually("the API answers again", func() bool {
		_, err := api.api.Repositories(context.Background())
		return err == nil
	})
	api.stop()
}

func TestServeWorksOnTheServicesOfATeam(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	s := newServer(t, x.env...)
	folder := t.TempDir()
	newTree(5, 20, 1).write(t, folder)
	if _, run := s.index(folder, "small"); run.Status != codesage.StatusCompleted {
		t.Errorf("the run is %s: %s", run.Status, run.Error)
	}
	if names, err := ask[listResult](x.start("api").api, "list_repositories", nil); err != nil || len(names.Repositories) != 1 {
		t.Errorf("another process sees %v, %v", names, err)
	}
	s.stop()
}

func TestHealthTellsWhatIsWell(t *testing.T) {
	t.Parallel()
	x := &team{t: t, redis: redistest.StartPrivate(t)}
	env := settings{"REDIS_URL=" + x.redis.URL, "CODESAGE_PORT=1"}
	for _, role := range []string{"api", "worker"} {
		if out := (command{args: []string{"health", role}, env: env}).run(t); out.code != exitFailed {
			t.Errorf("health %s: code %d", role, out.code)
		}
	}
	x = newTeam(t)
	x.start("worker")
	api := x.start("api")
	port := "CODESAGE_PORT=" + api.url[strings.LastIndex(api.url, ":")+1:]
	if out := (command{args: []string{"health", "api"}, env: append(x.env[:len(x.env):len(x.env)], port)}).run(t); out.code != exitOK {
		t.Errorf("health api: %s", out.stderr)
	}
	api.eventually("the worker shows itself", func() bool {
		return command{args: []string{"health", "worker"}, env: x.env}.run(t).code == exitOK
	})
}
