package transport

import (
	"context"
	"net/http"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// exchange is one request or notification from Send to its outcome. It belongs to
// its goroutine.
type exchange struct {
	conn    *httpConn
	id      int64
	req     Request
	framing framing
	body    []byte
	ctx     context.Context
	cancel  context.CancelFunc
	// completes, if not nil, is closed at the end: this is what completes the
	// handshake.
	completes chan struct{}

	resp *http.Response // the latest, whose body finish drains
	vote vote
}

// outcome is how an exchange ended: with a response, an error, or neither.
type outcome struct {
	msg    *jsonrpc.Message
	err    *Error
	status int // of the answer, 0 when none came
	// elsewhere says that the request's outcome comes, or has come, by the event
	// stream of HTTP+SSE.
	elsewhere bool
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

func (x *exchange) run() {
	defer x.conn.forget(x.id)
	defer x.cancel()
	if x.completes != nil {
		defer x.conn.established(x.completes)
	}
	if !x.framing.wait(x.ctx) || !x.conn.stood(x.ctx, x.framing, x.req.Method) {
		return
	}
	lease, refused := x.conn.dialer.allow()
	if refused != nil {
		x.report(outcome{err: refused})
		return
	}
	x.vote.lease = lease
	o := x.perform()
	if x.ctx.Err() != nil {
		lease.Nothing() // nobody wants it any more
	} else {
		x.vote.count(x.req.Method, o)
		if o.err != nil {
			x.conn.note(x.req.Method + ": " + o.err.Error())
		}
		if !o.elsewhere {
			x.report(o)
		}
	}
	if x.resp != nil {
		finish(x.resp)
	}
}

// perform sends the request and reads the answer.
func (x *exchange) perform() outcome {
	if x.framing.mailed {
		return x.mail()
	}
	o := x.post()
	if x.req.Method == mcp.MethodInitialize && outdated(o.err) {
		return x.older(o)
	}
	return o
}

// post sends the request by Streamable HTTP.
func (x *exchange) post() outcome {
	resp, err := x.conn.roundTrip(x.ctx, x.conn.dialer.url, http.MethodPost, x.framing.header(x.conn.dialer.base, &x.req), x.body)
	if err != nil {
		return outcome{err: wireError(err)}
	}
	x.resp = resp
	x.alive()
	o := x.read(resp)
	o.status = resp.StatusCode
	return x.session(o)
}

func (x *exchange) read(resp *http.Response) outcome {
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		return outcome{err: redirectRefused(resp)}
	case s < 200 || s > 299:
		return outcome{err: x.refusal(resp)}
	}
	x.vote.accepted(x.req.Method)
	if x.req.Method == mcp.MethodInitialize {
		x.conn.captured(resp.Header.Get(mcp.HeaderSession))
	}
	if x.req.Notification {
		return outcome{}
	}
	return x.answer(resp)
}

// session turns the answers that mean "your session is gone" into SessionRejected.
func (x *exchange) session(o outcome) outcome {
	if x.framing.session == "" {
		return o
	}
	var rpc *jsonrpc.Error
	switch {
	case o.err != nil && o.err.Code == HTTPStatus:
		rpc = o.err.RPC
	case o.msg != nil:
		rpc = o.msg.Error
	default:
		return o
	}
	if sessionLost(o.status, rpc, o.msg != nil && o.msg.ID.IsZero()) {
		return outcome{err: &Error{Code: SessionRejected, Status: o.status, RPC: rpc}, status: o.status}
	}
	return o
}

// report tells the sink, unless Cancel was first.
func (x *exchange) report(o outcome) {
	c := x.conn
	if _, ok := c.ledger.Take(x.id); !ok {
		return
	}
	c.ledger.Report(func() {
		switch {
		case o.err != nil:
			c.sink.Failed(x.id, o.err)
		case o.msg != nil:
			c.sink.Message(x.id, o.msg)
		default:
			c.sink.Settled(x.id)
		}
	})
}

// alive breaks the silence (T8).
func (x *exchange) alive() {
	if x.ctx.Err() == nil {
		x.conn.ledger.Report(func() { x.conn.sink.Alive(x.id) })
	}
}

// captured keeps the session id of an initialize answer. One with characters that a
// server must not use is not sent back.
func (c *httpConn) captured(id string) {
	for _, b := range []byte(id) {
		if b <= ' ' || b > '~' {
			id = ""
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer.id = id
}

// established lets the requests go that wait for the handshake. A standalone stream
// belongs to a session and starts over with it.
func (c *httpConn) established(done chan struct{}) {
	c.mu.Lock()
	again := c.listening && c.heard != done
	c.mu.Unlock()
	if again {
		c.ListenLegacy()
	}
	close(done)
}
