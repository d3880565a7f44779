package client

import (
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Message implements transport.Sink.
func (l *link) Message(stream int64, m *jsonrpc.Message) {
	if m.Kind() == jsonrpc.Response {
		l.response(stream, m)
		return
	}
	l.mu.Lock()
	of := l.st.pending[stream]
	l.mu.Unlock()
	l.inbound(l, of, m)
}

// response finds the request that m answers. On an exchange's own stream the
// stream decides; else the id does, leniently for ids that we made (field case
// 49). An error without an id belongs to the only request in flight, if there is
// just one. Everything else came too late or answers nothing and is dropped.
func (l *link) response(stream int64, m *jsonrpc.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.st.pending[stream]
	if stream == 0 {
		if n, ok := m.ID.Int64(); ok {
			x = l.st.pending[n]
		} else if m.ID.IsZero() && m.Error != nil {
			x = l.only()
		}
	}
	if x == nil {
		l.log.Debug("dropped a response nobody waits for", "id", m.ID.String())
		return
	}
	l.settle(x, m, nil)
}

// only returns the one request in flight that waits for an answer soon, nil when
// there are more. Listen streams and an overtaken probe do not count.
func (l *link) only() *exchange {
	var x *exchange
	for _, p := range l.st.pending {
		switch {
		case p.req.Listen, p.req.Method == mcp.MethodDiscover && len(l.st.pending) > 1:
		case x != nil:
			return nil
		default:
			x = p
		}
	}
	return x
}

// Alive implements transport.Sink.
func (l *link) Alive(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.st.pending[id]; x != nil {
		x.alive = time.Now()
	}
}

// Failed implements transport.Sink.
func (l *link) Failed(id int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.st.pending[id]; x != nil {
		l.settle(x, nil, err)
	}
}

// Settled implements transport.Sink.
func (l *link) Settled(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.st.pending[id]; x != nil {
		l.settle(x, nil, nil)
	}
}

// Closed implements transport.Sink.
func (l *link) Closed(err error) { l.end(err) }
