package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	// maxResumes bounds the attempts to resume a stream that bring no new event.
	maxResumes = 5
	// resumeDelay is the wait before an attempt when the server named none.
	resumeDelay = time.Second
)

// follow reads the stream that answers the request up to the answer. A legacy
// stream with event ids that ends before is resumed (T11).
func (x *exchange) follow(resp *http.Response, r io.Reader) outcome {
	last, retry, tries := "", time.Duration(0), 0
	for {
		s := newEventReader(r, x.conn.dialer.cfg.Limits.MaxBytes)
		s.id, s.lastID, s.retry = last, last, retry
		m, err := x.events(s)
		if m != nil {
			return outcome{msg: m}
		}
		if CodeOf(err) == TooLarge || x.ctx.Err() != nil {
			return outcome{err: wireError(err)}
		}
		if s.lastID != last {
			tries = 0
		}
		last, retry = s.lastID, s.retry
		if last == "" || x.framing.modern || x.req.Method == mcp.MethodInitialize {
			return x.unanswered(err)
		}
		if r = x.resume(last, retry, &tries); r == nil {
			return x.unanswered(err)
		}
	}
}

// unanswered is the outcome of a stream that ended without the answer (field case
// 37). A stream that is meant to stay open may end so (T2).
func (x *exchange) unanswered(err error) outcome {
	switch {
	case !errors.Is(err, io.EOF):
		return outcome{err: wireError(err)}
	case x.req.Listen:
		return outcome{}
	}
	return outcome{err: &Error{Code: Broken, Reason: "no_answer"}}
}

// events delivers what comes up to the answer, which it returns; else the error is
// how the stream ended.
func (x *exchange) events(s *eventReader) (*jsonrpc.Message, error) {
	for {
		ev, err := s.next()
		if err != nil {
			return nil, err
		}
		for _, m := range x.conn.messages(ev) {
			if x.deliver(m) {
				return m, nil
			}
		}
		if x.ctx.Err() != nil {
			return nil, x.ctx.Err()
		}
	}
}

// messages reads an event: one message, a batch of 2025-03-26, or none, for streams
// carry pings and heartbeats too (field case 26).
func (c *httpConn) messages(ev event) []*jsonrpc.Message {
	if m := message(ev.data); m != nil {
		return []*jsonrpc.Message{m}
	}
	var out []*jsonrpc.Message
	if members, ok := splitBatch(ev.data); ok {
		for _, member := range members {
			if m := message(member); m != nil {
				out = append(out, m)
			}
		}
	}
	if out == nil {
		c.oddity.Do(func() { c.note("an event that is no message was skipped; so will be others like it") })
	}
	return out
}

// resume opens the stream again behind the event last; nil when the server will
// not, or too many attempts brought nothing.
func (x *exchange) resume(last string, retry time.Duration, tries *int) io.Reader {
	if retry == 0 {
		retry = resumeDelay
	}
	for *tries < maxResumes {
		*tries++
		if !pause(x.ctx, retry) {
			return nil
		}
		_ = x.resp.Body.Close()
		resp, err := x.conn.get(x.ctx, x.framing, last)
		if err != nil {
			continue
		}
		x.resp = resp
		x.alive()
		if resp.StatusCode != http.StatusOK || mediaNamed(resp.Header.Get("Content-Type")) != mediaSSE {
			return nil
		}
		body, refused := open(resp, x.alive)
		if refused != nil {
			return nil
		}
		return body
	}
	return nil
}

// get asks for a stream of the session, behind the event last if there was one.
func (c *httpConn) get(ctx context.Context, f framing, last string) (*http.Response, error) {
	h := f.bare(c.dialer.base)
	h["Accept"] = []string{typeSSE}
	delete(h, "Content-Type")
	if last != "" {
		h[mcp.HeaderLastEventID] = []string{last}
	}
	return c.roundTrip(ctx, c.dialer.url, http.MethodGet, h, nil)
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
