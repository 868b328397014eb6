package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"codesage"
	"codesage/store"
)

const (
	pollInterval = 400 * time.Millisecond
	maxListeners = 500
)

// hub reads the repositories from the store while somebody listens, and tells
// each listener what has changed. All listeners share one reader.
type hub struct {
	store    store.Repositories
	log      *slog.Logger
	now      func() time.Time
	interval time.Duration

	mu        sync.Mutex
	listeners map[*listener]struct{}
	latest    map[codesage.RepositoryID]state // as last told
	stop      func()                          // ends the reader and waits for it; nil = there is none
}

// state is what clients are told of a repository. The zero state is one that
// was removed.
type state struct {
	object json.RawMessage
	run    json.RawMessage // its newest run
	key    string          // tells states apart; the seconds of a run that is going don't count
}

func newState(r codesage.Repository, now time.Time) state {
	s := state{object: mustJSON(newObject(r)), run: json.RawMessage("null")}
	s.key = string(s.object)
	if r.Latest != nil {
		s.run = mustJSON(newRunObject(*r.Latest, now))
		s.key += string(mustJSON(newRunObject(*r.Latest, r.Latest.StartedAt)))
	}
	return s
}

// listener keeps what has changed since its client was told last: of each
// repository the newest state only, so that a slow client costs no memory.
type listener struct {
	only    codesage.RepositoryID // 0 = all
	mu      sync.Mutex
	pending map[codesage.RepositoryID]state
	order   []codesage.RepositoryID
	wake    chan struct{}
}

func newHub(d Deps, interval time.Duration) *hub {
	return &hub{store: d.Store, log: d.Log, now: d.Now, interval: interval, listeners: map[*listener]struct{}{}}
}

// listen adds a listener, which is told at once how things are; false when there
// are too many. The caller must call leave.
func (h *hub) listen(only codesage.RepositoryID) (*listener, bool) {
	l := &listener{only: only, pending: map[codesage.RepositoryID]state{}, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= maxListeners {
		return nil, false
	}
	h.listeners[l] = struct{}{}
	for id, state := range h.latest {
		l.tell(id, state)
	}
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.latest = map[codesage.RepositoryID]state{}
		var reader sync.WaitGroup
		reader.Go(func() { h.poll(ctx) })
		h.stop = func() { cancel(); reader.Wait() }
	}
	return l, true
}

// leave takes a listener away. With the last one the reader stops.
func (h *hub) leave(l *listener) {
	stop := func() {}
	h.mu.Lock()
	delete(h.listeners, l)
	if len(h.listeners) == 0 && h.stop != nil {
		stop, h.stop, h.latest = h.stop, nil, nil
	}
	h.mu.Unlock()
	stop() // not under the lock, which the reader takes
}

// poll reads the store until ctx is done.
func (h *hub) poll(ctx context.Context) {
	t := time.NewTicker(h.interval)
	defer t.Stop()
	for {
		all, err := h.store.ListRepositories(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			h.log.Warn("read repositories for events; trying again", "err", err)
		default:
			h.publish(ctx, all)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// publish tells listeners what differs from what was told last.
func (h *hub) publish(ctx context.Context, all []codesage.Repository) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil { // a later reader has taken over
		return
	}
	seen := make(map[codesage.RepositoryID]bool, len(all))
	for _, r := range all {
		seen[r.ID] = true
		state := newState(r, h.now())
		if h.latest[r.ID].key == state.key {
			continue
		}
		h.latest[r.ID] = state
		for l := range h.listeners {
			l.tell(r.ID, state)
		}
	}
	for id := range h.latest {
		if !seen[id] {
			delete(h.latest, id)
			for l := range h.listeners {
				l.tell(id, state{})
			}
		}
	}
	for l := range h.listeners { // removed before the first reading
		if l.only != 0 && !seen[l.only] {
			l.tell(l.only, state{})
		}
	}
}

// tell notes a change.
func (l *listener) tell(id codesage.RepositoryID, s state) {
	if l.only != 0 && l.only != id {
		return
	}
	l.mu.Lock()
	if _, waiting := l.pending[id]; !waiting {
		l.order = append(l.order, id)
	}
	l.pending[id] = s
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// change is one thing to tell a client.
type change struct {
	id codesage.RepositoryID
	state
}

// take returns what has changed since the last call.
func (l *listener) take() []change {
	l.mu.Lock()
	defer l.mu.Unlock()
	changes := make([]change, len(l.order))
	for i, id := range l.order {
		changes[i] = change{id, l.pending[id]}
	}
	clear(l.pending)
	l.order = l.order[:0]
	return changes
}

// allEvents streams the changes of every repository.
func (s *server) allEvents(c *gin.Context) { s.streamEvents(c, 0) }

// repositoryEvents streams the changes of one repository, until it is removed.
func (s *server) repositoryEvents(c *gin.Context) {
	if repo, ok := s.pathRepository(c); ok {
		s.streamEvents(c, repo.ID)
	}
}

// streamEvents sends, first as things are and then at every change, `run` events
// with the newest run and `repository` events with the object. `removed` has the
// id of a repository that is gone.
func (s *server) streamEvents(c *gin.Context, only codesage.RepositoryID) {
	l, ok := s.hub.listen(only)
	if !ok {
		s.refuse(c, http.StatusServiceUnavailable, "Too many clients listen to events; try again later")
		return
	}
	defer s.hub.leave(l)
	out := newStream(c)
	defer out.pings(c.Request.Context(), pingInterval)()
	for {
		select {
		case <-c.Request.Context().Done():
			return
		case <-s.Closing:
			return
		case <-l.wake:
		}
		for _, change := range l.take() {
			if change.object != nil {
				out.event("run", change.run)
				out.event("repository", change.object)
				continue
			}
			out.event("removed", gin.H{"id": change.id})
			if only != 0 {
				return
			}
		}
	}
}
