package transport

import "net/netip"

// AddressPolicy says where a spec may lead (P4). The zero policy is that of a user
// spec: https anywhere, http to loopback and private networks.
type AddressPolicy struct {
	// Workspace confines to https and public addresses, and to no proxy.
	Workspace bool
	// AllowHTTP is a person's explicit opt-in to http anywhere; it does nothing
	// for a workspace spec.
	AllowHTTP bool
}

// admit returns those of the addresses that may be dialled. The error is
// Blocked(address).
//
// A workspace spec is refused as a whole when a single address is not public: a
// name that mixes them is an attack, not a service. For plain http by a user
// spec, names with private and global addresses are everyday home networks; the
// global ones are left out.
func (p AddressPolicy) admit(secure bool, addrs []netip.Addr) ([]netip.Addr, error) {
	refused := &Error{Code: Blocked, Reason: "address"}
	if !p.Workspace && (secure || p.AllowHTTP) {
		return addrs, nil
	}
	var out []netip.Addr
	for _, a := range addrs {
		switch r := reachOf(a); {
		case p.Workspace && r != public:
			return nil, refused
		case p.Workspace, r == loopback, r == private:
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, refused
	}
	return out, nil
}

// reach is how far an address reaches.
type reach int

const (
	public reach = iota
	loopback
	private // of a site, a link or a carrier
	special // metadata services, documentation, multicast, tunnels to anywhere
)

// reachOf classifies an address. Forms that embed an IPv4 address are judged by
// it, but are never more than special when that one is not public: nobody means
// such a form.
func reachOf(a netip.Addr) reach {
	if !a.IsValid() {
		return special
	}
	a = a.WithZone("")
	if a.Is4In6() {
		a = a.Unmap()
	}
	if in, ok := embedded(a); ok {
		if reachOf(in) != public {
			return special
		}
		return public
	}
	for _, row := range reaches {
		if row.prefix.Contains(a) {
			return row.reach
		}
	}
	return public
}

// embedded returns the IPv4 address inside a v4-compatible, v4-translated, NAT64
// or 6to4 address.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() || a.IsLoopback() || a.IsUnspecified() {
		return netip.Addr{}, false
	}
	b := a.As16()
	switch {
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case nat64.Contains(a), v4Compatible.Contains(a), v4Translated.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	return netip.Addr{}, false
}

var (
	sixToFour    = netip.MustParsePrefix("2002::/16")
	nat64        = netip.MustParsePrefix("64:ff9b::/32")
	v4Compatible = netip.MustParsePrefix("::/96")
	v4Translated = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// reaches is the reject set of P4; what it does not hold is public. The first
// match counts.
var reaches = []struct {
	prefix netip.Prefix
	reach  reach
}{
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // carriers and overlay networks
	{netip.MustParsePrefix("0.0.0.0/8"), special},
	{netip.MustParsePrefix("169.254.0.0/16"), special}, // clouds' metadata services
	{netip.MustParsePrefix("192.0.0.0/24"), special},
	{netip.MustParsePrefix("192.0.2.0/24"), special},
	{netip.MustParsePrefix("192.88.99.0/24"), special},
	{netip.MustParsePrefix("198.18.0.0/15"), special},
	{netip.MustParsePrefix("198.51.100.0/24"), special},
	{netip.MustParsePrefix("203.0.113.0/24"), special},
	{netip.MustParsePrefix("224.0.0.0/3"), special}, // multicast, reserved, broadcast

	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("fe80::/10"), private},
	{netip.MustParsePrefix("fec0::/10"), private},
	{netip.MustParsePrefix("::/128"), special},
	{netip.MustParsePrefix("100::/64"), special},
	{netip.MustParsePrefix("2001::/32"), special}, // Teredo
	{netip.MustParsePrefix("2001:2::/48"), special},
	{netip.MustParsePrefix("2001:db8::/32"), special},
	{netip.MustParsePrefix("ff00::/8"), special},
}
