package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen opens an event stream and returns its events as "name data".
func (e *env) listen(path string) (events <-chan string, stop func()) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", e.url+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != "text/event-stream" {
		e.t.Fatalf("GET %s: %d %s", path, res.StatusCode, got)
	}
	to := make(chan string, 100)
	go func() {
		defer close(to)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		name := ""
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = n
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				to <- name + " " + data
			}
		}
	}()
	e.t.Cleanup(cancel)
	return to, cancel
}

// next returns the next event of a name.
func next(t *testing.T, events <-chan string, name string) string {
	t.Helper()
	for {
		select {
		case event, open := <-events:
			if !open {
				t.Fatalf("the stream ended before %s", name)
			}
			if data, ok := strings.CutPrefix(event, name+" "); ok {
				return data
			}
		case <-t.Context().Done():
			t.Fatalf("no event %s", name)
		}
	}
}

func TestEventsTellEachChange(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/one")
	e.addRepository("octo/two")
	all, _ := e.listen("/api/v1/events")
	for _, name := range []string{"octo/one", "octo/two"} {
		var o object
		if err := json.Unmarshal([]byte(next(t, all, "repository")), &o); err != nil || o.Name != name || o.Status != "completed" {
			t.Errorf("at first: %+v %v", o, err)
		}
	}
	two, _ := e.listen("/api/v1/repositories/2/events")
	next(t, two, "repository")
	if got := e.ask("POST", "/api/v1/repositories/2/reprocess", ""); got.status != 202 {
		t.Fatalf("reprocess: %d", got.status)
	}
	for name, events := range map[string]<-chan string{"all": all, "one": two} {
		var r runObject
		var o object
		if err := json.Unmarshal([]byte(next(t, events, "run")), &r); err != nil || r.RepositoryID != 2 || r.Status != "pending" {
			t.Errorf("%s: run %+v %v", name, r, err)
		}
		if err := json.Unmarshal([]byte(next(t, events, "repository")), &o); err != nil || o.ID != 2 || o.Status != "pending" {
			t.Errorf("%s: %+v %v", name, o, err)
		}
	}
	if got := e.ask("DELETE", "/api/v1/repositories/2", ""); got.status != 204 {
		t.Fatalf("delete: %d", got.status)
	}
	if got := next(t, all, "removed"); got != `{"id":2}` {
		t.Errorf("removed: %s", got)
	}
	if got := next(t, two, "removed"); got != `{"id":2}` {
		t.Errorf("removed: %s", got)
	}
	if event, open := <-two; open {
		t.Errorf("the stream of a removed repository goes on: %s", event)
	}
}

// The store is read while somebody listens, and not otherwise.
func TestEventsReadTheStoreOnlyForListeners(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.addRepository("octo/one")
	h := newHub(Deps{Store: e.store, Now: time.Now}, time.Millisecond)
	idle := func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.stop == nil && h.latest == nil }
	if !idle() {
		t.Error("reads before anybody listens")
	}
	a, _ := h.listen(0)
	b, _ := h.listen(1)
	<-a.wake
	<-b.wake
	if got := a.take(); len(got) != 1 || got[0].id != 1 {
		t.Errorf("told %+v", got)
	}
	h.leave(a)
	if idle() {
		t.Error("stopped with a listener left")
	}
	h.leave(b)
	if !idle() {
		t.Error("reads when nobody listens")
	}
	c, _ := h.listen(2)
	defer h.leave(c)
	<-c.wake
	if got := c.take(); len(got) != 1 || got[0].id != 2 || got[0].object != nil {
		t.Errorf("a listener of a repository that is not there was told %+v", got)
	}
}

func TestClosingEndsStreams(t *testing.T) {
	t.Parallel()
	closing := make(chan struct{})
	e := newEnv(t, func(d *Deps) { d.Closing = closing })
	events, _ := e.listen("/api/v1/events")
	close(closing)
	if event, open := <-events; open {
		t.Errorf("got %s", event)
	}
}
