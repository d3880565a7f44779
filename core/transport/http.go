package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
)

// HTTPConfig says how a server is reached by Streamable HTTP, or by HTTP+SSE before it.
type HTTPConfig struct {
	// URL is the MCP endpoint. Userinfo becomes basic authorization and is not sent
	// otherwise; a fragment is dropped.
	URL string
	// Headers are sent with every request, to the URL's origin alone. Those that
	// belong to the protocol, to HTTP or to the connection are dropped.
	Headers []Header
	// Gate is asked first in every Connect; nil allows (T3).
	Gate   Gate
	Limits Limits
	// Log receives notes of the transport; nil drops them. It must not block.
	Log LogFunc
	// Breakers, if set, counts failing exchanges under Origin (C8).
	Breakers *breaker.Table
	Policy   AddressPolicy
	// UserAgent is sent as it is; "" means the program's name.
	UserAgent string
	// Tokens, if set, gives the Authorization header of each request (T13), in
	// place of one in Headers.
	Tokens TokenSource
	// SSE says that the server speaks HTTP+SSE of 2024-11-05: Streamable HTTP is not
	// tried (T12).
	SSE bool
	// Resolver looks names up; nil means the system's.
	Resolver Resolver
}

// HTTPDialer reaches one server by Streamable HTTP, in either era, or by HTTP+SSE
// (T12). Its connections
// share the addresses that were checked and found to answer; each has sockets of
// its own, so that closing it leaves none behind.
type HTTPDialer struct {
	cfg    HTTPConfig
	url    *url.URL // without userinfo and fragment
	origin string
	base   http.Header
	target *target
	proxy  func(*url.URL) (*url.URL, error) // nil for none
	wait   time.Duration                    // for the endpoint of HTTP+SSE
	tune   func(*http.Transport)            // set by tests
}

var _ Dialer = (*HTTPDialer)(nil)

// NewHTTP returns the dialer for cfg. Nothing is looked up or dialled yet. The
// error is Blocked: url for one that cannot be used or whose scheme the policy
// refuses, header for a header that cannot be sent.
func NewHTTP(cfg HTTPConfig) (*HTTPDialer, error) {
	cfg.Limits = cfg.Limits.WithDefaults()
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	e, err := parseEndpoint(cfg.URL)
	if err != nil {
		return nil, err
	}
	secure := e.url.Scheme == "https"
	if cfg.Policy.Workspace && !secure {
		return nil, &Error{Code: Blocked, Reason: "url"}
	}
	base, err := baseHeader(e.user, cfg.Headers, cfg.UserAgent)
	if err != nil {
		return nil, err
	}
	return &HTTPDialer{
		cfg: cfg, url: e.url, origin: e.origin, base: base,
		target: &target{
			host: e.host, port: e.port, secure: secure, policy: cfg.Policy, resolver: cfg.Resolver,
			timeout: cfg.Limits.ConnectTimeout, connect: (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext,
		},
		proxy: environmentProxy(cfg.Policy, secure), wait: endpointWait,
	}, nil
}

// keepAlive is how a dead stream is found: they know no silence limit (T8).
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 4}

// Kind returns HTTP.
func (d *HTTPDialer) Kind() Kind { return HTTP }

// Origin returns the breaker's key: scheme, host and port.
func (d *HTTPDialer) Origin() string { return d.origin }

// Connect makes a connection. The server is not dialled before the first request,
// so that the errors are only Blocked (source), Cancelled and Timeout (connect).
func (d *HTTPDialer) Connect(ctx context.Context, sink Sink) (Conn, error) {
	if d.cfg.Gate != nil {
		if err := d.cfg.Gate(); err != nil {
			return nil, &Error{Code: Blocked, Reason: "source", Err: err}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, connectError(err)
	}
	return d.newConn(sink), nil
}
