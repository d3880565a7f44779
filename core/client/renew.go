package client

import (
	"context"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// renew shakes hands again on a connection whose session the server rejected (E6).
// However many requests were rejected, one handshake runs, and calls wait for it
// in the queue; epoch is the handshake that the rejected request was sent under.
// Once per successful round trip the era is asked again in the background, for the
// server may have been replaced. An error means that the connection is dead, which
// is also what comes of a new session that is rejected before anything worked.
func (s *Session) renew(ctx context.Context, o *opened, epoch int) error {
	if o.modern() {
		return &transport.Error{Code: transport.SessionRejected}
	}
	s.mu.Lock()
	wait := s.st.renewal
	if wait == nil {
		if o.link.renewedSince(epoch) {
			s.mu.Unlock()
			return o.link.err()
		}
		if o.unproven {
			// The new session was rejected as well; a third would be a loop.
			s.mu.Unlock()
			err := &transport.Error{Code: transport.SessionRejected}
			o.link.end(err)
			return err
		}
		o.unproven = true
		wait = make(chan struct{})
		s.st.renewal = wait
		o.link.hold()
		s.wg.Go(func() { s.renewing(o, wait) })
		s.reprobe(o)
	}
	s.mu.Unlock()
	select {
	case <-wait:
		return o.link.err()
	case <-ctx.Done():
		return &transport.Error{Code: transport.Cancelled, Err: ctx.Err()}
	}
}

func (s *Session) renewing(o *opened, done chan struct{}) {
	x := &exchange{
		req:    transport.Request{Method: mcp.MethodInitialize, Params: s.initializeParams()},
		system: true, total: s.cfg.Limits.Handshake,
	}
	_, err := o.link.do(s.ctx, x)
	if err == nil {
		var fresh *opened
		if fresh, err = (&attempt{s: s, cached: true, kept: &o.verdict}).initialized(o.link, x); err == nil {
			o.link.release()
			s.cfg.Log.Info("the server had lost its session; shook hands again", "server", s.cfg.Name, "version", string(fresh.version))
		}
	}
	if err != nil {
		o.link.end(err)
	}
	s.update(func(st *sessionState) { st.renewal = nil })
	close(done)
	if err == nil {
		o.nudge()
		s.missed()
	}
}

// reprobe asks for the era again in the background, at most once until a round
// trip succeeds. The caller holds s.mu.
func (s *Session) reprobe(o *opened) {
	if !s.cfg.Verdicts.TryReprobe(s.cfg.Key) {
		return
	}
	s.cfg.Verdicts.Forget(s.cfg.Key)
	s.wg.Go(func() {
		a := attempt{s: s}
		ans, _ := a.probe(s.ctx, o.link, mcp.Latest)
		switch era.Judge(ans.Answer, s.stdio()) {
		case era.ProvesModern:
			if v, shake, _, ok := era.Next(ans.Answer); ok && !shake && v.Modern() {
				s.Reconnect() // the server speaks modern now; open it as such
				return
			}
			s.cfg.Verdicts.Put(s.cfg.Key, o.verdict)
		case era.Demotes:
			v := o.verdict
			v.Record, v.DecidedAt = s.observe(mcp.MethodDiscover, ans), ans.at
			s.cfg.Verdicts.Put(s.cfg.Key, v)
		}
	})
}

// renewedSince reports whether a handshake has succeeded on the link since epoch.
func (l *link) renewedSince(epoch int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.epoch > epoch
}
