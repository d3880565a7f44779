package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport/internal/ledger"
)

const (
	// asideTimeout bounds a POST that nobody waits for: a response of ours, a
	// cancellation.
	asideTimeout = 30 * time.Second
	// goodbyeTimeout bounds the DELETE of a session at the end.
	goodbyeTimeout = time.Second
	// endGrace is how long Close waits for its goroutines to see the end.
	endGrace = time.Second
)

// httpConn is one connection. Each request is a goroutine of its own; nothing runs
// between requests, but for the stream of ListenLegacy.
type httpConn struct {
	dialer *HTTPDialer
	sink   Sink
	ledger ledger.Ledger
	pool   *pool
	mailbox
	// work ends every exchange.
	work context.Context
	stop context.CancelFunc

	mu        sync.Mutex
	peer      session
	cancels   map[int64]context.CancelFunc
	listening bool               // ListenLegacy was asked for
	heard     <-chan struct{}    // the handshake that the stream belongs to
	stands    <-chan struct{}    // closed when the stream stands, or is not waited for
	unlisten  context.CancelFunc // ends the stream that runs
	closed    bool               // no goroutine may start any more

	running  sync.WaitGroup
	closing  sync.Once
	released chan struct{}
	oddity   sync.Once // the first event that is no message was noted
}

func (d *HTTPDialer) newConn(sink Sink) *httpConn {
	c := &httpConn{
		dialer: d, sink: sink, pool: d.newPool(),
		cancels: map[int64]context.CancelFunc{}, released: make(chan struct{}),
	}
	c.peer.mailed = d.cfg.SSE
	c.mailbox = newMailbox()
	c.work, c.stop = context.WithCancel(context.Background())
	return c
}

// Send implements [Conn].
func (c *httpConn) Send(id int64, req Request) error {
	if err := c.ledger.Add(id, req.Method); err != nil {
		if errors.Is(err, ledger.ErrID) {
			return &Error{Code: Broken, Reason: "id", Err: err}
		}
		return errClosed()
	}
	x := &exchange{conn: c, id: id, req: req}
	m := jsonrpc.Notify(req.Method, req.Params)
	if !req.Notification {
		m.ID = jsonrpc.IntID(id)
	}
	x.body = m.Append(nil)

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		c.ledger.Take(id)
		return errClosed()
	}
	x.framing = c.peer.framingFor(&req)
	switch req.Method {
	case mcp.MethodInitialize:
		c.peer.id = ""
	case mcp.NotifyInitialized:
		x.completes = make(chan struct{})
		c.peer.ready = x.completes
	}
	x.ctx, x.cancel = context.WithCancel(c.work)
	c.cancels[id] = x.cancel
	c.running.Go(x.run)
	return nil
}

// Cancel implements [Conn]. The stream is closed in both eras; a legacy server does
// not take that for a cancellation and is told as well (T10).
func (c *httpConn) Cancel(id int64) bool {
	method, ok := c.ledger.Take(id)
	if !ok {
		return false
	}
	c.mu.Lock()
	if cancel := c.cancels[id]; cancel != nil {
		cancel()
	}
	tell := c.peer.version.Legacy() && method != mcp.MethodInitialize && method != mcp.MethodDiscover && !isNotification(method)
	c.mu.Unlock()
	if tell {
		m := jsonrpc.Notify(mcp.NotifyCancelled, fmt.Appendf(nil, `{"requestId":%d,"reason":"cancelled by the client"}`, id))
		c.aside(m)
	}
	return true
}

// Respond implements [Conn]. A modern client must not send responses
// (streamable-http "Sending Messages"), and a modern server must not ask: nothing is
// sent to one.
func (c *httpConn) Respond(method string, reply *jsonrpc.Message) error {
	if c.ledger.Ended() {
		return errClosed()
	}
	c.mu.Lock()
	modern := c.peer.version.Modern()
	c.mu.Unlock()
	if modern {
		c.note("a modern server's " + clipped(method) + " was not answered: that era has no responses")
		return nil
	}
	c.aside(reply)
	return nil
}

// Adopt implements [Conn].
func (c *httpConn) Adopt(v mcp.Version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer.version = v
}

// Close implements [Conn]. A legacy session is given back meanwhile, if the server
// does not take long over it.
func (c *httpConn) Close() {
	c.closing.Do(func() { c.end(nil) })
	<-c.released
}

// end releases everything. With a cause the connection ends by itself, and says so.
func (c *httpConn) end(cause *Error) {
	c.ledger.End()
	c.ledger.TakeAll()
	c.mu.Lock()
	c.closed = true
	f := framing{version: c.peer.version, session: c.peer.id}
	c.mu.Unlock()
	c.stop()

	farewell := make(chan struct{})
	go func() {
		defer close(farewell)
		if f.session != "" {
			c.goodbye(f)
		}
	}()
	if cause == nil {
		c.ledger.Silence(sinkGrace)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.running.Wait()
	}()
	// A goroutine that is inside the sink, or is the caller, ends later.
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case <-gone:
	case <-grace.C:
	}
	<-farewell
	c.pool.close()
	if cause == nil || !c.ledger.Report(func() {
		close(c.released)
		c.sink.Closed(cause)
	}) {
		close(c.released)
	}
	c.ledger.Silence(0)
}

// goodbye ends the session at the server (2025-11-25 "Session Management").
func (c *httpConn) goodbye(f framing) {
	ctx, cancel := context.WithTimeout(c.pool.ctx, goodbyeTimeout)
	defer cancel()
	h := f.bare(c.dialer.base)
	h.Del("Content-Type")
	resp, err := c.roundTrip(ctx, c.dialer.url, http.MethodDelete, h, nil)
	if err != nil {
		c.note("the session could not be ended: " + err.Error())
		return
	}
	finish(resp)
}

// aside POSTs a message that has no slot and no outcome.
func (c *httpConn) aside(m *jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	f, to := framing{version: c.peer.version, session: c.peer.id}, c.dialer.url
	if c.peer.mailed {
		if to = c.peer.post; to == nil {
			return // the server knows of nothing yet
		}
	}
	c.running.Go(func() {
		ctx, cancel := context.WithTimeout(c.work, asideTimeout)
		defer cancel()
		resp, err := c.roundTrip(ctx, to, http.MethodPost, f.bare(c.dialer.base), m.Append(nil))
		if err == nil {
			if resp.StatusCode < 200 || resp.StatusCode > 299 {
				err = &Error{Code: HTTPStatus, Status: resp.StatusCode}
			}
			finish(resp)
		}
		if err != nil && ctx.Err() == nil {
			what := "a response"
			if m.Method != "" {
				what = "a cancellation"
			}
			c.note(what + " was not taken: " + err.Error())
		}
	})
}

func (c *httpConn) note(line string) {
	if c.dialer.cfg.Log != nil {
		c.dialer.cfg.Log("transport", line)
	}
}

func (c *httpConn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cancels, id)
}

// clipped bounds a foreign word for a note.
func clipped(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
