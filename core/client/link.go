package client

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// link is one connection with its pending requests. It is the connection's sink.
type link struct {
	conn   transport.Conn
	nextID func() int64 // shared by all links of a session: ids are never reused
	log    *slog.Logger
	// inbound gets the server's requests and notifications, on the
	// connection's goroutine. of is the exchange on whose stream they came.
	inbound func(l *link, of *exchange, m *jsonrpc.Message)
	// up is closed once conn is set, which a fast server can outrun; done once
	// the connection is dead.
	up, done chan struct{}

	mu sync.Mutex
	st linkState
}

// linkState is changed only with link.mu held.
type linkState struct {
	pending map[int64]*exchange // on the wire
	slots   int                 // how many of pending count against cap
	queue   []*exchange         // admitted, waiting for a slot (FIFO)
	cap     int                 // T5
	limit   int                 // of the queue
	waited  bool                // a call has waited for a slot
	held    bool                // nothing is admitted to the wire: a new handshake runs (E6)
	ended   error               // why the link is dead; nil while it lives
	epoch   int                 // counts handshakes; see Session.renew
	modern  bool                // the version in force is modern
}

func newLink(log *slog.Logger, nextID func() int64, inbound func(*link, *exchange, *jsonrpc.Message)) *link {
	return &link{
		nextID: nextID, log: log, inbound: inbound, up: make(chan struct{}), done: make(chan struct{}),
		st: linkState{pending: map[int64]*exchange{}, cap: 1, limit: defaultQueue},
	}
}

// limits sets the slots and the length of the queue (T5).
func (l *link) limits(slots, queue int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.st.cap, l.st.limit = slots, queue
	l.admit()
}

// adopt puts a version in force.
func (l *link) adopt(v mcp.Version) {
	l.mu.Lock()
	l.st.modern = v.Modern()
	l.mu.Unlock()
	l.conn.Adopt(v)
}

func (l *link) modern() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.modern
}

// err returns why the link is dead, nil while it lives.
func (l *link) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.ended
}

// do sends a request and waits for its outcome. A done ctx cancels the request
// at whatever stage it is (T10).
func (l *link) do(ctx context.Context, x *exchange) (*jsonrpc.Message, error) {
	x.ctx = ctx
	if err := l.begin(x); err != nil {
		return nil, err
	}
	return l.wait(ctx, x)
}

// begin admits a request: to the wire when a slot is free, else to the queue. The
// error is Busy above the queue's limit (T5), or why the link is dead. Id and
// deadline are given here, so that one deadline covers queue and wire (C2).
func (l *link) begin(x *exchange) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.st.ended != nil {
		return l.st.ended
	}
	x.link = l
	x.id = l.nextID()
	x.done = make(chan struct{})
	if x.build != nil {
		x.req.Params = x.build(x.id)
	}
	if x.total > 0 {
		x.deadline = time.Now().Add(x.total)
	}
	if x.system {
		return l.dispatch(x)
	}
	if !l.st.held && l.st.slots < l.st.cap && len(l.st.queue) == 0 {
		return l.dispatch(x)
	}
	if len(l.st.queue) >= l.st.limit {
		return &transport.Error{Code: transport.Busy}
	}
	l.st.waited = l.st.waited || !x.own
	l.st.queue = append(l.st.queue, x)
	x.arm()
	return nil
}

// dispatch puts x on the wire. An error means that nothing was issued.
func (l *link) dispatch(x *exchange) error {
	if x.ctx != nil && x.ctx.Err() != nil {
		// Its caller is about to abandon it: it must not reach a tool first.
		return &transport.Error{Code: transport.Cancelled, Err: context.Cause(x.ctx)}
	}
	l.st.pending[x.id] = x
	if !x.system {
		l.st.slots++
	}
	x.epoch = l.st.epoch
	x.wired = time.Now()
	x.alive = x.wired
	if err := l.conn.Send(x.id, x.req); err != nil {
		l.remove(x)
		return err
	}
	x.arm()
	return nil
}

// admit moves queued requests onto free slots. One that cannot be sent fails
// alone.
func (l *link) admit() {
	for !l.st.held && len(l.st.queue) > 0 && l.st.slots < l.st.cap && l.st.ended == nil {
		x := l.st.queue[0]
		l.st.queue = l.st.queue[1:]
		if err := l.dispatch(x); err != nil {
			x.finish(nil, err)
		}
	}
}

// remove takes x off the wire's books; it reports whether x was on them.
func (l *link) remove(x *exchange) bool {
	if l.st.pending[x.id] != x {
		return false
	}
	delete(l.st.pending, x.id)
	if !x.system {
		l.st.slots--
	}
	return true
}

// settle ends a request that was on the wire and admits the next one.
func (l *link) settle(x *exchange, m *jsonrpc.Message, err error) {
	if l.remove(x) {
		x.finish(m, err)
		l.admit()
	}
}

// abandon ends x wherever it is, cancels its work and admits the next request in
// the same step, so that none runs beside abandoned work (C2).
func (l *link) abandon(x *exchange, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, q := range l.st.queue {
		if q == x {
			l.st.queue = append(l.st.queue[:i:i], l.st.queue[i+1:]...)
			x.finish(nil, err)
			return
		}
	}
	if l.remove(x) {
		l.conn.Cancel(x.id)
		x.finish(nil, err)
		l.admit()
	}
}

// wait waits for the outcome of a begun request.
func (l *link) wait(ctx context.Context, x *exchange) (*jsonrpc.Message, error) {
	select {
	case <-x.done:
	case <-ctx.Done():
		l.abandon(x, &transport.Error{Code: transport.Cancelled, Err: context.Cause(ctx)})
		<-x.done
	}
	return x.msg, x.err
}

// rest waits for d; it reports false when ctx or the link ended before.
func (l *link) rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.done:
	case <-ctx.Done():
	}
	return false
}

// notify sends a notification without a slot and waits for nothing.
func (l *link) notify(method string, params json.RawMessage) error {
	x := &exchange{req: transport.Request{Method: method, Params: params, Notification: true}, system: true}
	return l.begin(x)
}

// end marks the link dead and fails everything on it.
func (l *link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.st.ended != nil {
		return
	}
	l.st.ended = err
	for _, x := range l.st.pending {
		x.finish(nil, err)
	}
	for _, x := range l.st.queue {
		x.finish(nil, err)
	}
	l.st.pending, l.st.queue, l.st.slots = map[int64]*exchange{}, nil, 0
	close(l.done)
}

// shut ends the link from our side and waits until everything it started is gone.
func (l *link) shut(err error) {
	l.end(err)
	l.conn.Close()
}

// hold keeps requests off the wire while a new handshake runs on the connection;
// release lets them go and counts the handshake.
func (l *link) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.st.held = true
}

func (l *link) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.st.held = false
	l.st.epoch++
	l.admit()
}

// load describes the slots for the window (T5).
func (l *link) load() (inFlight, slots, queued int, waited bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.slots, l.st.cap, len(l.st.queue), l.st.waited
}

// byID finds the request that an id in a notification stands for; progress tokens
// are ids as well.
func (l *link) byID(raw json.RawMessage) *exchange {
	id, err := jsonrpc.ParseID(raw)
	if err != nil {
		return nil
	}
	n, ok := id.Int64()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.st.pending[n]
	if x != nil {
		x.alive = time.Now()
	}
	return x
}

// suspects returns the tool calls that a message without attribution may belong
// to (G4).
func (l *link) suspects() []*exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*exchange
	for _, x := range l.st.pending {
		if mcp.MayRequireInput(x.req.Method) {
			out = append(out, x)
		}
	}
	return out
}

// owe stops the clocks of the given exchanges while we owe the server an answer
// (T8); the returned function starts them again.
func (l *link) owe(xs []*exchange) (paid func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range xs {
		x.owe()
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, x := range xs {
			x.paid()
		}
	})
}
