package client

import (
	"context"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// handshake sends initialize. A DiscoverResult that arrives meanwhile wins: one
// fresh connection, and the verdict is corrected (E5).
func (a *attempt) handshake(ctx context.Context, l *link, late *exchange) (*opened, error) {
	s := a.s
	s.update(func(st *sessionState) { st.enter(Initializing, nil) })
	x := &exchange{
		req:    transport.Request{Method: mcp.MethodInitialize, Params: s.initializeParams()},
		system: true, total: s.cfg.Limits.Handshake,
	}
	if err := l.begin(x); err != nil {
		l.shut(err)
		return nil, err
	}
	var lateDone <-chan struct{}
	if late != nil {
		lateDone = late.done
	}
	for waiting := true; waiting; {
		select {
		case <-x.done:
			waiting = false
		case <-lateDone:
			lateDone = nil
			ans := a.answer(late.msg, late.err)
			if v, shake, _, ok := era.Next(ans.Answer); ok && !shake && v.Modern() && ans.Result != nil {
				l.shut(errReopen)
				return a.freshModern(ctx)
			}
		case <-ctx.Done():
			l.abandon(x, &transport.Error{Code: transport.Cancelled, Err: ctx.Err()})
		}
	}
	o, err := a.initialized(l, x)
	if err != nil {
		err = a.lastWord(ctx, l, err)
		if ans := a.answer(x.msg, x.err); era.Judge(ans.Answer, s.stdio()) == era.ProvesModern && a.fresh == 0 {
			// initialize was refused with a modern error: the kept or assumed
			// legacy era is wrong.
			l.shut(errReopen)
			return a.freshModern(ctx)
		}
		l.shut(err)
		return nil, err
	}
	if late != nil && lateDone != nil {
		s.watchLate(o, a, late)
	}
	return o, nil
}

// lastWord returns why a process ended in place of what its end did to a request:
// a pipe that cannot be written to is the consequence, the exit code is the cause.
func (a *attempt) lastWord(ctx context.Context, l *link, err error) error {
	if !a.s.stdio() || transport.CodeOf(err) != transport.Broken {
		return err
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-l.done:
		return l.err()
	case <-t.C:
	case <-ctx.Done():
	}
	return err
}

// freshModern opens one more connection and speaks modern on it from the start.
func (a *attempt) freshModern(ctx context.Context) (*opened, error) {
	l, err := a.again(ctx)
	if err != nil {
		return nil, err
	}
	// The server has shown that it is slow; it gets the handshake's time.
	ans, late := a.probe(ctx, l, mcp.Latest)
	if late != nil {
		select {
		case <-late.done:
			ans = a.answer(late.msg, late.err)
		case <-time.After(a.s.cfg.Limits.Handshake):
		case <-ctx.Done():
		}
	}
	if era.Judge(ans.Answer, a.s.stdio()) != era.ProvesModern {
		l.shut(ans.err)
		return nil, ans.err
	}
	return a.modern(ctx, l, ans)
}

// initialized reads the handshake's outcome and completes it.
func (a *attempt) initialized(l *link, x *exchange) (*opened, error) {
	if x.err != nil {
		return nil, x.err
	}
	if x.msg.Error != nil {
		return nil, x.msg.Error
	}
	r, ok := mcp.ParseInitializeResult(x.msg.Result)
	if !ok {
		return nil, &transport.Error{Code: transport.Invalid, Reason: mcp.MethodInitialize}
	}
	if !r.ProtocolVersion.Supported() || !r.ProtocolVersion.Legacy() {
		return nil, versionError([]mcp.Version{r.ProtocolVersion})
	}
	l.adopt(r.ProtocolVersion)
	if err := l.notify(mcp.NotifyInitialized, nil); err != nil {
		return nil, err
	}
	return a.opened(l, &opened{
		version: r.ProtocolVersion, caps: r.Capabilities, info: r.ServerInfo, instructions: r.Instructions,
	}, a.s.observe(mcp.MethodInitialize, a.answer(x.msg, nil))), nil
}

// watchLate waits for the answer to a probe that a handshake overtook. If it
// proves that the server is modern, the session starts over as such.
func (s *Session) watchLate(o *opened, a *attempt, late *exchange) {
	s.wg.Go(func() {
		select {
		case <-late.done:
		case <-o.link.done:
			return
		}
		ans := a.answer(late.msg, late.err)
		v, shake, _, ok := era.Next(ans.Answer)
		if !ok || shake || ans.Result == nil || !v.Modern() {
			return
		}
		s.cfg.Verdicts.Put(s.cfg.Key, era.Verdict{
			Era: era.Modern, Version: v, Record: s.observe(mcp.MethodDiscover, ans), DecidedAt: time.Now(), TTL: s.verdictTTL(),
		})
		s.Reconnect()
	})
}
