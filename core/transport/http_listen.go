package transport

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	// maxListenDelay caps the growing wait between two streams.
	maxListenDelay = 60 * time.Second
	// streamWait is how long calls wait for the first stream of a session.
	streamWait = time.Second
)

// ListenLegacy opens the standalone stream on which a legacy server sends what
// belongs to no request (C5), and keeps it open until Close. A server that has none
// is not asked again. It may be called again, after a new handshake.
func (c *httpConn) ListenLegacy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.peer.mailed || !c.peer.version.Legacy() {
		return
	}
	if c.unlisten != nil {
		c.unlisten()
	}
	f := framing{version: c.peer.version, session: c.peer.id, after: c.peer.ready}
	c.listening, c.heard = true, f.after
	ctx, cancel := context.WithCancel(c.work)
	c.unlisten = cancel
	stands := make(chan struct{})
	c.stands = stands
	c.running.Go(func() {
		defer cancel()
		settle := sync.OnceFunc(func() { close(stands) })
		defer settle()
		c.listen(ctx, f, settle)
	})
}

// stood holds back a call that the server may have a question about until the
// standalone stream stands, or the server has had its time to open it: the
// TypeScript SDK asks there, and drops the question for good if nobody listens.
// It is false when ctx ended.
func (c *httpConn) stood(ctx context.Context, f framing, method string) bool {
	if f.modern || !mcp.MayRequireInput(method) {
		return true
	}
	c.mu.Lock()
	stands := c.stands
	c.mu.Unlock()
	if stands == nil {
		return true
	}
	select {
	case <-stands:
		return true
	case <-ctx.Done():
		return false
	}
}

// listen opens the stream over and over. The wait between two grows, and shrinks
// only after a message came: a server may accept every stream and end it at once
// (field case 33). settle is called once the first is answered, or streamWait over.
func (c *httpConn) listen(ctx context.Context, f framing, settle func()) {
	if !f.wait(ctx) {
		return
	}
	patience := time.AfterFunc(streamWait, settle)
	defer patience.Stop()
	wait, last := resumeDelay, ""
	for {
		resp, err := c.get(ctx, f, last)
		settle()
		switch {
		case err != nil:
		case passing(resp.StatusCode):
			finish(resp)
		default:
			if resp.StatusCode != http.StatusOK || mediaNamed(resp.Header.Get("Content-Type")) != mediaSSE {
				finish(resp)
				c.note("the server has no stream for messages outside of requests")
				return
			}
			s, got := c.hear(ctx, resp, last)
			_ = resp.Body.Close()
			if got {
				wait = resumeDelay
			}
			if s != nil {
				last = s.lastID
				wait = max(wait, s.retry)
			}
		}
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, maxListenDelay)
	}
}

// passing reports whether a refusal speaks of the moment, not of the stream.
func passing(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// hear delivers what comes on one stream; got tells whether anything did. An event
// over the limit ends the stream like any other failure, and is not asked for
// again.
func (c *httpConn) hear(ctx context.Context, resp *http.Response, last string) (s *eventReader, got bool) {
	body, refused := open(resp, nil)
	if refused != nil {
		return nil, false
	}
	s = newEventReader(body, c.dialer.cfg.Limits.MaxBytes)
	s.id, s.lastID = last, last
	for {
		ev, err := s.next()
		if err != nil {
			if CodeOf(err) == TooLarge {
				s.lastID = ""
			}
			return s, got
		}
		for _, m := range c.messages(ev) {
			got = true
			switch {
			case m.Kind() == jsonrpc.Response:
				c.note("a response on the stream outside of requests was dropped")
			case ctx.Err() == nil:
				c.ledger.Report(func() { c.sink.Message(0, m) })
			}
		}
	}
}
