package client

import (
	"context"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// subscribing keeps the subscriptions of a legacy session equal to what is
// followed (2025-11-25 server/resources "Subscriptions"). A new session knows
// none, so all are made again after a new handshake.
func (s *Session) subscribing(o *opened) {
	have := map[string]bool{}
	epoch := o.link.handshakes()
	var back backoff
	for o.link.err() == nil {
		if now := o.link.handshakes(); now != epoch {
			epoch = now
			clear(have)
		}
		if s.subscribeAll(o, have) {
			back = backoff{}
			select {
			case <-o.wake:
			case <-o.link.done:
			}
			continue
		}
		if wait, _ := back.next(); !o.link.rest(s.ctx, wait) {
			return
		}
	}
}

// subscribeAll makes have equal to what is followed; false when a request failed
// in a way that may pass.
func (s *Session) subscribeAll(o *opened, have map[string]bool) bool {
	want := map[string]bool{}
	for _, uri := range s.follows.uris() {
		if !o.caps.HasSub("resources", "subscribe") {
			s.follows.refuse(uri)
			continue
		}
		want[uri] = true
		if have[uri] {
			continue
		}
		switch err := s.subscription(s.ctx, o, mcp.MethodResourcesSubscribe, uri); {
		case err == nil:
			have[uri] = true
		case rpcCode(err) != 0:
			s.cfg.Log.Info("the server refuses a subscription", "server", s.cfg.Name, "error", err)
			s.follows.refuse(uri)
		default:
			return false
		}
	}
	for uri := range have {
		if !want[uri] {
			delete(have, uri)
			// At worst the server tells about something that nobody follows.
			_ = s.subscription(s.ctx, o, mcp.MethodResourcesUnsubscribe, uri)
		}
	}
	return true
}

func (s *Session) subscription(ctx context.Context, o *opened, method, uri string) error {
	fields, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	_, epoch, err := s.exchange(ctx, o, Call{Method: method, Fields: fields, Target: uri, own: true})
	if transport.CodeOf(err) == transport.SessionRejected {
		_ = s.renew(ctx, o, epoch) // and then all are made again
	}
	return err
}

// handshakes counts those that have succeeded on the link after the first.
func (l *link) handshakes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.epoch
}
