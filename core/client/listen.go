package client

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// follow keeps a stream of change notifications open where the server offers one:
// subscriptions/listen in the modern era; the standalone GET stream of legacy
// HTTP, and a subscription for each followed resource. It never polls (C5).
func (s *Session) follow(o *opened) {
	if o.modern() {
		s.wg.Go(func() { s.listening(o) })
		return
	}
	if g, ok := o.link.conn.(interface{ ListenLegacy() }); ok {
		g.ListenLegacy()
	}
	s.wg.Go(func() { s.subscribing(o) })
}

// filter is what a subscriptions/listen stream carries (basic/patterns/
// subscriptions "Notification Filter").
type filter struct {
	lists []ListKind
	uris  []string // sorted
}

func (f filter) empty() bool { return len(f.lists) == 0 && len(f.uris) == 0 }

func (f filter) equal(g filter) bool {
	return slices.Equal(f.lists, g.lists) && slices.Equal(f.uris, g.uris)
}

func (f filter) fields() json.RawMessage {
	want := map[string]any{}
	for _, k := range f.lists {
		want[string(k)+"ListChanged"] = true
	}
	if len(f.uris) > 0 {
		want["resourceSubscriptions"] = f.uris
	}
	b, _ := json.Marshal(map[string]any{"notifications": want})
	return b
}

// wanted returns what a stream of the connection should carry now: changes of the
// lists for which the server declares them, and the followed resources.
func (s *Session) wanted(o *opened) filter {
	var f filter
	for _, k := range []ListKind{Tools, Resources, Prompts} {
		if o.caps.HasSub(k.capability(), "listChanged") {
			f.lists = append(f.lists, k)
		}
	}
	f.uris = s.follows.uris()
	if !o.caps.HasSub("resources", "subscribe") {
		for _, uri := range f.uris {
			s.follows.refuse(uri)
		}
		f.uris = nil
	}
	return f
}

// stream is one subscriptions/listen request.
type stream struct {
	filter filter
	cancel context.CancelFunc
	// accepted gets the acknowledgement's params; over is closed at the stream's
	// end, after which err says why.
	accepted chan json.RawMessage
	agreed   bool // it was acknowledged; owned by listening
	over     chan struct{}
	err      error
}

// listen opens a stream.
func (s *Session) listen(o *opened, f filter) *stream {
	ctx, cancel := context.WithCancel(s.ctx)
	st := &stream{filter: f, cancel: cancel, accepted: make(chan json.RawMessage, 1), over: make(chan struct{})}
	x := &exchange{
		req:    transport.Request{Method: mcp.MethodListen, Listen: true},
		build:  func(int64) json.RawMessage { return s.withMeta(f.fields(), nil, o.version, nil, s.caps) },
		system: true,
		acknowledged: func(params json.RawMessage) {
			select {
			case st.accepted <- params:
			default: // once is enough
			}
		},
	}
	s.wg.Go(func() {
		defer close(st.over)
		m, err := o.link.do(ctx, x)
		_, st.err = outcome(m, err)
	})
	return st
}

// end cancels the stream, which may be nil.
func (st *stream) end() {
	if st != nil {
		st.cancel()
	}
}

func (st *stream) done() <-chan struct{} {
	if st == nil {
		return nil
	}
	return st.over
}

// listening keeps one stream open that carries what is wanted. When that changes,
// the next stream is opened before the old one is ended, so that no change falls
// between them. A lost stream is opened again with the backoff of a connection; a
// server that refuses is not asked again.
func (s *Session) listening(o *opened) {
	var (
		live *stream
		back backoff
		gap  bool // changes may have been missed
	)
	defer func() { live.end() }()
	for o.link.err() == nil {
		began := time.Now()
		switch want := s.wanted(o); {
		case want.empty():
			live.end()
			live = nil
		case live == nil || !live.filter.equal(want):
			next := s.listen(o, want)
			if s.established(o, next) {
				live.end()
				live = next
				if gap {
					gap = false
					s.missed()
				}
				continue // the server may have left out some of it
			}
			next.end()
			if o.link.err() != nil {
				return // the stream may not have ended yet, and says nothing new
			}
			if rpcCode(next.err) != 0 {
				s.cfg.Log.Info("the server refuses change notifications", "server", s.cfg.Name, "error", next.err)
				if live == nil && len(want.uris) == 0 {
					return
				}
				s.keepTo(live, want)
				continue
			}
			gap = true
			if !s.again(o, &back, began) {
				return
			}
			continue
		}
		select {
		case <-o.wake:
		case <-o.link.done:
		case <-live.done():
			if rpcCode(live.err) != 0 && !live.agreed {
				s.cfg.Log.Info("the server refuses change notifications", "server", s.cfg.Name, "error", live.err)
				s.keepTo(nil, live.filter)
				return
			}
			live, gap = nil, true
			if !s.again(o, &back, began) {
				return
			}
		}
	}
}

// keepTo ends the following of what a refused stream would have added to the live
// one, which may be nil.
func (s *Session) keepTo(live *stream, refused filter) {
	var kept []string
	for _, uri := range refused.uris {
		if live != nil && slices.Contains(live.filter.uris, uri) {
			kept = append(kept, uri)
		} else {
			s.follows.refuse(uri)
		}
	}
	if live != nil {
		live.filter.uris = kept
	}
}

// again waits until a lost stream may be opened anew; false when the connection
// ended meanwhile.
func (s *Session) again(o *opened, back *backoff, began time.Time) bool {
	if time.Since(began) >= sustained {
		back.reset()
	}
	wait, _ := back.next()
	return o.link.rest(s.ctx, wait)
}

// established waits until the server has acknowledged a stream, and ends the
// following of what it left out. Some servers acknowledge nothing; after a while
// their stream counts as established with all that was asked for.
func (s *Session) established(o *opened, st *stream) bool {
	t := time.NewTimer(s.cfg.Limits.Probe)
	defer t.Stop()
	select {
	case params := <-st.accepted:
		st.agreed = true
		var agreed struct {
			Notifications struct {
				URIs []string `json:"resourceSubscriptions"`
			} `json:"notifications"`
		}
		_ = json.Unmarshal(params, &agreed) // an odd one agreed to nothing
		st.filter.uris = slices.DeleteFunc(st.filter.uris, func(uri string) bool {
			out := !slices.Contains(agreed.Notifications.URIs, uri)
			if out {
				s.follows.refuse(uri)
			}
			return out
		})
		return true
	case <-t.C:
		return true
	case <-st.over:
	case <-o.link.done:
	}
	return false
}

// missed refreshes everything that may have changed while nobody listened.
func (s *Session) missed() {
	s.mu.Lock()
	o := s.st.conn
	s.mu.Unlock()
	if o != nil {
		o.cache.invalidate()
	}
	for _, k := range listKinds {
		s.refresh(k)
	}
	s.follows.missed()
}

// bySubscription finds the stream that a notification belongs to, by the id that
// it carries (basic/patterns/subscriptions "Receiving Notifications").
func (l *link) bySubscription(params json.RawMessage) *exchange {
	return l.byID(jsonrpc.Get(jsonrpc.Get(params, "_meta"), mcp.MetaSubscriptionID))
}
