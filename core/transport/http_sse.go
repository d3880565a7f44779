package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	// endpointWait bounds opening the event stream up to its endpoint event.
	endpointWait = 10 * time.Second
	// maxEndpoint bounds the URL in that event.
	maxEndpoint = 8 << 10
)

// mailbox is what HTTP+SSE of 2024-11-05 needs in a connection (T12): one event
// stream for everything from the server, and a second URL for everything to it.
type mailbox struct {
	// opening is held by who opens the stream.
	opening chan struct{}
	// greeting passes the answer to initialize on, for the breaker.
	greeting chan *jsonrpc.Message
}

func newMailbox() mailbox {
	return mailbox{opening: make(chan struct{}, 1), greeting: make(chan *jsonrpc.Message, 1)}
}

// outdated reports whether the refusal of initialize may come from a server that is
// older than Streamable HTTP (2025-11-25 "Backwards Compatibility"). One that names
// the session or the version knows more than that (T12).
func outdated(e *Error) bool {
	if e == nil || e.Code != HTTPStatus {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return false
	}
	if e.RPC == nil {
		return true
	}
	words := strings.ToLower(e.RPC.Message)
	return !mcp.ModernError(e.RPC.Code) && !strings.Contains(words, "session") && !strings.Contains(words, "version") && !namesSession(words)
}

// older repeats a refused initialize by HTTP+SSE. If the server has no such stream
// the refusal stands, with what came of the second attempt behind it.
func (x *exchange) older(refused outcome) outcome {
	finish(x.resp)
	if _, err := x.conn.postbox(x.ctx); err != nil {
		e := *refused.err
		e.Words = append(e.Words[:len(e.Words):len(e.Words)], "then, by HTTP+SSE: "+err.Error())
		refused.err = &e
		return refused
	}
	x.conn.note("the server speaks HTTP+SSE, which is deprecated")
	return x.mail()
}

// mail sends the request to the endpoint. Its answer comes by the event stream.
func (x *exchange) mail() outcome {
	if x.req.Method == mcp.MethodDiscover {
		// This wire is older than the method; some servers fail for good when
		// anything comes before initialize. It says nothing of the server's health.
		x.vote.lease.Nothing()
		return outcome{msg: jsonrpc.Refuse(jsonrpc.IntID(x.id), jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "HTTP+SSE has no such method"))}
	}
	to, refused := x.conn.postbox(x.ctx)
	if refused != nil {
		return outcome{err: refused, status: refused.Status}
	}
	resp, err := x.conn.roundTrip(x.ctx, to, http.MethodPost, x.framing.header(x.conn.dialer.base, &x.req), x.body)
	if err != nil {
		return outcome{err: wireError(err)}
	}
	x.resp = resp
	x.alive()
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		return outcome{err: redirectRefused(resp), status: s}
	case s < 200 || s > 299:
		e := x.refusal(resp)
		if sessionLost(s, e.RPC, false) {
			// The endpoint is gone, and with it what the stream was for.
			x.conn.lost(&Error{Code: SessionRejected, Status: s, RPC: e.RPC})
			return outcome{err: e, status: s, elsewhere: true}
		}
		return outcome{err: e, status: s}
	}
	x.vote.accepted(x.req.Method)
	o := outcome{status: resp.StatusCode, elsewhere: !x.req.Notification}
	if x.req.Method == mcp.MethodInitialize {
		select {
		case o.msg = <-x.conn.greeting:
		case <-x.ctx.Done():
		}
	}
	return o
}

// postbox returns where messages go. The first caller opens the event stream.
func (c *httpConn) postbox(ctx context.Context) (*url.URL, *Error) {
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-ctx.Done():
		return nil, wireError(ctx.Err())
	}
	c.mu.Lock()
	to := c.peer.post
	c.mu.Unlock()
	if to != nil {
		return to, nil
	}
	// The stream outlives the request that opens it, from the endpoint event on.
	life, end := context.WithCancel(c.work)
	hurry := context.AfterFunc(ctx, end)
	patience := time.AfterFunc(c.dialer.wait, end)
	s, to, err := c.subscribe(life)
	late := !patience.Stop()
	if !hurry() || late || err != nil {
		end()
		if s != nil {
			_ = s.body.Close()
		}
		switch {
		case ctx.Err() != nil:
			return nil, wireError(ctx.Err())
		case late:
			return nil, &Error{Code: Timeout, Reason: "endpoint"}
		}
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		end()
		_ = s.body.Close()
		return nil, wireError(errClosed())
	}
	c.peer.mailed, c.peer.post = true, to
	c.running.Go(func() {
		defer end()
		c.deliver(s)
	})
	return to, nil
}

// letters is an event stream of HTTP+SSE.
type letters struct {
	*eventReader
	body io.Closer
}

// subscribe opens the event stream and reads it up to the endpoint.
func (c *httpConn) subscribe(ctx context.Context) (*letters, *url.URL, *Error) {
	resp, err := c.get(ctx, framing{}, "")
	if err != nil {
		return nil, nil, wireError(err)
	}
	s := &letters{body: resp.Body}
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		return s, nil, redirectRefused(resp)
	case code != http.StatusOK:
		return s, nil, &Error{Code: HTTPStatus, Status: code, RetryAfter: retryAfter(resp.Header)}
	case mediaNamed(resp.Header.Get("Content-Type")) != mediaSSE:
		return s, nil, notMCP(mediaNamed(resp.Header.Get("Content-Type")), resp, nil)
	}
	body, refused := open(resp, nil)
	if refused != nil {
		return s, nil, refused
	}
	s.eventReader = newEventReader(body, c.dialer.cfg.Limits.MaxBytes)
	for {
		ev, err := s.next()
		if err != nil {
			return s, nil, wireError(err)
		}
		if ev.kind != "endpoint" {
			continue // a greeting of a proxy or a framework; the time is bounded
		}
		to := c.postURL(resp.Request.URL, string(ev.data))
		if to == nil {
			return s, nil, &Error{Code: Blocked, Reason: "endpoint"}
		}
		return s, to, nil
	}
}

// postURL reads an endpoint event; nil for a URL outside of the origin, where no
// message and no credential goes (T7).
func (c *httpConn) postURL(base *url.URL, text string) *url.URL {
	if len(text) > maxEndpoint {
		return nil
	}
	u, err := base.Parse(strings.TrimSpace(text))
	if err != nil || originOf(u) != c.dialer.origin {
		return nil
	}
	u.Host = c.dialer.url.Host // one spelling
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u
}

// deliver reads the event stream to its end, which is the connection's.
func (c *httpConn) deliver(s *letters) {
	defer s.body.Close()
	for {
		ev, err := s.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = &Error{Code: Broken, Reason: "eof", Err: err}
			}
			c.lost(wireError(err))
			return
		}
		if ev.kind != "" && ev.kind != "message" {
			continue
		}
		for _, m := range c.messages(ev) {
			c.letter(m)
		}
	}
}

// letter hands a message to the sink. It belongs to no stream (G4).
func (c *httpConn) letter(m *jsonrpc.Message) {
	if m.Kind() == jsonrpc.Response && !m.ID.IsZero() {
		id, _ := m.ID.Int64()
		method, ok := c.ledger.Take(id)
		if !ok {
			return // cancelled, or answered before
		}
		if method == mcp.MethodInitialize {
			select {
			case c.greeting <- m:
			default:
			}
		}
	}
	c.ledger.Report(func() { c.sink.Message(0, m) })
}

// lost ends the connection from within.
func (c *httpConn) lost(cause *Error) {
	c.closing.Do(func() { go c.end(cause) })
}
