package server

import (
	"net"
	"net/http"
	"sync"
)

// fresh knows the connections that have not sent a request yet, such as those a
// client opened ahead. [http.Server.Shutdown] would wait five seconds for each.
type fresh struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// track is the server's ConnState hook.
func (f *fresh) track(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(f.conns, c)
	case f.closed:
		_ = c.Close()
	default:
		f.conns[c] = struct{}{}
	}
}

// close closes them, and those that come later.
func (f *fresh) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.conns {
		_ = c.Close()
	}
	clear(f.conns)
}
