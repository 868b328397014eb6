package webhook

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"
	"time"
)

// Bounds of what senders may take before they have shown that they know the
// secret.
const (
	// maxBodies bounds the bodies that are read at the same time, and
	// maxOfClient those of one client address, so that none keeps out others.
	maxBodies   = 64
	maxOfClient = 16

	// maxHeld bounds the bytes of all these bodies.
	maxHeld = 4 * maxBody

	// maxWrong is how many wrong signatures a client address may send in a
	// window; what follows is refused unread.
	maxWrong    = 30
	wrongWindow = time.Minute

	// forgetAt is the number of addresses at which those that are idle go.
	forgetAt = 10_000
)

// errHeld says that all bodies together are too large.
var errHeld = errors.New("too many bytes at once")

// gate bounds what senders take. It is safe for concurrent use.
type gate struct {
	all chan struct{}

	mu      sync.Mutex
	clients map[netip.Prefix]*sender
	held    int64
}

// sender is what one client address takes.
type sender struct {
	slots chan struct{}
	using int       // requests that know this sender
	wrong int       // signatures since
	since time.Time // when the window began
}

func newGate() *gate {
	return &gate{all: make(chan struct{}, maxBodies), clients: map[netip.Prefix]*sender{}}
}

// client is the network of a request's peer: an IPv6 client has a whole /64.
func client(remote string) netip.Prefix {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := peer.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}

// sender returns the state of a client address, which stays until it is let go.
func (g *gate) sender(c netip.Prefix) *sender {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.clients[c]
	if s == nil {
		if len(g.clients) >= forgetAt {
			g.forget(time.Now())
		}
		s = &sender{slots: make(chan struct{}, maxOfClient)}
		g.clients[c] = s
	}
	s.using++
	return s
}

// let lets a sender go.
func (g *gate) let(c netip.Prefix, s *sender) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.using--; s.using == 0 && s.wrong == 0 {
		delete(g.clients, c)
	}
}

// forget drops senders that do nothing and whose window is over; when all send
// wrong signatures, those that do nothing.
func (g *gate) forget(now time.Time) {
	for _, least := range []time.Duration{wrongWindow, 0} {
		for c, s := range g.clients {
			if s.using == 0 && now.Sub(s.since) >= least {
				delete(g.clients, c)
			}
		}
		if len(g.clients) < forgetAt {
			return
		}
	}
}

// enter waits for a place to read a body, until ctx ends.
func (g *gate) enter(ctx context.Context, c netip.Prefix) (leave func(), ok bool) {
	s := g.sender(c)
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		g.let(c, s)
		return nil, false
	}
	select {
	case g.all <- struct{}{}:
	case <-ctx.Done():
		<-s.slots
		g.let(c, s)
		return nil, false
	}
	return func() {
		<-g.all
		<-s.slots
		g.let(c, s)
	}, true
}

// refused counts a wrong signature.
func (g *gate) refused(c netip.Prefix, now time.Time) {
	s := g.sender(c)
	g.mu.Lock()
	if now.Sub(s.since) >= wrongWindow {
		s.wrong, s.since = 0, now
	}
	s.wrong++
	g.mu.Unlock()
	g.let(c, s)
}

// blocked reports how long a client address must wait that sent many wrong
// signatures; 0 when it need not.
func (g *gate) blocked(c netip.Prefix, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.clients[c]; s != nil && s.wrong >= maxWrong {
		return max(0, wrongWindow-now.Sub(s.since))
	}
	return 0
}

// hold counts bytes that are in memory, or with a negative number no longer.
func (g *gate) hold(n int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > 0 && g.held+n > maxHeld {
		return errHeld
	}
	g.held += n
	return nil
}

// holding is a reader whose bytes are counted.
type holding struct {
	io.Reader
	gate *gate
	held int64
}

func (h *holding) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if held := h.gate.hold(int64(n)); held != nil {
		return 0, held
	}
	h.held += int64(n)
	return n, err
}
