package transport

import (
	"net/url"

	"github.com/drawbridge-mcp/drawbridge/core/era"
)

// endpoint is a spec's URL, taken apart.
type endpoint struct {
	url    *url.URL // without userinfo and fragment
	user   *url.Userinfo
	origin string
	host   string // canonical, without brackets
	port   uint16
}

// parseEndpoint reads a spec's URL; its error is Blocked (url).
func parseEndpoint(raw string) (endpoint, error) {
	refused := &Error{Code: Blocked, Reason: "url"}
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, refused
	}
	origin, err := era.OriginOf(raw)
	if err != nil {
		return endpoint{}, refused
	}
	// The origin's spelling is canonical: what is looked up, dialled, checked
	// against the certificate and sent as Host is this one (acceptance 72).
	o, err := url.Parse(origin)
	if err != nil {
		return endpoint{}, refused
	}
	host, port, err := splitHostPort(o.Host)
	if err != nil {
		return endpoint{}, refused
	}
	e := endpoint{url: u, user: u.User, origin: origin, host: host, port: port}
	if u.Port() == "" {
		u.Host = hostOnly(host)
	} else {
		u.Host = o.Host
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return e, nil
}

// hostOnly puts brackets around an IPv6 address.
func hostOnly(host string) string {
	for _, c := range host {
		if c == ':' {
			return "[" + host + "]"
		}
	}
	return host
}

// originOf returns the origin a Location points to, "" when it points nowhere that
// could be named.
func originOf(u *url.URL) string {
	origin, err := era.OriginOf(u.String())
	if err != nil {
		return ""
	}
	return origin
}
