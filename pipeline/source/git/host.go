package git

import (
	"net/netip"
	"strings"
)

// checkHost returns the host in its canonical form, or the reason for which no
// host of that name is contacted.
func checkHost(authority string) (host, reason string) {
	host, bracketed := authority, strings.HasPrefix(authority, "[")
	switch {
	case bracketed && !strings.HasSuffix(host, "]"):
		return "", reasonPort
	case !bracketed && strings.Contains(host, ":"):
		return "", reasonPort
	case strings.Trim(host, ".") == "localhost" || strings.HasSuffix(strings.TrimRight(host, "."), ".localhost"):
		return "", reasonLocalhost
	}
	if bracketed || endsInNumber(host) {
		return checkAddress(host)
	}
	if !validHostname(host) {
		return "", reasonHost
	}
	if bare, ok := strings.CutPrefix(host, "www."); ok && (bare == hostGitHub || bare == hostGitLab || bare == hostBitbucket) {
		host = bare
	}
	return host, ""
}

// checkAddress accepts a public IP address in its usual spelling only. The
// other spellings (decimal, hexadecimal, octal, fewer than four parts) mean
// different addresses to different resolvers.
func checkAddress(host string) (canonical, reason string) {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || addr.Zone() != "" || addr.Is4() == strings.HasPrefix(host, "[") || !Public(addr) {
		return "", reasonAddress
	}
	if addr.Is6() {
		return "[" + addr.String() + "]", ""
	}
	return addr.String(), ""
}

// endsInNumber reports whether a resolver may take the host for an IPv4
// address: its last label is a decimal, octal or hexadecimal number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndex(host, ".")+1:]
	if last == "" {
		return false
	}
	digits, isHex := strings.CutPrefix(last, "0x")
	for _, c := range digits {
		if (c < '0' || c > '9') && (!isHex || c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// validHostname accepts lower-case ASCII names of letters, digits, dashes and
// underscores in labels of 1 to 63, without a trailing dot.
func validHostname(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for _, label := range strings.Split(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// notPublic lists the IPv4 and IPv6 networks that are not on the public
// internet, or that embed an IPv4 address which then would not be checked.
var notPublic = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, metadata services
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarking
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
	"2001::/23",       // protocol assignments: Teredo, benchmarking, ORCHID
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4
	"3fff::/20",       // documentation
)

// globalUnicast holds every public IPv6 address. What lies outside it includes
// ::1, IPv4-compatible and NAT64 addresses (64:ff9b::/96), unique local,
// link-local and multicast ones.
var globalUnicast = netip.MustParsePrefix("2000::/3")

var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address is on the public internet. An IPv4 address
// mapped into IPv6 counts as what it maps.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" || addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// internal reports whether an address may belong to a host that the operator
// named as private. Link-local, multicast and unspecified ones never do.
func internal(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.Zone() == "" && (addr.IsPrivate() || addr.IsLoopback() || carrierNAT.Contains(addr) || Public(addr))
}
