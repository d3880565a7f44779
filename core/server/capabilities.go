package server

import (
	"slices"
	"sync"
)

// capabilities bounds how many connections' client capabilities are kept (S9).
// Over the cap one is forgotten: the oldest of a connection that cannot be reached
// now, else the oldest. Such a connection still works, but can be asked nothing
// until it initializes again.
type capabilities struct {
	max int

	mu    sync.Mutex
	conns []*Conn // by their last initialize, oldest first
}

// record keeps the capabilities of a connection that has just initialized.
func (t *capabilities) record(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns = slices.DeleteFunc(t.conns, func(x *Conn) bool { return x == c })
	if c.ctx.Err() != nil {
		return
	}
	t.conns = append(t.conns, c)
	if len(t.conns) <= t.max {
		return
	}
	i := max(0, slices.IndexFunc(t.conns, func(x *Conn) bool { return !x.live() }))
	evicted := t.conns[i]
	t.conns = slices.Delete(t.conns, i, i+1)
	evicted.mu.Lock()
	if evicted.legacy != nil {
		who := *evicted.legacy
		who.Capabilities = nil
		evicted.legacy = &who
	}
	evicted.mu.Unlock()
	c.server.log.Info("client capabilities evicted", "kept", len(t.conns), "live", evicted.live())
}

// drop forgets a connection that is closed.
func (t *capabilities) drop(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns = slices.DeleteFunc(t.conns, func(x *Conn) bool { return x == c })
}

// live reports whether the client can be reached now: over HTTP it has a request or
// a stream open.
func (c *Conn) live() bool {
	o, ok := c.out.(interface{ live() bool })
	return !ok || o.live()
}
