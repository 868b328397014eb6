package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codesage"
	"codesage/api/client"
)

// question is a call whose answer a run changes.
type question struct {
	tool string
	args args

	tally bool // of the answer only the number of hits counts
	open  bool // any answer will do
}

// questions are asked again and again while a run goes on. Together their answers
// tell two indexes of a repository apart.
func questions(repository, path string) []question {
	ask := []question{
		{tool: "analyze_repository", args: args{"repository": repository}},
		{tool: "list_definitions", args: args{"repository": repository, "limit": 500}},
		{tool: "get_file", args: args{"repository": repository, "path": path}},
		{tool: "find_patterns", args: args{"repository": repository, "pattern": "version", "max_results": 500}},
		{tool: "find_patterns", args: args{"repository": repository, "pattern": `cache\s+token`, "regex": true, "max_results": 500}},
	}
	for _, query := range []string{"order", "invoice parser", "does its part", "Chapter"} {
		ask = append(ask, question{tool: "search_code", args: args{"query": query, "repository": repository, "limit": 50}})
	}
	return ask
}

// state is what a server answers to the questions while one run is published.
type state struct {
	answers         []string
	files, entities int
}

// unindexed stands for the answers about a repository without a published run.
var unindexed = state{}

// readState asks the questions while nothing changes.
func readState(t testing.TB, s *server, name string, ask []question) state {
	t.Helper()
	var st state
	for _, q := range ask {
		answer, err := call(s.api, q.tool, q.args)
		if err != nil || answer.IsError {
			t.Fatalf("%s %v: %v %s", q.tool, q.args, err, answer.Error)
		}
		st.answers = append(st.answers, resultOf(q, answer))
	}
	for _, one := range must[listResult](t, s, "list_repositories", nil).Repositories {
		if one.Name == name {
			st.files, st.entities = one.TotalFiles, one.TotalEntities
		}
	}
	return st
}

// checkState compares what two servers answered.
func checkState(t testing.TB, got, want state) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(state{})); diff != "" {
		t.Errorf("the answers differ (-want +got):\n%.3000s", diff)
	}
}

// resultOf is what counts of a tool's result. The number of the repository never
// does: databases leave some out.
func resultOf(q question, answer client.Envelope) string {
	if q.tally {
		return totalHits.FindString(string(answer.Result))
	}
	return repositoryNumber.ReplaceAllString(string(answer.Result), "")
}

var (
	totalHits        = regexp.MustCompile(`"total_hits":\d+`)
	repositoryNumber = regexp.MustCompile(`"repository_id":\d+,?`)
)

// reader asks a server again and again while runs go on and processes die, and
// holds every answer against the two states that there may be: none is of
// anything between them, and the new one never goes away again.
type reader struct {
	name     string // of the repository
	ask      []question
	old, new state
	pace     time.Duration // from one question to the next; 0 = no pause
	out      *outage       // nil = the database is always there

	api      atomic.Pointer[client.Client]
	stop     chan struct{}
	done     sync.WaitGroup
	switched bool // the new state has been seen
	asked    int
	turned   int // away, because the database was
	faults   []string
}

// watch starts a reader of a server.
func (r *reader) watch(s *server) *reader {
	r.stop = make(chan struct{})
	r.api.Store(s.api)
	r.done.Go(func() {
		for len(r.faults) < 5 && r.wait() {
			r.round()
		}
	})
	return r
}

// wait waits until the next question is due; false when the reader is to stop.
func (r *reader) wait() bool {
	select {
	case <-r.stop:
		return false
	case <-time.After(r.pace):
		return true
	}
}

// end stops the reader and reports what it saw.
func (r *reader) end(t testing.TB) {
	t.Helper()
	close(r.stop)
	r.done.Wait()
	for _, fault := range r.faults {
		t.Error("a reader saw: " + fault)
	}
}

func (r *reader) fault(format string, a ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, a...))
}

// round asks everything once.
func (r *reader) round() {
	r.list()
	r.show()
	for i, q := range r.ask {
		if !r.wait() {
			return
		}
		answer, ok := r.call(q.tool, q.args)
		if ok {
			r.judge(i, q, answer)
		}
	}
}

// call calls a tool; not ok when there is no answer, for a good reason or with a
// fault.
func (r *reader) call(tool string, a args) (answer client.Envelope, ok bool) {
	wasAway := r.out.isAway()
	answer, err := call(r.api.Load(), tool, a)
	r.asked++
	if (wasAway || r.out.isAway()) && (isClean503(err) || err == nil && isCleanRefusal(answer.Error)) {
		r.turned++
		return answer, false
	}
	return answer, r.came(tool, err)
}

// came reports whether an answer came. Only a server that is away may be the
// reason why not.
func (r *reader) came(what string, err error) bool {
	var unreachable *client.UnreachableError
	var transport *client.TransportError
	if err != nil && !errors.As(err, &unreachable) && !errors.As(err, &transport) {
		r.fault("%s: %v", what, err)
	}
	return err == nil
}

// list checks that a repository counts as completed only when all is there, and
// that the old index stands until then.
func (r *reader) list() {
	answer, ok := r.call("list_repositories", nil)
	if !ok {
		return
	}
	var result listResult
	if err := json.Unmarshal(answer.Result, &result); err != nil || answer.IsError {
		r.fault("list_repositories: %v %s", err, answer.Error)
		return
	}
	i := slices.IndexFunc(result.Repositories, func(one listed) bool { return one.Name == r.name })
	if i < 0 {
		r.fault("no repository %s among %d", r.name, len(result.Repositories))
		return
	}
	one := result.Repositories[i]
	switch one.Status {
	case "pending", "processing":
		if one.TotalFiles != r.old.files && one.TotalFiles != r.new.files || r.old.answers != nil && one.TotalEntities != r.old.entities {
			r.fault("%d files and %d entities while the run goes on; there were %d and %d, and will be %d files",
				one.TotalFiles, one.TotalEntities, r.old.files, r.old.entities, r.new.files)
		}
		if r.switched {
			r.fault("status %s after the new run was published", one.Status)
		}
	case "completed":
		r.switched = true
		if one.TotalFiles != r.new.files || one.TotalEntities != r.new.entities {
			r.fault("completed with %d files and %d entities, want %d and %d", one.TotalFiles, one.TotalEntities, r.new.files, r.new.entities)
		}
	default:
		r.fault("status %s", one.Status)
	}
}

// show checks the same of the REST API, which also counts the files that are
// done.
func (r *reader) show() {
	wasAway := r.out.isAway()
	all, err := r.api.Load().Repositories(context.Background())
	r.asked++
	if (wasAway || r.out.isAway()) && isClean503(err) {
		r.turned++
		return
	}
	if !r.came("GET repositories", err) {
		return
	}
	for _, one := range all {
		if one.Name == r.name && one.Status == codesage.StatusCompleted &&
			(one.TotalFiles != r.new.files || one.ProcessedFiles != r.new.files || one.TotalEntities != r.new.entities) {
			r.fault("completed with %d of %d files and %d entities, want %d and %d",
				one.ProcessedFiles, one.TotalFiles, one.TotalEntities, r.new.files, r.new.entities)
		}
	}
}

// judge holds one answer against the two states.
func (r *reader) judge(i int, q question, answer client.Envelope) {
	switch {
	case q.open && !answer.IsError:
	case !answer.IsError && resultOf(q, answer) == r.new.answers[i]:
		r.switched = r.switched || !r.isOld(i, q, answer)
	case r.switched:
		r.fault("%s %v: an answer of before, or half an answer, after the new run was published: %s %.300s", q.tool, q.args, answer.Error, answer.Result)
	case r.isOld(i, q, answer):
	default:
		r.fault("%s %v: neither what was nor what will be: %s %.300s", q.tool, q.args, answer.Error, answer.Result)
	}
}

func (r *reader) isOld(i int, q question, answer client.Envelope) bool {
	if r.old.answers != nil {
		return !answer.IsError && resultOf(q, answer) == r.old.answers[i]
	}
	if answer.IsError {
		return strings.Contains(answer.Error, "is still indexing")
	}
	return strings.Contains(string(answer.Result), `"total_hits":0`)
}

// outage is when the database is away from a team, and shortly after that.
type outage struct {
	away atomic.Bool
	back atomic.Int64 // when it was there again, in Unix nanoseconds
}

// backTime is how long after a restart connections of before may still be met.
const backTime = 3 * time.Second

func (o *outage) begin() { o.away.Store(true) }

func (o *outage) end() {
	o.back.Store(time.Now().UnixNano())
	o.away.Store(false)
}

func (o *outage) isAway() bool {
	return o != nil && (o.away.Load() || time.Since(time.Unix(0, o.back.Load())) < backTime)
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
