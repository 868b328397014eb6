package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codesage"
	"codesage/api/client"
)

// crowd is how many repositories a team indexes at once.
const crowd = 30

// effort is how large the repositories of the crowd are and how often each part
// is killed. CODESAGE_SOAK asks for more.
func effort() (files, rounds int) {
	if os.Getenv("CODESAGE_SOAK") != "" {
		return 600, 12
	}
	return 60, 1
}

// isClean503 reports whether a call was told that a part of the server is away,
// without what only the log should say.
func isClean503(err error) bool {
	var status *client.StatusError
	return errors.As(err, &status) && status.Status == 503 && status.JSON && isCleanRefusal(status.Detail)
}

// isCleanRefusal reports whether a text says that the database is away, and not
// where it should be.
func isCleanRefusal(text string) bool {
	return strings.HasPrefix(text, "the database ") && !strings.ContainsAny(text, "/\n") && !strings.Contains(text, "user=")
}

// TestATeamSurvivesKills indexes many repositories at once while workers, Redis
// and PostgreSQL are killed, and a client asks.
func TestATeamSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	files, rounds := effort()
	folders := make([]string, crowd)
	for i := range folders {
		folders[i] = t.TempDir()
		newTree(uint64(100+i), files, 1).write(t, folders[i])
	}
	want := undisturbed(t, folders)

	x := newTeam(t)
	apis := []*server{x.start("api"), x.start("api")}
	workers := []*server{x.start("worker"), x.start("worker"), x.start("worker")}
	ids := make([]codesage.RepositoryID, crowd)
	for i, folder := range folders {
		ids[i] = apis[i%2].add(folder, fmt.Sprintf("crowd%02d", i)).ID
	}
	c := askCrowd(apis)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		killParts(t, x, c, workers, r)
	}

	began := time.Now()
	for i, id := range ids {
		repo, run := apis[i%2].finish(id)
		if run.Status != codesage.StatusCompleted {
			t.Errorf("%s ended as %s in attempt %d: %s", repo.Name, run.Status, run.Attempt, run.Error)
		}
	}
	t.Logf("all ended %.1f s after the last kill", time.Since(began).Seconds())
	c.end(t)
	for i := range folders {
		got := tellIndex(t, apis[(i+1)%2], fmt.Sprintf("crowd%02d", i))
		if !slices.Equal(got, want[i]) {
			t.Errorf("the index of crowd%02d differs from an undisturbed one", i)
			for k := range got {
				if got[k] != want[i][k] {
					t.Logf("got  %.600s\nwant %.600s", got[k], want[i][k])
					break
				}
			}
		}
	}
	for _, w := range workers {
		w.stop()
	}
	if t.Failed() {
		for _, s := range append(apis, workers...) {
			t.Logf("a log:\n%.20000s", s.log.text())
		}
	}
}

// undisturbed is what a server that nothing happens to tells of the folders.
func undisturbed(t *testing.T, folders []string) (all [][]string) {
	t.Helper()
	s := newServer(t)
	began := time.Now()
	ids := make([]codesage.RepositoryID, len(folders))
	for i, folder := range folders {
		ids[i] = s.add(folder, fmt.Sprintf("crowd%02d", i)).ID
	}
	for i, id := range ids {
		s.finish(id)
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("%d of %d repositories took %s\n%s", i+1, len(ids), time.Since(began), s.log.text())
		}
		all = append(all, tellIndex(t, s, fmt.Sprintf("crowd%02d", i)))
	}
	t.Logf("undisturbed: %.1f s", time.Since(began).Seconds())
	s.stop()
	return all
}

// tellIndex asks enough about one repository to tell two indexes apart.
func tellIndex(t testing.TB, s *server, name string) (answers []string) {
	t.Helper()
	asked := []question{
		{"analyze_repository", args{"repository": name}},
		{"list_definitions", args{"repository": name, "limit": 500}},
		{"find_patterns", args{"repository": name, "pattern": "version1", "max_results": 500}},
		{"find_patterns", args{"repository": name, "pattern": `cache\s+token`, "regex": true, "max_results": 500}},
	}
	for _, query := range []string{"order", "invoice parser", "does its part", "Chapter"} {
		asked = append(asked, question{"search_code", args{"query": query, "repository": name, "limit": 50}})
	}
	for _, q := range asked {
		answer, err := call(s.api, q.tool, q.args)
		if err != nil || answer.IsError {
			t.Fatalf("%s %v: %v %s", q.tool, q.args, err, answer.Error)
		}
		var result map[string]any
		if err := json.Unmarshal(answer.Result, &result); err != nil {
			t.Fatal(err)
		}
		delete(result, "repository_id") // the database may leave some out
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(text))
	}
	return answers
}

// killParts kills what a team is made of, one at a time, and starts it again.
func killParts(t *testing.T, x *team, c *crowdReader, workers []*server, r *rand.Rand) {
	t.Helper()
	pause := func(most time.Duration) {
		select { // a moment that no condition tells
		case <-time.After(time.Duration(r.Int64N(int64(most)))):
		case <-t.Context().Done():
		}
	}
	parts := []string{"worker", "worker", "redis", "worker", "postgres", "worker", "postgres", "redis"}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, part := range parts {
		pause(1500 * time.Millisecond)
		switch part {
		case "worker":
			i := r.IntN(len(workers))
			workers[i].kill()
			pause(time.Second)
			workers[i] = x.start("worker")
		case "redis":
			x.redis.Crash(t)
			pause(2 * time.Second)
			x.redis.Restart(t)
		case "postgres":
			c.away.Store(true)
			x.postgres.Crash(t)
			pause(3 * time.Second)
			x.postgres.Restart(t)
			c.back.Store(time.Now().UnixNano())
			c.away.Store(false)
		}
		t.Logf("killed and started: %s", part)
	}
}

// crowdReader asks without pause and takes note of every answer that is neither
// right nor a clean 503 while the database is away.
type crowdReader struct {
	away atomic.Bool
	back atomic.Int64 // when the database was there again, in Unix nanoseconds

	stop   chan struct{}
	done   sync.WaitGroup
	mu     sync.Mutex
	asked  int
	turned int // away with a 503
	faults []string
}

// backTime is how long after a restart connections of before may still be met.
const backTime = 3 * time.Second

func askCrowd(apis []*server) *crowdReader {
	c := &crowdReader{stop: make(chan struct{})}
	for n, s := range apis {
		c.done.Go(func() { c.read(s.api, rand.New(rand.NewPCG(uint64(n), 1))) })
	}
	return c
}

func (c *crowdReader) read(api *client.Client, r *rand.Rand) {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		name := fmt.Sprintf("crowd%02d", r.IntN(crowd))
		q := []question{
			{"list_repositories", nil},
			{"search_code", args{"query": "order token", "limit": 20}},
			{"search_code", args{"query": "invoice", "repository": name}},
			{"analyze_repository", args{"repository": name}},
			{"list_definitions", args{"repository": name}},
			{"find_patterns", args{"repository": name, "pattern": "version1"}},
		}[r.IntN(6)]
		wasAway := c.isAway()
		answer, err := call(api, q.tool, q.args)
		c.judge(q, answer, err, wasAway || c.isAway())
	}
}

func (c *crowdReader) isAway() bool {
	return c.away.Load() || time.Since(time.Unix(0, c.back.Load())) < backTime
}

func (c *crowdReader) judge(q question, answer client.Envelope, err error, away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	switch {
	case err == nil && !answer.IsError, err == nil && strings.Contains(answer.Error, "is still indexing"):
	case away && (isClean503(err) || err == nil && isCleanRefusal(answer.Error)):
		c.turned++
	case len(c.faults) < 10:
		c.faults = append(c.faults, fmt.Sprintf("%s %v (database away: %v): %v %s", q.tool, q.args, away, err, answer.Error))
	}
}

func (c *crowdReader) end(t testing.TB) {
	t.Helper()
	close(c.stop)
	c.done.Wait()
	for _, f := range c.faults {
		t.Error("a client got: " + f)
	}
	t.Logf("a client asked %d times and was told %d times that the server is not available", c.asked, c.turned)
}
