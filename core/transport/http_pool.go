package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// idleTimeout is below the five seconds after which common servers (Node, uvicorn)
// close an idle socket: a tools/call that meets such an end cannot be repeated.
const idleTimeout = 4 * time.Second

const maxHeaderBytes = 256 << 10

// socketBuffer is what a socket holds for each direction, however long it rests;
// larger bodies are read past it.
const socketBuffer = 2 << 10

// pool is the sockets of one connection and the http.Transport over them (T7).
// It speaks HTTP/1.1, verifies certificates, follows no redirect, keeps no cookies
// and asks for no compression. It has no time limits beyond those of dialling: the
// session's own clocks bound a request (field case 38).
type pool struct {
	*http.Transport
	dialer *HTTPDialer
	// ctx is the life of the dials. net/http detaches a dial from its request.
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	sockets map[*socket]struct{}
}

func (d *HTTPDialer) newPool() *pool {
	p := &pool{dialer: d, sockets: map[*socket]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.Transport = &http.Transport{
		DialContext:            p.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    d.cfg.Limits.ConnectTimeout,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    64, // T5's cap
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         socketBuffer,
		WriteBufferSize:        socketBuffer,
		Protocols:              new(http.Protocols),
		OnProxyConnectResponse: proxyAnswered,
	}
	p.Protocols.SetHTTP1(true)
	if d.proxy != nil {
		p.Proxy = func(r *http.Request) (*url.URL, error) { return d.proxy(r.URL) }
	}
	if d.tune != nil {
		d.tune(p.Transport)
	}
	return p
}

// dial connects to the server by the addresses that were checked, or to a proxy.
func (p *pool) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	t := p.dialer.target
	host, port, err := splitHostPort(addr)
	if err != nil {
		return nil, &Error{Code: Broken, Reason: "connect", Err: err}
	}
	if host != t.host || port != t.port {
		// The address of a proxy is the environment's, not the spec's.
		t = &target{
			host: host, port: port, policy: AddressPolicy{AllowHTTP: true},
			resolver: t.resolver, timeout: t.timeout, connect: t.connect,
		}
	}
	conn, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: conn, pool: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		_ = conn.Close()
		return nil, p.ctx.Err()
	}
	p.sockets[s] = struct{}{}
	return s, nil
}

// close ends every dial and every socket.
func (p *pool) close() {
	p.mu.Lock()
	p.cancel()
	open := p.sockets
	p.sockets = map[*socket]struct{}{}
	p.mu.Unlock()
	for s := range open {
		_ = s.Conn.Close()
	}
	p.CloseIdleConnections()
}

// socket tells its pool when it is closed.
type socket struct {
	net.Conn
	pool *pool
}

func (s *socket) Close() error {
	s.pool.mu.Lock()
	delete(s.pool.sockets, s)
	s.pool.mu.Unlock()
	return s.Conn.Close()
}

// proxyAnswered refuses for a proxy that does not open a tunnel.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &Error{Code: Broken, Reason: "proxy", Status: resp.StatusCode}
	}
	return nil
}
