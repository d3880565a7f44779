package server

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Transport is what a front door declares itself to be (S1).
type Transport string

// The transports.
const (
	StdioTransport Transport = "stdio"
	HTTPTransport  Transport = "http"
)

// Peer is what a front door vouches for; nothing in it was said by the client.
type Peer struct {
	// ID is the connection's id: opaque, and unique while the connection lives.
	ID string
	// Owner is whose shares the work counts against (S7): the legacy session,
	// the stdio process, the authenticated client.
	Owner string
	// Client is the authenticated client, "" where the front door knows none.
	Client    string
	Transport Transport
}

// Outlet takes what the machine sends on one connection. It is called from many
// goroutines and must keep the order of calls from any one of them.
type Outlet interface {
	// Send delivers a message. About is the id of the client's request that the
	// message belongs to: its response, or what is sent while it is handled; zero
	// for a message on its own. Send may block, within bounds, until ctx ends.
	// The error says that the message cannot reach the client.
	Send(ctx context.Context, m *jsonrpc.Message, about jsonrpc.ID) error
	// Ended says that nothing more comes about the request, whether it was
	// answered or cancelled.
	Ended(id jsonrpc.ID)
}

// Conn is one peer's connection to the machine. Its front door calls Handle for
// each message in the order of their arrival, and Close once.
type Conn struct {
	server *Server
	peer   Peer
	out    Outlet
	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	calls   map[jsonrpc.ID]*Call
	asked   map[jsonrpc.ID]chan *jsonrpc.Message
	drained bool
	drain   chan struct{} // closed by Drain
	legacy  *Caller       // what initialize said; nil before it
	watch   *listener     // the legacy session's subscriptions
}

// Open starts a connection.
func (s *Server) Open(p Peer, out Outlet) *Conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Conn{
		server: s, peer: p, out: out, ctx: ctx, cancel: cancel,
		calls: map[jsonrpc.ID]*Call{}, asked: map[jsonrpc.ID]chan *jsonrpc.Message{},
		drain: make(chan struct{}),
	}
}

// Drain ends the connection's subscriptions/listen streams with their final results,
// those that come later too: the first step of a graceful stop (basic/patterns/
// subscriptions "Graceful Closure").
func (c *Conn) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.drained {
		c.drained = true
		close(c.drain)
	}
}

// Close ends the connection: what it started is cancelled and nothing more is
// sent. It does not wait; see [Conn.Wait].
func (c *Conn) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel(ErrGone)
	c.server.capable.drop(c)
}

// Wait returns when everything the closed connection ran has ended, or with ctx's
// error when handlers do not heed their contexts.
func (c *Conn) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		c.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Version is the legacy revision that was negotiated, "" before initialize.
func (c *Conn) Version() mcp.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.legacy == nil {
		return ""
	}
	return c.legacy.Version
}

// Handle takes one message. It returns when the message is answered or its handler
// was started, never waiting for a handler.
func (c *Conn) Handle(m *jsonrpc.Message) {
	switch m.Kind() {
	case jsonrpc.Request:
		c.request(m)
	case jsonrpc.Notification:
		c.notified(m)
	case jsonrpc.Response:
		c.answered(m)
	}
}

// Refuse answers a message that [jsonrpc.Decode] did not take: a request by its id
// if it could be read, what is no request not at all (S2, field case 21). It
// reports whether there was anything to answer.
func (c *Conn) Refuse(err error) bool {
	m := refusal(err)
	if m == nil {
		return false
	}
	_ = c.send(c.ctx, m, jsonrpc.ID{})
	return true
}

func (c *Conn) notified(m *jsonrpc.Message) {
	switch m.Method {
	case mcp.NotifyCancelled:
		id, err := jsonrpc.ParseID(fieldsOf(m.Params)["requestId"])
		if err != nil {
			return // malformed cancellations are ignored (basic/patterns/cancellation)
		}
		c.mu.Lock()
		call := c.calls[id]
		c.mu.Unlock()
		if call != nil {
			call.stop(ErrCancelled)
		}
	case mcp.NotifyInitialized:
		c.mu.Lock()
		start := c.watch != nil && !c.watch.started
		if start {
			c.watch.started = true
		}
		c.mu.Unlock()
		start = start && c.begin()
		if start {
			go func() {
				defer c.work.Done()
				c.watch.run(c.ctx)
			}()
		}
	}
}

// send delivers a message unless the connection is closed: a handler that ends
// because of that must not be heard any more.
func (c *Conn) send(ctx context.Context, m *jsonrpc.Message, about jsonrpc.ID) error {
	if c.ctx.Err() != nil {
		return ErrGone
	}
	return c.out.Send(ctx, m, about)
}

// begin counts one more goroutine of the connection; false when it is closed.
func (c *Conn) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Add(1)
	}
	return !c.closed
}

// initialize starts, or starts anew, the legacy session (2025-11-25
// basic/lifecycle "Version Negotiation").
func (c *Conn) initialize(params map[string]json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	who := Caller{LogLevel: "info"}
	var asked mcp.Version
	if json.Unmarshal(params["protocolVersion"], &asked) != nil || asked == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "initialize needs a protocolVersion")
	}
	who.Version = mcp.LatestLegacy
	if asked.Supported() && asked.Legacy() {
		who.Version = asked
	}
	_ = json.Unmarshal(params["capabilities"], &who.Capabilities)
	_ = json.Unmarshal(params["clientInfo"], &who.Client)

	watch := newListener(c.server, func(method string, p json.RawMessage) {
		_ = c.send(c.ctx, jsonrpc.Notify(method, p), jsonrpc.ID{})
	})
	watch.lists = [3]bool{true, true, true}
	c.mu.Lock()
	c.legacy = &who
	if c.watch == nil && !c.closed {
		c.watch = watch
		c.work.Add(1)
		c.server.listen(watch)
		context.AfterFunc(c.ctx, func() {
			defer c.work.Done()
			c.server.unlisten(watch)
		})
	}
	c.mu.Unlock()
	c.server.capable.record(c)
	b, _ := json.Marshal(struct {
		ProtocolVersion mcp.Version     `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    string          `json:"instructions,omitempty"`
	}{who.Version, c.server.capabilities(), c.server.info, c.server.instructions})
	return b, nil
}
