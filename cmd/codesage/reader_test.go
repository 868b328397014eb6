package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"codesage/api/client"
)

// question is a call whose answer a run changes.
type question struct {
	tool string
	args args
}

// questions are asked again and again while a run goes on.
func questions(repository, path string) []question {
	return []question{
		{"analyze_repository", args{"repository": repository}},
		{"list_definitions", args{"repository": repository, "limit": 200}},
		{"get_file", args{"repository": repository, "path": path}},
		{"search_code", args{"query": "order", "repository": repository, "limit": 50}},
		{"search_code", args{"query": "invoice token", "limit": 50}},
		{"find_patterns", args{"repository": repository, "pattern": "version", "max_results": 500}},
	}
}

// state is what a server answers to the questions while one run is published.
type state struct {
	answers         []string
	files, entities int
}

// unindexed stands for the answers about a repository without a published run.
var unindexed = state{}

// readState asks the questions while nothing changes.
func readState(t testing.TB, s *server, ask []question) state {
	t.Helper()
	var st state
	for _, q := range ask {
		answer, err := call(s.api, q.tool, q.args)
		if err != nil || answer.IsError {
			t.Fatalf("%s %v: %v %s", q.tool, q.args, err, answer.Error)
		}
		st.answers = append(st.answers, string(answer.Result))
	}
	only := must[listResult](t, s, "list_repositories", nil).Repositories[0]
	st.files, st.entities = only.TotalFiles, only.TotalEntities
	return st
}

// reader asks a server without pause while runs go on and processes die, and
// holds every answer against the two states that there may be: none is of
// anything between them, and the new one never goes away again.
type reader struct {
	ask      []question
	old, new state

	api      atomic.Pointer[client.Client]
	stop     chan struct{}
	done     sync.WaitGroup
	switched bool // the new state has been seen
	asked    int
	faults   []string
}

// watch starts a reader.
func watch(s *server, ask []question, old, new state) *reader {
	r := &reader{ask: ask, old: old, new: new, stop: make(chan struct{})}
	r.api.Store(s.api)
	r.done.Go(func() {
		for len(r.faults) < 5 {
			select {
			case <-r.stop:
				return
			default:
				r.round()
			}
		}
	})
	return r
}

// end stops the reader and reports what it saw.
func (r *reader) end(t testing.TB) {
	t.Helper()
	close(r.stop)
	r.done.Wait()
	for _, fault := range r.faults {
		t.Error("a reader saw: " + fault)
	}
	t.Logf("a reader asked %d times", r.asked)
}

func (r *reader) fault(format string, a ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, a...))
}

// round asks everything once.
func (r *reader) round() {
	api := r.api.Load()
	r.list(api)
	for i, q := range r.ask {
		answer, err := call(api, q.tool, q.args)
		if err != nil {
			r.failed(q.tool, err)
			return
		}
		r.asked++
		r.judge(i, q, answer)
	}
}

// failed takes note of a call that did not get through: only a server that is
// away may be the reason.
func (r *reader) failed(tool string, err error) {
	var unreachable *client.UnreachableError
	var transport *client.TransportError
	if !errors.As(err, &unreachable) && !errors.As(err, &transport) {
		r.fault("%s: %v", tool, err)
	}
}

// list checks that a repository counts as completed only when all is there.
func (r *reader) list(api *client.Client) {
	result, err := ask[listResult](api, "list_repositories", nil)
	if err != nil {
		r.failed("list_repositories", err)
		return
	}
	if len(result.Repositories) != 1 {
		r.fault("%d repositories", len(result.Repositories))
		return
	}
	one := result.Repositories[0]
	switch one.Status {
	case "pending", "processing":
		if one.TotalFiles > max(r.new.files, r.old.files) {
			r.fault("%d files while the run goes on, of %d", one.TotalFiles, r.new.files)
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

// judge holds one answer against the two states.
func (r *reader) judge(i int, q question, answer client.Envelope) {
	switch {
	case !answer.IsError && string(answer.Result) == r.new.answers[i]:
		r.switched = true
	case r.switched:
		r.fault("%s %v: an answer of before, or half an answer, after the new run was published: %s %.300s", q.tool, q.args, answer.Error, answer.Result)
	case r.isOld(i, answer):
	default:
		r.fault("%s %v: neither what was nor what will be: %s %.300s", q.tool, q.args, answer.Error, answer.Result)
	}
}

func (r *reader) isOld(i int, answer client.Envelope) bool {
	if r.old.answers != nil {
		return !answer.IsError && string(answer.Result) == r.old.answers[i]
	}
	if answer.IsError {
		return strings.Contains(answer.Error, "is still indexing")
	}
	return strings.Contains(string(answer.Result), `"total_hits":0`)
}
