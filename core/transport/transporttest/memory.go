package transporttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/internal/ledger"
)

// Memory is a dialer whose server is a Go function. Its fields may be set before
// the first Connect. It behaves as stdio does: one ordered pipe each way, a
// cancellation is a message, and the end of the server closes the connection.
type Memory struct {
	// Gate is asked by Connect; nil allows.
	Gate transport.Gate
	// Wire is the kind it claims to be; Stdio unless set.
	Wire transport.Kind
	// Key is what [transport.Origin] gives.
	Key string
	// Refuse, if set, is asked after the gate; its error is Connect's.
	Refuse func() error

	serve    func(*Peer)
	connects atomic.Int64
}

// NewMemory returns a dialer that runs serve for every connection. The connection
// ends as by an exit with code 0 when serve returns; serve must return soon after
// [Peer.Recv] has reported false.
func NewMemory(serve func(*Peer)) *Memory {
	return &Memory{Wire: transport.Stdio, serve: serve}
}

var _ transport.Dialer = (*Memory)(nil)

// Kind returns Wire.
func (m *Memory) Kind() transport.Kind { return m.Wire }

// Origin returns Key.
func (m *Memory) Origin() string { return m.Key }

// Connects counts the connections made so far.
func (m *Memory) Connects() int { return int(m.connects.Load()) }

// Connect implements [transport.Dialer].
func (m *Memory) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	if m.Gate != nil {
		if err := m.Gate(); err != nil {
			return nil, &transport.Error{Code: transport.Blocked, Reason: "source", Err: err}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, &transport.Error{Code: transport.Cancelled, Err: err}
	}
	if m.Refuse != nil {
		if err := m.Refuse(); err != nil {
			return nil, err
		}
	}
	m.connects.Add(1)
	c := &memoryConn{
		sink:     sink,
		wake:     make(chan struct{}, 1),
		in:       make(chan *Received),
		wire:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		released: make(chan struct{}),
	}
	go c.run(m.serve)
	return c, nil
}

// memoryQueue bounds what a server that does not read may have waiting.
const memoryQueue = 1024

// memoryGrace is how long Close waits for a sink method or for serve.
const memoryGrace = 250 * time.Millisecond

type memoryConn struct {
	sink   transport.Sink
	ledger ledger.Ledger

	mu    sync.Mutex
	queue []*Received
	wake  chan struct{}

	in   chan *Received // to the server
	wire chan struct{}  // held by who calls the sink for the server

	exit     atomic.Pointer[error]
	stopOnce sync.Once
	stop     chan struct{} // closed when either side ends the connection
	released chan struct{} // closed when nothing of it runs any more
}

func (c *memoryConn) run(serve func(*Peer)) {
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		c.pump()
	}()
	serve(&Peer{c})
	c.ledger.End()
	c.end()
	<-pumped
	c.wire <- struct{}{} // the last message of the server goes first
	var err error = &transport.Error{Code: transport.Exited}
	if p := c.exit.Load(); p != nil {
		err = *p
	}
	c.ledger.TakeAll()
	told := c.ledger.Report(func() {
		close(c.released)
		c.sink.Closed(err)
	})
	if !told {
		close(c.released)
	}
	c.ledger.Silence(0)
}

func (c *memoryConn) end() { c.stopOnce.Do(func() { close(c.stop) }) }

// pump carries the queue to the server, one message at a time.
func (c *memoryConn) pump() {
	for {
		c.mu.Lock()
		var next *Received
		if len(c.queue) > 0 {
			next = c.queue[0]
			c.queue = c.queue[1:]
		}
		c.mu.Unlock()
		if next == nil {
			select {
			case <-c.wake:
				continue
			case <-c.stop:
				return
			}
		}
		select {
		case c.in <- next:
		case <-c.stop:
			return
		}
		if next.slot != 0 {
			if _, ok := c.ledger.Take(next.slot); ok {
				c.ledger.Report(func() { c.sink.Settled(next.slot) })
			}
		}
	}
}

func (c *memoryConn) push(r *Received) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) >= memoryQueue {
		return &transport.Error{Code: transport.Busy}
	}
	c.queue = append(c.queue, r)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// Send implements [transport.Conn].
func (c *memoryConn) Send(id int64, req transport.Request) error {
	if err := c.ledger.Add(id, req.Method); err != nil {
		reason := "closed"
		if errors.Is(err, ledger.ErrID) {
			reason = "id"
		}
		return &transport.Error{Code: transport.Broken, Reason: reason, Err: err}
	}
	r := &Received{Message: jsonrpc.Call(jsonrpc.IntID(id), req.Method, req.Params), Request: req}
	if req.Notification {
		r = &Received{Message: jsonrpc.Notify(req.Method, req.Params), Request: req, slot: id}
	}
	if err := c.push(r); err != nil {
		c.ledger.Take(id)
		return err
	}
	return nil
}

// Cancel implements [transport.Conn].
func (c *memoryConn) Cancel(id int64) bool {
	method, ok := c.ledger.Take(id)
	if !ok {
		return false
	}
	c.mu.Lock()
	queued := len(c.queue)
	c.queue = slices.DeleteFunc(c.queue, func(r *Received) bool {
		return r.slot == id || r.Kind() == jsonrpc.Request && r.ID == jsonrpc.IntID(id)
	})
	unsent := len(c.queue) < queued
	c.mu.Unlock()
	if !unsent && method != mcp.MethodInitialize {
		params := json.RawMessage(fmt.Sprintf(`{"requestId":%d}`, id))
		_ = c.push(&Received{Message: jsonrpc.Notify(mcp.NotifyCancelled, params)}) // the server does not read
	}
	return true
}

// Respond implements [transport.Conn].
func (c *memoryConn) Respond(_ string, reply *jsonrpc.Message) error {
	if c.ledger.Ended() {
		return &transport.Error{Code: transport.Broken, Reason: "closed"}
	}
	return c.push(&Received{Message: reply})
}

// Adopt implements [transport.Conn].
func (c *memoryConn) Adopt(mcp.Version) {}

// Close implements [transport.Conn].
func (c *memoryConn) Close() {
	c.ledger.End()
	c.end()
	c.ledger.Silence(memoryGrace)
	t := time.NewTimer(memoryGrace)
	defer t.Stop()
	select {
	case <-c.released:
	case <-t.C:
	}
}
