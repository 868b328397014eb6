package git

import (
	"net/netip"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		addr             string
		public, internal bool
	}{
		{"8.8.8.8", true, true},
		{"2606:4700::1111", true, true},
		{"::ffff:8.8.8.8", true, true},
		{"127.0.0.1", false, true},
		{"127.255.255.254", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"::ffff:10.1.2.3", false, true},
		{"10.0.0.5", false, true},
		{"172.16.0.1", false, true},
		{"172.31.255.255", false, true},
		{"172.32.0.1", true, true},
		{"192.168.1.1", false, true},
		{"fd00::1", false, true},
		{"100.64.0.1", false, true},
		{"100.128.0.1", true, true},
		{"169.254.169.254", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"fe80::1", false, false},
		{"fe80::1%eth0", false, false},
		{"2606:4700::1%eth0", false, false},
		{"0.0.0.0", false, false},
		{"0.1.2.3", false, false},
		{"::", false, false},
		{"224.0.0.1", false, false},
		{"ff02::1", false, false},
		{"255.255.255.255", false, false},
		{"240.0.0.1", false, false},
		{"192.0.2.1", false, false},
		{"198.51.100.7", false, false},
		{"203.0.113.9", false, false},
		{"198.18.0.1", false, false},
		{"192.0.0.1", false, false},
		{"192.88.99.1", false, false},
		{"::127.0.0.1", false, false},         // IPv4-compatible
		{"64:ff9b::127.0.0.1", false, false},  // NAT64
		{"64:ff9b:1::10.0.0.1", false, false}, // local NAT64
		{"2002:7f00:1::1", false, false},      // 6to4
		{"2001:0:7f00:1::1", false, false},    // Teredo
		{"2001:2::1", false, false},           // benchmarking
		{"2001:db8::1", false, false},         // documentation
		{"3fff::1", false, false},             // documentation
		{"fec0::1", false, false},             // site-local
		{"::ffff:0:127.0.0.1", false, false},  // IPv4-translated
		{"5f00::1", false, false},             // segment routing
		{"100::1", false, false},              // discard
	} {
		a := netip.MustParseAddr(tc.addr)
		if got := Public(a); got != tc.public {
			t.Errorf("Public(%s) = %v", tc.addr, got)
		}
		if got := internal(a); got != tc.internal {
			t.Errorf("internal(%s) = %v", tc.addr, got)
		}
	}
	if Public(netip.Addr{}) || internal(netip.Addr{}) {
		t.Error("no address is allowed")
	}
}
