package git

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// dialTimeout bounds one connection attempt, so that a second address of a host
// still has its turn within a pre-flight.
const dialTimeout = 4 * time.Second

// Causes that the messages of refusals are made from.
var (
	errPrivate    = errors.New("the host name resolves to an address that is not public")
	errUnresolved = errors.New("the host name could not be resolved")
)

// addresses returns the rule for the addresses of a repository's host: public
// ones, or internal ones too where the operator allowed the name.
func (s *Source) addresses(host string) func(netip.Addr) bool {
	if s.private[host] {
		return internal
	}
	return Public
}

// resolve looks a host name up once and returns its addresses, all of which are
// allowed. One bad address among good ones refuses the host.
func (s *Source) resolve(ctx context.Context, host string, allowed func(netip.Addr) bool) ([]netip.Addr, error) {
	addrs, err := s.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, a := range addrs {
		if addrs[i] = a.Unmap(); !allowed(a) {
			return nil, fmt.Errorf("%w: %s", errPrivate, a)
		}
	}
	return addrs, nil
}

// lookup returns at least one address of a host, which may itself be one.
func (s *Source) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{addr}, nil
	}
	// The dot keeps search domains of the machine out of it.
	name := host
	if strings.Contains(name, ".") {
		name += "."
	}
	addrs, err := s.cfg.Resolve(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnresolved, err)
	case len(addrs) == 0:
		return nil, errUnresolved
	}
	return addrs, nil
}

// lookupIP is the resolver outside tests.
func lookupIP(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// dialAny connects to the first of the checked addresses that answers. The
// address that a caller asks for is not looked at.
func (s *Source) dialAny(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, error) {
	var failed error
	for _, a := range addrs {
		attempt, cancel := context.WithTimeout(ctx, dialTimeout)
		conn, err := s.cfg.Dial(attempt, "tcp", net.JoinHostPort(a.String(), port))
		cancel()
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}
