package client

import (
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// follow keeps a stream of change notifications open where the server offers one:
// subscriptions/listen in the modern era, the standalone GET stream of legacy
// HTTP. It never polls (C5).
func (s *Session) follow(o *opened) {
	if !o.modern() {
		if g, ok := o.link.conn.(interface{ ListenLegacy() }); ok {
			g.ListenLegacy()
		}
		return
	}
	want := map[string]bool{}
	for _, k := range []ListKind{Tools, Resources, Prompts} {
		if o.caps.HasSub(k.capability(), "listChanged") {
			want[string(k)+"ListChanged"] = true
		}
	}
	if len(want) == 0 {
		return
	}
	filter, _ := json.Marshal(map[string]any{"notifications": want})
	s.wg.Go(func() { s.listening(o, filter) })
}

// listening re-establishes the stream after loss, with the backoff of a
// connection. A server that refuses it is not asked again.
func (s *Session) listening(o *opened, filter json.RawMessage) {
	var back backoff
	for o.link.err() == nil {
		began := time.Now()
		x := &exchange{
			req:    transport.Request{Method: mcp.MethodListen, Listen: true},
			build:  func(int64) json.RawMessage { return s.withMeta(filter, nil, o.version, nil) },
			system: true,
		}
		m, err := o.link.do(s.ctx, x)
		if _, err = outcome(m, err); rpcCode(err) != 0 {
			s.cfg.Log.Info("the server offers no change notifications", "server", s.cfg.Name, "error", err)
			return
		}
		if o.link.err() != nil {
			return
		}
		if time.Since(began) >= sustained {
			back.reset()
		}
		wait, _ := back.next()
		t := time.NewTimer(wait)
		select {
		case <-t.C:
			// What changed while nobody listened is unknown.
			for _, k := range listKinds {
				s.refresh(k)
			}
		case <-o.link.done:
		}
		t.Stop()
	}
}
