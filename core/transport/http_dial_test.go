package transport_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// names is a resolver that gives each name its answers in turn, the last one for
// ever.
type names struct {
	mu    sync.Mutex
	of    map[string][]string // space-separated addresses
	asked int
}

func (n *names) LookupNetIP(_ context.Context, _, host string) (addrs []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	answers := n.of[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host secret", Name: host, IsNotFound: true}
	}
	for _, s := range strings.Fields(answers[0]) {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	if len(answers) > 1 {
		n.of[host] = answers[1:]
	}
	return addrs, nil
}

// dialled redirects every dial to one server and keeps what was asked for.
type dialled struct {
	mu    sync.Mutex
	to    string
	addrs []string
	fail  map[string]error // by address
}

func (d *dialled) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.addrs = append(d.addrs, addr)
	err := d.fail[addr]
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, network, d.to)
}

func (d *dialled) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.addrs)
}

// P4, acceptance 32 and 33: refused before any look-up, or before any dial.
func TestBlockedTargets(t *testing.T) {
	workspace := transport.AddressPolicy{Workspace: true}
	for name, c := range map[string]struct {
		url    string
		policy transport.AddressPolicy
		want   string // of NewHTTP if it begins with !
	}{
		"no URL":               {"::", workspace, "!blocked (url)"},
		"another scheme":       {"ftp://example.com/", transport.AddressPolicy{}, "!blocked (url)"},
		"no host":              {"https:///mcp", transport.AddressPolicy{}, "!blocked (url)"},
		"port 0":               {"https://example.com:0/", transport.AddressPolicy{}, "!blocked (url)"},
		"workspace over http":  {"http://example.com/", workspace, "!blocked (url)"},
		"loopback":             {"https://127.0.0.1/", workspace, "blocked (address)"},
		"localhost":            {"https://localhost/", workspace, "blocked (address)"},
		"localhost, spelled":   {"https://api.LOCALHOST./", workspace, "blocked (address)"},
		"metadata":             {"https://169.254.169.254/", workspace, "blocked (address)"},
		"IPv6 loopback":        {"https://[::1]/", workspace, "blocked (address)"},
		"v4-mapped":            {"https://[::ffff:127.0.0.1]/", workspace, "blocked (address)"},
		"6to4 of loopback":     {"https://[2002:7f00:1::]/", workspace, "blocked (address)"},
		"private":              {"https://10.1.2.3/", workspace, "blocked (address)"},
		"a private name":       {"https://private.test/", workspace, "blocked (address)"},
		"a mixed name":         {"https://mixed.test/", workspace, "blocked (address)"},
		"user, http to public": {"http://public.test/", transport.AddressPolicy{}, "blocked (address)"},
		"an unknown name":      {"https://nowhere.test/", workspace, "dns"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dialled{to: "127.0.0.1:1"}
			cfg := transport.HTTPConfig{URL: c.url, Policy: c.policy, Resolver: &names{of: map[string][]string{
				"private.test": {"10.0.0.1"}, "mixed.test": {"8.8.8.8 10.0.0.1"}, "public.test": {"8.8.8.8"},
			}}}
			if want, early := strings.CutPrefix(c.want, "!"); early {
				if _, err := transport.NewHTTP(cfg); err == nil || err.Error() != want {
					t.Errorf("new gave %v", err)
				}
				return
			}
			w := openDialer(t, cfg, func(h *transport.HTTPDialer) { h.DialForTest(d.dial) })
			if e := w.fails("m", ""); e.Error() != c.want {
				t.Errorf("failed with %v", e)
			}
			if got := d.list(); len(got) != 0 {
				t.Errorf("dialled %q", got)
			}
		})
	}
}

// Acceptance 34: what was checked is what is dialled, for ever.
func TestAddressIsPinned(t *testing.T) {
	url, _ := recording(t)
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
	d := &dialled{to: "127.0.0.1:" + port}
	n := &names{of: map[string][]string{"home.test": {"192.168.0.1", "169.254.169.254"}}}
	w := openDialer(t, transport.HTTPConfig{URL: "http://home.test:" + port + "/mcp", Resolver: n}, func(h *transport.HTTPDialer) { h.DialForTest(d.dial) })
	w.conn.Adopt(mcp.V20260728)
	var ids []int64
	for range 5 {
		ids = append(ids, w.send("m", ""))
	}
	for _, id := range ids {
		w.outcome(id)
	}
	w.call("m", "")
	for _, a := range d.list() {
		if a != "192.168.0.1:"+port {
			t.Errorf("dialled %s", a)
		}
	}
	// The address goes dead: the name is asked again, and checked again.
	d.mu.Lock()
	d.fail = map[string]error{"192.168.0.1:" + port: errors.New("dead")}
	d.mu.Unlock()
	w2 := openDialer(t, transport.HTTPConfig{URL: "http://home.test:" + port + "/mcp", Resolver: n}, func(h *transport.HTTPDialer) { h.DialForTest(d.dial) })
	if e := w2.fails("m", ""); e.Error() != "blocked (address)" {
		t.Errorf("failed with %v", e)
	}
}

// Acceptance 77: the first address fails, the next is tried; field case 41:
// localhost is both loopback addresses.
func TestNextAddress(t *testing.T) {
	url, _ := recording(t)
	at := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	_, port, _ := net.SplitHostPort(at)
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		host string
		fail []string
		want []string
	}{
		"a name":             {"two.test", []string{"10.0.0.1:" + port}, []string{"10.0.0.1:" + port, "[fc00::1]:" + port}},
		"localhost, only v6": {"localhost", []string{"127.0.0.1:" + port}, []string{"127.0.0.1:" + port, "[::1]:" + port}},
		"localhost, only v4": {"localhost", []string{"[::1]:" + port}, []string{"127.0.0.1:" + port}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dialled{to: at, fail: map[string]error{}}
			for _, a := range c.fail {
				d.fail[a] = refused
			}
			w := openDialer(t, transport.HTTPConfig{
				URL: "http://" + c.host + ":" + port + "/mcp", Resolver: &names{of: map[string][]string{"two.test": {"fc00::1 10.0.0.1"}}},
			}, func(h *transport.HTTPDialer) { h.DialForTest(d.dial) })
			w.call("m", "")
			if got := d.list(); !slices.Equal(got, c.want) {
				t.Errorf("dialled %q, want %q", got, c.want)
			}
		})
	}
}

// T8: five seconds for each address, not for all; reference 3.3: silence is the
// answer only when nothing else was one.
func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		black := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		w := openDialer(t, transport.HTTPConfig{
			URL: "https://slow.test/", Resolver: &names{of: map[string][]string{"slow.test": {"8.8.8.8 8.8.4.4"}}},
		}, func(h *transport.HTTPDialer) { h.DialForTest(black) })
		begin := time.Now()
		if e := w.fails("m", ""); e.Error() != "timeout (connect)" {
			t.Errorf("failed with %v", e)
		}
		if took := time.Since(begin); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		w.conn.Close()
	})
}

// Close ends a dial that hangs, though net/http would let it run on.
func TestCloseEndsDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialling := make(chan struct{}, 1)
		w := openDialer(t, transport.HTTPConfig{URL: "https://8.8.8.8/", Limits: transport.Limits{ConnectTimeout: time.Hour}}, func(h *transport.HTTPDialer) {
			h.DialForTest(func(ctx context.Context, _, _ string) (net.Conn, error) {
				dialling <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			})
		})
		w.send("m", "")
		<-dialling
		begin := time.Now()
		w.conn.Close()
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("close took %v", took)
		}
		if events := w.sink.Events(); len(events) != 0 {
			t.Errorf("events %v", events)
		}
	})
}

// The reasons of failures on the wire (T6).
func TestWireFailures(t *testing.T) {
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 64<<10)
				_, _ = c.Read(buf)
				serve(c)
				_ = c.Close()
			}
		}()
		return l.Addr().String()
	}
	say := func(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }
	for name, c := range map[string]struct{ url, want string }{
		"refused":             {"http://127.0.0.1:1/", "transport (refused)"},
		"closed at once":      {"http://" + listen(func(net.Conn) {}), "transport (eof)"},
		"reset":               {"http://" + listen(func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }), "transport (reset)"},
		"no HTTP":             {"http://" + listen(say("SSH-2.0-x\r\n\r\n")), "transport (protocol)"},
		"disagreeing lengths": {"http://" + listen(say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd")), "transport (protocol)"},
		"a negative length":   {"http://" + listen(say("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabcd")), "transport (protocol)"},
		"no TLS there":        {"https://" + listen(say("HTTP/1.0 400 Bad Request\r\n\r\n")), "transport (tls_plaintext)"},
	} {
		t.Run(name, func(t *testing.T) {
			if e := openWeb(t, transport.HTTPConfig{URL: c.url}).fails("tools/call", ""); e.Error() != c.want {
				t.Errorf("failed with %v (%v), want %s", e, errors.Unwrap(e), c.want)
			}
		})
	}
	// Acceptance 86: closing ends a body without a length.
	whole := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + strings.ReplaceAll(good, "$id", "1")
	openWeb(t, transport.HTTPConfig{URL: "http://" + listen(say(whole))}).call("m", "")
}

// secure is an HTTPS server whose certificate is for example.com and 127.0.0.1.
func secure(t *testing.T) (srv *httptest.Server, roots *x509.CertPool, host func() string) {
	var mu sync.Mutex
	var seen string
	srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = r.Host + " " + r.TLS.ServerName + " " + r.Proto
		mu.Unlock()
		writeJSON(w, reply(string(body), `{}`))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots = x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return srv, roots, func() string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// T7, acceptance 72–74.
func TestTLS(t *testing.T) {
	srv, roots, seen := secure(t)
	u, _ := url.Parse(srv.URL)
	n := &names{of: map[string][]string{"example.com": {"8.8.8.8"}, "other.test": {"8.8.8.8"}}}
	open := func(host string, roots *x509.CertPool) *web {
		d := &dialled{to: u.Host}
		return openDialer(t, transport.HTTPConfig{URL: "https://" + host + "/mcp", Resolver: n, Policy: transport.AddressPolicy{Workspace: true}}, func(h *transport.HTTPDialer) {
			h.DialForTest(d.dial)
			h.TrustForTest(roots)
		})
	}
	open("Example.COM:8443", roots).call("m", "")
	if got := seen(); got != "example.com:8443 example.com HTTP/1.1" {
		t.Errorf("the server saw %q", got)
	}
	open("example.com", roots).call("m", "")
	if got := seen(); got != "example.com example.com HTTP/1.1" {
		t.Errorf("the server saw %q", got)
	}
	before := seen()
	if e := open("other.test", roots).fails("m", ""); e.Error() != "transport (tls_hostname)" {
		t.Errorf("another name: %v", e)
	}
	if e := open("example.com", x509.NewCertPool()).fails("m", ""); e.Error() != "transport (tls_certificate)" {
		t.Errorf("untrusted: %v", e)
	}
	if seen() != before {
		t.Error("a refused server served a request")
	}
}

// A TLS handshake that hangs ends in time, and with the connection.
func TestTLSHandshakeHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := transport.HTTPConfig{URL: "https://" + l.Addr().String() + "/", Limits: transport.Limits{ConnectTimeout: 50 * time.Millisecond}}
	if e := openWeb(t, cfg).fails("m", ""); e.Error() != "timeout (connect)" {
		t.Errorf("failed with %v", e)
	}
	cfg.Limits.ConnectTimeout = time.Hour
	w := openWeb(t, cfg)
	w.send("m", "")
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w.conn.Close()
	// The socket is gone: the client hello is all that can be read.
	_ = accepted.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, accepted); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the socket stayed open: %v", err)
	}
	_ = accepted.Close()
}

// T13, field case 41.
func TestProxies(t *testing.T) {
	srv, roots, _ := secure(t)
	target := srv.Listener.Addr().String()
	var mu sync.Mutex
	var asked []string
	status := http.StatusOK
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host)
		code := status
		mu.Unlock()
		if r.Header.Get("Authorization") != "" {
			t.Error("the proxy got the server's credentials")
		}
		if code != http.StatusOK {
			w.WriteHeader(code)
			return
		}
		up, err := net.Dial("tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		defer up.Close()
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
		_, _ = io.Copy(c, up)
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("https_proxy", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("NO_PROXY", ".corp.test")
	t.Setenv("no_proxy", ".corp.test")
	n := &names{of: map[string][]string{"example.com": {"8.8.8.8"}, "x.corp.test": {"10.0.0.1"}}}
	open := func(rawURL string, p transport.AddressPolicy) *web {
		return openDialer(t, transport.HTTPConfig{
			URL: rawURL, Policy: p, Resolver: n, Headers: []transport.Header{{Name: "Authorization", Value: "Bearer x"}},
		}, func(h *transport.HTTPDialer) {
			h.TrustForTest(roots)
			h.DialForTest(func(ctx context.Context, network, addr string) (net.Conn, error) {
				if !strings.HasPrefix(addr, "127.0.0.1:") {
					return nil, errors.New("straight to " + addr)
				}
				return new(net.Dialer).DialContext(ctx, network, addr)
			})
		})
	}
	open("https://example.com/mcp", transport.AddressPolicy{}).call("m", "")
	if !slices.Equal(asked, []string{"CONNECT example.com:443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	for name, w := range map[string]*web{
		"a workspace spec": open("https://example.com/mcp", transport.AddressPolicy{Workspace: true}),
		"NO_PROXY":         open("https://x.corp.test/mcp", transport.AddressPolicy{}),
	} {
		if e := w.fails("m", ""); e.Error() != "transport (connect)" {
			t.Errorf("%s: %v", name, e)
		}
	}
	url, _ := recording(t)
	open(url, transport.AddressPolicy{}).call("m", "")
	open(strings.Replace(url, "127.0.0.1", "localhost", 1), transport.AddressPolicy{AllowHTTP: true}).call("m", "")
	if len(asked) != 1 {
		t.Errorf("the proxy was asked for %q", asked)
	}
	mu.Lock()
	status = http.StatusProxyAuthRequired
	mu.Unlock()
	if e := open("https://example.com/mcp", transport.AddressPolicy{}).fails("m", ""); e.Error() != "transport (proxy, HTTP 407)" {
		t.Errorf("a refusing proxy: %v", e)
	}
}
