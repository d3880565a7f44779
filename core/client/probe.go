package client

import (
	"context"
	"errors"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// answer is a probe's outcome as a fact for era.Judge, and as an error for the
// case that nothing else works.
type answer struct {
	era.Answer
	err error
	at  time.Time
}

// probe sends server/discover. On stdio it waits a bounded time; the request then
// stays open and is returned, for an answer that comes late still counts (E5).
func (a *attempt) probe(ctx context.Context, l *link, v mcp.Version) (answer, *exchange) {
	x := &exchange{
		req:    transport.Request{Method: mcp.MethodDiscover, Params: a.s.withMeta(nil, nil, v, nil, a.s.caps)},
		system: true,
	}
	if !a.s.stdio() {
		x.total = a.s.cfg.Limits.Handshake
	}
	if err := l.begin(x); err != nil {
		return a.answer(nil, err), nil
	}
	var silent <-chan time.Time
	if a.s.stdio() {
		wait := a.s.cfg.Limits.Probe
		if a.cached {
			wait = a.s.cfg.Limits.Handshake // known to be modern, and perhaps slow
		}
		t := time.NewTimer(wait)
		defer t.Stop()
		silent = t.C
	}
	select {
	case <-x.done:
	case <-silent:
		err := &transport.Error{Code: transport.Timeout, Reason: "probe"}
		return answer{Answer: era.Answer{Silent: true}, err: err, at: time.Now()}, x
	case <-ctx.Done():
		l.abandon(x, &transport.Error{Code: transport.Cancelled, Err: ctx.Err()})
		<-x.done
	}
	return a.answer(x.msg, x.err), nil
}

func (s *Session) observe(method string, a answer) era.Record {
	return era.Observe(method, a.Answer, s.stdio(), a.at)
}

// answer reads an outcome as a fact about the server.
func (a *attempt) answer(m *jsonrpc.Message, err error) answer {
	out := answer{err: err, at: time.Now()}
	if m != nil {
		out.Result, out.Error = m.Result, m.Error
		if !a.s.stdio() {
			out.Status = 200
		}
		if m.Error != nil {
			out.err = m.Error
		} else {
			out.err = &transport.Error{Code: transport.Invalid, Reason: mcp.MethodDiscover, Status: out.Status}
		}
		return out
	}
	var te *transport.Error
	switch {
	case !errors.As(err, &te):
		out.Failed = true
	case te.Code == transport.HTTPStatus, te.Code == transport.NotMCP, te.Code == transport.SessionRejected:
		out.Status, out.Error = te.Status, te.RPC
	case te.Code == transport.Broken && te.Reason == "no_answer":
		out.Status = 200
	case a.s.stdio() && (te.Code == transport.Exited || te.Code == transport.Broken):
		out.Exited = true
	default:
		out.Failed = true
	}
	return out
}
