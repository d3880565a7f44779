package server

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Authorization says who sent a request. It is asked after Host and Origin, before
// anything else, and compares secrets in constant time.
type Authorization interface {
	// Authenticate returns the client that the request proves to be from. The
	// error refuses the request with 401; it is not shown to the client.
	Authenticate(r *http.Request) (client string, err error)
}

// NoAuthorization is the explicit choice to serve every program on this machine
// (S5: a front door refuses to start unless authorization was chosen). All its
// callers are one owner.
var NoAuthorization Authorization = openDoor{}

type openDoor struct{}

func (openDoor) Authenticate(*http.Request) (string, error) { return "anonymous", nil }

// ErrNoAuthorization says that a front door was made without a choice of
// authorization.
var ErrNoAuthorization = errors.New("the HTTP front door needs an authorization, or the explicit choice of none")

// ErrNotLoopback says that an address is not on this machine only (S10).
var ErrNotLoopback = errors.New("the address is not a loopback address")

// Listen opens a loopback address, host:port; port 0 picks one. The host
// "localhost" opens both 127.0.0.1 and, where there is one, ::1 on the same port.
// The error is [ErrNotLoopback] or the system's.
func Listen(addr string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	hosts := []string{host}
	if strings.EqualFold(host, "localhost") {
		hosts = []string{"127.0.0.1", "::1"}
	}
	var lns []net.Listener
	for i, h := range hosts {
		ip, err := netip.ParseAddr(h)
		if err != nil || !ip.IsLoopback() {
			return nil, ErrNotLoopback
		}
		ln, err := net.Listen("tcp", net.JoinHostPort(h, port))
		if err != nil {
			if i > 0 {
				continue // a machine without IPv6
			}
			return nil, err
		}
		lns = append(lns, ln)
		port = strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	}
	return lns, nil
}

// local reports whether a host:port names this very listener. A page that rebinds
// its own name to 127.0.0.1 still sends that name (field case 89).
func local(hostport string, port int) bool {
	host, p, err := net.SplitHostPort(hostport)
	if err != nil {
		host, p = strings.Trim(hostport, "[]"), "80"
	}
	if p != strconv.Itoa(port) {
		return false
	}
	return strings.EqualFold(host, "localhost") || host == "127.0.0.1" || host == "::1"
}

// fromHere checks Host, and Origin where there is one: only a program on this
// machine, or a page that this listener itself served, may speak
// (streamable-http "Security & Endpoint"; field case 89).
func fromHere(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() || !local(r.Host, tcp.Port) {
		return false
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && u.Scheme == "http" && u.User == nil && u.Path == "" && local(u.Host, tcp.Port)
}
