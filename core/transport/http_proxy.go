package transport

import (
	"net/netip"
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// environmentProxy returns which proxy to use, from the environment (T13). A
// workspace spec uses none, and neither does plain http without an opt-in: that
// leads to private networks alone, and only the dialler can check it (P4).
// Loopback never goes to a proxy (field case 41).
func environmentProxy(p AddressPolicy, secure bool) func(*url.URL) (*url.URL, error) {
	if p.Workspace || !secure && !p.AllowHTTP {
		return nil
	}
	from := httpproxy.FromEnvironment().ProxyFunc()
	return func(u *url.URL) (*url.URL, error) {
		host := u.Hostname()
		if a, err := netip.ParseAddr(host); isLocalhost(host) || err == nil && a.Unmap().IsLoopback() {
			return nil, nil
		}
		return from(u)
	}
}
