package postgres

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// boundAnswer gives a connection up whose server has not taken in for so long what
// was sent; the system itself tries for a quarter of an hour.
func boundAnswer(network string, c syscall.RawConn, patience time.Duration) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(patience.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return err
}
