package transporttest

import (
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Received is a message as the server of a [Memory] gets it. Request is what the
// session gave to Send; it is zero for responses and cancellations.
type Received struct {
	*jsonrpc.Message
	Request transport.Request

	slot int64 // of a notification
}

// Peer is the server's end of a connection in memory. Its methods may be called
// from any goroutine; they report false when the connection has ended.
type Peer struct{ c *memoryConn }

// Recv waits for the next message of the client, in order.
func (p *Peer) Recv() (*Received, bool) {
	select {
	case r := <-p.c.in:
		return r, true
	case <-p.c.stop:
		return nil, false
	}
}

// Done is closed when the connection ends.
func (p *Peer) Done() <-chan struct{} { return p.c.stop }

// Send delivers m on no stream, and waits until the sink has taken it.
func (p *Peer) Send(m *jsonrpc.Message) bool { return p.SendOn(0, m) }

// SendOn delivers m on the response stream of a request. A response to nothing in
// flight is dropped.
func (p *Peer) SendOn(stream int64, m *jsonrpc.Message) bool {
	return p.report(func() {
		if m.Kind() == jsonrpc.Response && !(stream == 0 && m.ID.IsZero()) {
			id := stream
			if id == 0 {
				id, _ = m.ID.Int64()
			}
			if _, ok := p.c.ledger.Take(id); !ok {
				return
			}
		}
		p.c.sink.Message(stream, m)
	})
}

// Alive breaks the silence of id.
func (p *Peer) Alive(id int64) bool {
	return p.report(func() { p.c.sink.Alive(id) })
}

// Fail ends the request id alone.
func (p *Peer) Fail(id int64, err error) bool {
	return p.report(func() {
		if _, ok := p.c.ledger.Take(id); ok {
			p.c.sink.Failed(id, err)
		}
	})
}

// Settle ends the request id with nothing to deliver.
func (p *Peer) Settle(id int64) bool {
	return p.report(func() {
		if _, ok := p.c.ledger.Take(id); ok {
			p.c.sink.Settled(id)
		}
	})
}

// Exit ends the connection with Closed(err) once serve has returned.
func (p *Peer) Exit(err error) {
	p.c.exit.CompareAndSwap(nil, &err)
	p.c.ledger.End()
	p.c.end()
}

// report calls the sink, one call at a time. A channel is the lock, so that a
// goroutine waiting here does not keep a synctest clock from moving.
func (p *Peer) report(fn func()) bool {
	select {
	case <-p.c.stop:
		return false
	default:
	}
	select {
	case p.c.wire <- struct{}{}:
	case <-p.c.stop:
		return false
	}
	defer func() { <-p.c.wire }()
	return p.c.ledger.Report(fn)
}
