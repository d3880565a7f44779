package era

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ErrURL says that a text is no absolute http or https URL with a host. It holds
// nothing of the text, which may hold a secret.
var ErrURL = errors.New("not an absolute http or https URL")

// Key says whose verdict it is: an HTTP endpoint (E4) or a stdio spec (E5). Keys
// are comparable; the zero Key is nobody's.
type Key struct {
	origin      string // scheme://host:port, HTTP only
	path        string // escaped, at least "/", HTTP only
	fingerprint string // stdio only
}

// URLKey returns the key of an HTTP endpoint: scheme, host in lower case, explicit
// port, and the path or "/". Query, userinfo and fragment are never in it (E4). The
// error is [ErrURL].
func URLKey(rawURL string) (Key, error) {
	u, origin, err := parse(rawURL)
	if err != nil {
		return Key{}, err
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return Key{origin: origin, path: path}, nil
}

// SpecKey returns the key of a stdio server: its spec's fingerprint (P6).
func SpecKey(fingerprint string) Key { return Key{fingerprint: fingerprint} }

// OriginOf returns scheme://host:port of an endpoint, the key under which its
// breaker counts (C8). The error is [ErrURL].
func OriginOf(rawURL string) (string, error) {
	_, origin, err := parse(rawURL)
	return origin, err
}

// String is safe to show: a path can hold an account's key, so that only the origin
// of a URL appears.
func (k Key) String() string {
	switch {
	case k.origin == "":
		return k.fingerprint
	case k.path == "/":
		return k.origin + "/"
	}
	return k.origin + "/…"
}

func parse(rawURL string) (*url.URL, string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, "", ErrURL
	}
	host, ok := canonical(u.Hostname())
	if !ok {
		return nil, "", ErrURL
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	default:
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return nil, "", ErrURL
		}
		port = strconv.FormatUint(n, 10)
	}
	return u, u.Scheme + "://" + net.JoinHostPort(host, port), nil
}

// maxHost is the most bytes a DNS name has (RFC 1035, 2.3.4).
const maxHost = 253

// canonical gives the one spelling of a host, so that every spelling of it shares a
// verdict and a breaker. url.Parse decodes percent signs in hosts and IPv6 zones, so
// that what remains is checked.
func canonical(host string) (string, bool) {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	} else if host, err = idna.Punycode.ToASCII(host); err != nil || len(host) > maxHost {
		return "", false
	} else if again, err := idna.Punycode.ToASCII(host); err != nil || again != host {
		return "", false // what cannot be read back is no spelling to key on
	}
	for _, c := range []byte(host) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._:%", c) >= 0) {
			return "", false
		}
	}
	return host, host != ""
}
