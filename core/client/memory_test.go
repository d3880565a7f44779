package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// peer is a server in memory: a dialer whose connections hand every request to
// answer, on a goroutine of its own. It works in a synctest bubble.
type peer struct {
	kind    transport.Kind
	connect func(n int) error // of the n-th Connect, from 1
	answer  func(c *peerConn, id int64, r transport.Request)

	mu        sync.Mutex
	conns     int
	log       []string // methods in order, cancellations as "cancel"
	reqs      []transport.Request
	ids       []int64 // of reqs
	cancelled []int64 // the ids of cancellations, in order
}

func (p *peer) Kind() transport.Kind {
	if p.kind == "" {
		return transport.HTTP
	}
	return p.kind
}

func (p *peer) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	p.mu.Lock()
	p.conns++
	n := p.conns
	p.mu.Unlock()
	if p.connect != nil {
		if err := p.connect(n); err != nil {
			return nil, err
		}
	}
	return &peerConn{peer: p, sink: sink, n: n, open: map[int64]bool{}}, nil
}

func (p *peer) connects() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

func (p *peer) methods() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

func (p *peer) count(method string) int {
	n := 0
	for _, m := range p.methods() {
		if m == method {
			n++
		}
	}
	return n
}

// last returns the params of the newest request of a method.
func (p *peer) last(method string) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range slices.Backward(p.reqs) {
		if r.Method == method {
			return r.Params
		}
	}
	return nil
}

type peerConn struct {
	peer *peer
	sink transport.Sink
	n    int

	mu      sync.Mutex
	open    map[int64]bool
	closed  bool
	version mcp.Version
	replies []*jsonrpc.Message
	wg      sync.WaitGroup
}

func (c *peerConn) Send(id int64, r transport.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &transport.Error{Code: transport.Broken, Reason: "closed"}
	}
	c.open[id] = true
	c.peer.mu.Lock()
	c.peer.log = append(c.peer.log, r.Method)
	c.peer.reqs = append(c.peer.reqs, r)
	c.peer.ids = append(c.peer.ids, id)
	c.peer.mu.Unlock()
	c.wg.Go(func() {
		if r.Notification {
			if c.claim(id) {
				c.sink.Settled(id)
			}
			return
		}
		c.peer.answer(c, id, r)
	})
	return nil
}

func (c *peerConn) claim(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok := c.open[id] && !c.closed
	delete(c.open, id)
	return ok
}

func (c *peerConn) Cancel(id int64) bool {
	c.peer.mu.Lock()
	c.peer.log = append(c.peer.log, "cancel")
	c.peer.cancelled = append(c.peer.cancelled, id)
	c.peer.mu.Unlock()
	return c.claim(id)
}

func (c *peerConn) Respond(_ string, m *jsonrpc.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies = append(c.replies, m)
	return nil
}

func (c *peerConn) Adopt(v mcp.Version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = v
}

func (c *peerConn) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}

func (c *peerConn) result(id int64, result string) {
	if c.claim(id) {
		c.sink.Message(c.stream(id), jsonrpc.Reply(jsonrpc.IntID(id), json.RawMessage(result)))
	}
}

func (c *peerConn) refuse(id, code int64, message string) {
	if c.claim(id) {
		c.sink.Message(c.stream(id), jsonrpc.Refuse(jsonrpc.IntID(id), jsonrpc.Errorf(code, "%s", message)))
	}
}

func (c *peerConn) fail(id int64, err error) {
	if c.claim(id) {
		c.sink.Failed(id, err)
	}
}

// stream is the id for HTTP, where each request has its own, and 0 for stdio.
func (c *peerConn) stream(id int64) int64 {
	if c.peer.Kind() == transport.Stdio {
		return 0
	}
	return id
}

func (c *peerConn) die(err error) {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if !was {
		c.sink.Closed(err)
	}
}

func (c *peerConn) asked() []*jsonrpc.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.replies)
}

const (
	discovered  = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}`
	initialized = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"l","version":"1"}}`
	oneTool     = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
)

// modern answers like a modern server with one tool; call answers tools/call.
func modern(call func(c *peerConn, id int64, r transport.Request)) func(*peerConn, int64, transport.Request) {
	return func(c *peerConn, id int64, r transport.Request) {
		switch r.Method {
		case mcp.MethodDiscover:
			c.result(id, discovered)
		case mcp.MethodToolsList:
			c.result(id, `{"resultType":"complete",`+oneTool[1:])
		case mcp.MethodToolsCall:
			call(c, id, r)
		default:
			c.refuse(id, jsonrpc.CodeMethodNotFound, "no")
		}
	}
}

// legacy answers like a legacy server that refuses the probe with refuse.
func legacy(refuse func(c *peerConn, id int64), call func(c *peerConn, id int64, r transport.Request)) func(*peerConn, int64, transport.Request) {
	return func(c *peerConn, id int64, r transport.Request) {
		switch r.Method {
		case mcp.MethodDiscover:
			refuse(c, id)
		case mcp.MethodInitialize:
			c.result(id, initialized)
		case mcp.MethodToolsList:
			c.result(id, oneTool)
		case mcp.MethodToolsCall:
			call(c, id, r)
		default:
			c.refuse(id, jsonrpc.CodeMethodNotFound, "no")
		}
	}
}

func notFound(c *peerConn, id int64) { c.refuse(id, jsonrpc.CodeMethodNotFound, "Method not found") }

func done(c *peerConn, id int64, _ transport.Request) { c.result(id, `{"content":[]}`) }

func httpFailure(status int) error {
	return &transport.Error{Code: transport.HTTPStatus, Status: status}
}

var testKey = func() era.Key {
	k, err := era.URLKey("https://a.example/mcp")
	if err != nil {
		panic(err)
	}
	return k
}()

// owner is a test, or one try of a property.
type owner interface {
	Helper()
	Cleanup(func())
}

// start runs a session over p until its owner ends.
func start(t owner, p transport.Dialer, edit ...func(*Config)) *Session {
	t.Helper()
	s, _ := startUntil(t, p, edit...)
	return s
}

// startUntil is start with a way to end the session before.
func startUntil(t owner, p transport.Dialer, edit ...func(*Config)) (*Session, context.CancelFunc) {
	t.Helper()
	cfg := Config{Name: "a", Dialer: p, Key: testKey, Verdicts: era.NewVerdicts(), Limits: Limits{VerdictTTL: -1}}
	for _, f := range edit {
		f(&cfg)
	}
	s := New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s, cancel
}

func wantState(t *testing.T, s *Session, want State) Status {
	t.Helper()
	st := s.Status()
	if st.State != want {
		t.Fatalf("state is %s (%v), want %s", st.State, st.Err, want)
	}
	return st
}

func wantCode(t *testing.T, err error, want transport.Code) {
	t.Helper()
	if !errors.Is(err, &transport.Error{Code: want}) {
		t.Fatalf("got %v, want %s", err, want)
	}
}

func wantMethods(t *testing.T, p *peer, want ...string) {
	t.Helper()
	if got := p.methods(); !slices.Equal(got, want) {
		t.Fatalf("the wire saw %q, want %q", got, want)
	}
}

var background = context.Background()

const tick = 10 * time.Millisecond
