package postgres

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The machine of a database may go without a word: a worker that waits for it must
// not do so for a quarter of an hour, which is what the system's own bounds allow.
func TestAMachineThatIsGoneIsGivenUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := parse("postgres://u@"+l.Addr().String()+"/db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ConnConfig.ConnectTimeout; got != connectTime {
		t.Errorf("a connection is tried for %v", got)
	}
	conn, err := c.ConnConfig.DialFunc(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		name         string
		option, want int
	}{
		{"milliseconds without an answer", unix.TCP_USER_TIMEOUT, 30_000},
		{"seconds before the first probe", unix.TCP_KEEPIDLE, 10},
		{"seconds between probes", unix.TCP_KEEPINTVL, 5},
	} {
		var got int
		var fault error
		if err := raw.Control(func(fd uintptr) { got, fault = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, o.option) }); err != nil || fault != nil || got != o.want {
			t.Errorf("%s: %d, %v, %v", o.name, got, err, fault)
		}
	}
	kept, err := parse("postgres://u@h/db?connect_timeout=3", nil)
	if err != nil || kept.ConnConfig.ConnectTimeout.Seconds() != 3 {
		t.Errorf("what the URL says counts for nothing: %v", err)
	}
}
