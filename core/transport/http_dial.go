package transport

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Resolver looks addresses up; a *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	lookupTimeout = 5 * time.Second
	// stagger is how long an attempt has the field to itself before the next
	// address is tried beside it (RFC 8305 "Connection Attempts").
	stagger = 250 * time.Millisecond
	// maxAddresses bounds the addresses of one name that are tried.
	maxAddresses = 8
)

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// target dials one server. It checks every address it resolves and dials what it
// checked, never the name (P4). The addresses are kept until none of them answers
// any more: a resolver that changes its mind between two requests changes
// nothing (acceptance 34).
type target struct {
	host   string // without brackets
	port   uint16
	secure bool
	policy AddressPolicy

	resolver Resolver
	timeout  time.Duration // for one address
	connect  dialFunc

	mu     sync.Mutex
	pinned []netip.AddrPort
}

// dial connects to the server. Errors are of type *Error.
func (t *target) dial(ctx context.Context) (net.Conn, error) {
	t.mu.Lock()
	known := t.pinned
	t.mu.Unlock()
	var stale error
	if known != nil {
		conn, err := t.race(ctx, known)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		stale = err
	}
	addrs, err := t.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Equal(addrs, known) {
		return nil, stale
	}
	conn, err := t.race(ctx, addrs)
	if err == nil {
		t.mu.Lock()
		t.pinned = addrs
		t.mu.Unlock()
	}
	return conn, err
}

// resolve looks the host up and checks what comes back.
func (t *target) resolve(ctx context.Context) ([]netip.AddrPort, error) {
	addrs, err := lookup(ctx, t.resolver, t.host)
	if err != nil {
		return nil, err
	}
	if addrs, err = t.policy.admit(t.secure, addrs); err != nil {
		return nil, err
	}
	return interleave(addrs, t.port), nil
}

// lookup returns the addresses of a host. An address literal needs no look-up, and
// neither does localhost, which is both loopback addresses whatever a hosts file
// says (RFC 6761; field case 41). The error is DNS.
func lookup(ctx context.Context, r Resolver, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return nil, &Error{Code: DNS, Err: err}
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, nil
}

func isLocalhost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// interleave orders addresses so that a family that is broken here costs one
// attempt, not all: v4, v6, v4, …
func interleave(addrs []netip.Addr, port uint16) []netip.AddrPort {
	var families [2][]netip.AddrPort
	seen := map[netip.Addr]bool{}
	for _, a := range addrs {
		if !seen[a] {
			seen[a] = true
			f := 0
			if a.Is6() {
				f = 1
			}
			families[f] = append(families[f], netip.AddrPortFrom(a, port))
		}
	}
	var out []netip.AddrPort
	for i := 0; len(out) < maxAddresses && (i < len(families[0]) || i < len(families[1])); i++ {
		for _, f := range families {
			if i < len(f) {
				out = append(out, f[i])
			}
		}
	}
	return out[:min(len(out), maxAddresses)]
}

// race tries the addresses in order, each with its own time limit, and starts the
// next one early when the last has not answered soon. The first connection wins.
func (t *target) race(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	try := func(a netip.AddrPort) {
		conn, err := t.one(ctx, a)
		select {
		case results <- result{conn, err}:
		case <-ctx.Done(): // another one won, or nobody wants it any more
			if conn != nil {
				_ = conn.Close()
			}
		}
	}
	next := time.NewTimer(0)
	defer next.Stop()
	var last error = &Error{Code: Timeout, Reason: "connect"}
	for running := 0; ; {
		select {
		case <-next.C:
			if len(addrs) > 0 {
				go try(addrs[0])
				addrs = addrs[1:]
				running++
				next.Reset(stagger)
			}
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			running--
			// What is said at the end is the last failure that is more than
			// silence (reference 3.3).
			if CodeOf(r.err) != Timeout {
				last = r.err
			}
			if len(addrs) > 0 {
				next.Reset(0)
			} else if running == 0 {
				return nil, last
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (t *target) one(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	conn, err := t.connect(ctx, "tcp", a.String())
	if err != nil {
		return nil, dialError(err)
	}
	return conn, nil
}

// splitHostPort is net.SplitHostPort for a numeric port.
func splitHostPort(addr string) (string, uint16, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return host, uint16(n), err
}
