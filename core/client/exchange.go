package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// exchange is one request from admission to outcome. Its fields after the first
// block are guarded by the link's mutex, except that msg and err may be read once
// done is closed.
type exchange struct {
	req transport.Request
	// build makes the params once the id is known, since the progress token is
	// the id.
	build func(id int64) json.RawMessage
	// system marks what opens and serves the session itself; it takes no slot
	// and is never queued.
	system bool
	// own marks what the session itself wants to know, such as a list: that it
	// waits keeps nobody waiting.
	own bool
	// total bounds queue and wire together, silence the time on the wire without
	// a sign of life; 0 means no bound (T8, C2).
	total, silence time.Duration
	// progress gets the params of progress notifications, on the connection's
	// goroutine.
	progress func(params json.RawMessage)
	// acknowledged gets the params of a listen stream's acknowledgement, on the
	// connection's goroutine.
	acknowledged func(params json.RawMessage)
	// input and message are the call's own; see [Call].
	input   func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	message func(params json.RawMessage)
	// target is what the request is about, for a question's "which call".
	target string

	ctx      context.Context // the caller's, nil when nobody waits
	link     *link
	id       int64
	epoch    int       // the link's when it went onto the wire
	wired    time.Time // zero while queued
	alive    time.Time
	deadline time.Time
	owed     int // answers that we owe
	owedAt   time.Time
	timer    *time.Timer

	done chan struct{}
	msg  *jsonrpc.Message
	err  error
}

func (x *exchange) finish(m *jsonrpc.Message, err error) {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.msg, x.err = m, err
	close(x.done)
}

// arm sets the one timer to the earlier of the two limits.
func (x *exchange) arm() {
	if x.owed > 0 {
		return
	}
	at, _ := x.next()
	if at.IsZero() {
		return
	}
	if x.timer == nil {
		x.timer = time.AfterFunc(time.Until(at), x.tick)
	} else {
		x.timer.Reset(time.Until(at))
	}
}

// next returns the earlier limit and its name; zero when there is none.
func (x *exchange) next() (at time.Time, reason string) {
	at, reason = x.deadline, "call"
	if !x.wired.IsZero() && x.silence > 0 {
		if idle := x.alive.Add(x.silence); at.IsZero() || idle.Before(at) {
			at, reason = idle, "idle"
		}
	}
	return at, reason
}

// tick runs when the timer fires. Signs of life only move a time stamp, so the
// timer may be early.
func (x *exchange) tick() {
	l := x.link
	l.mu.Lock()
	at, reason := x.next()
	owed, left := x.owed > 0, time.Until(at)
	if !owed && left > 0 {
		x.timer.Reset(left)
	}
	l.mu.Unlock()
	if !owed && left <= 0 {
		l.abandon(x, &transport.Error{Code: transport.Timeout, Reason: reason})
	}
}

// owe stops the clocks: the server waits for us.
func (x *exchange) owe() {
	if x.owed == 0 {
		x.owedAt = time.Now()
	}
	x.owed++
}

// paid starts the clocks again where they stood.
func (x *exchange) paid() {
	if x.owed--; x.owed > 0 {
		return
	}
	stood := time.Since(x.owedAt)
	x.alive = x.alive.Add(stood)
	if !x.deadline.IsZero() {
		x.deadline = x.deadline.Add(stood)
	}
	if x.link.st.pending[x.id] == x {
		x.arm()
	}
}
