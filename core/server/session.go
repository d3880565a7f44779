package server

import (
	"context"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// Bounds of what is kept for clients that may resume a stream.
const (
	maxKeptStreams = 16        // ended streams a session keeps
	maxKeptBytes   = 1 << 20   // and bytes they hold
	maxKeptInAll   = 256 << 20 // and bytes all sessions hold
)

// session is one legacy client over HTTP: its connection, its streams.
type session struct {
	id     string
	client string
	all    *sessions
	conn   *Conn
	own    *stream // what belongs to no request; the client reads it by GET

	mu     sync.Mutex
	active map[jsonrpc.ID]*numbered
	kept   []*numbered // ended, oldest first
	last   int

	// guarded by sessions.mu
	inUse int
	used  time.Time
	idle  *time.Timer
}

type numbered struct {
	*stream
	number int
	plain  bool
	bytes  int
}

// begin starts the stream of a request; false when the id is in use.
func (s *session) begin(id jsonrpc.ID, plain bool) (*stream, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.active[id]; taken {
		return nil, 0, false
	}
	s.last++
	n := &numbered{stream: newStream(true), number: s.last, plain: plain}
	s.active[id] = n
	return n.stream, n.number, true
}

// Send queues the message on the stream of the request it belongs to, else on the
// session's own. A request of ours to a client that takes JSON only cannot arrive.
func (s *session) Send(_ context.Context, m *jsonrpc.Message, about jsonrpc.ID) error {
	if about.IsZero() {
		s.own.append(m)
		return nil
	}
	s.mu.Lock()
	n := s.active[about]
	s.mu.Unlock()
	if n == nil || (n.plain && m.Kind() == jsonrpc.Request) {
		return ErrGone
	}
	n.append(m)
	return nil
}

// Ended ends the request's stream and keeps it for a while.
func (s *session) Ended(id jsonrpc.ID) {
	s.mu.Lock()
	n := s.active[id]
	delete(s.active, id)
	var old []*numbered
	if n != nil {
		n.end()
		n.bytes = n.held()
		s.kept = append(s.kept, n)
		old = s.trim()
	}
	s.mu.Unlock()
	if n != nil {
		s.all.keep(n.bytes)
	}
	for _, o := range old {
		s.all.keep(-o.bytes)
	}
}

// trim drops the oldest kept streams beyond the bounds. A stream that its response
// is being written from has been read by then, or is read whole before it goes:
// what is dropped is the chance to resume it.
func (s *session) trim() (old []*numbered) {
	size := 0
	for _, n := range s.kept {
		size += n.bytes
	}
	for len(s.kept) > 1 && (len(s.kept) > maxKeptStreams || size > maxKeptBytes || s.all.over()) {
		size -= s.kept[0].bytes
		old = append(old, s.kept[0])
		s.kept = s.kept[1:]
	}
	return old
}

// resumable returns the stream of that number; nil when it is gone.
func (s *session) resumable(number int) *stream {
	if number == 0 {
		return s.own
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.active {
		if n.number == number {
			return n.stream
		}
	}
	for _, n := range s.kept {
		if n.number == number {
			return n.stream
		}
	}
	return nil
}

// hangUp closes the connection of a request's stream, not the stream.
func (s *session) hangUp(id jsonrpc.ID) {
	s.mu.Lock()
	n := s.active[id]
	s.mu.Unlock()
	if n != nil && !n.plain {
		n.drop()
	}
}

// hears reports whether a request of ours can arrive on the call's stream.
func (s *session) hears(c *Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.active[c.id]
	return n != nil && !n.plain
}

// live reports whether the client has a request or a stream open.
func (s *session) live() bool {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.inUse > 0
}

func (s *session) leave() { s.all.leave(s) }

// sessions are a door's legacy sessions.
type sessions struct {
	max     int
	maxIdle time.Duration

	mu     sync.Mutex
	byID   map[string]*session
	kept   int
	closed bool
}

func (a *sessions) init(limit int, idle time.Duration) {
	a.max, a.maxIdle, a.byID = limit, idle, map[string]*session{}
}

func (a *sessions) keep(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept += n
}

func (a *sessions) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept > maxKeptInAll
}

// open starts a session, in use by the caller. At the bound the one unused for the
// longest goes; false when all are in use.
func (a *sessions) open(s *Server, client string) (*session, bool) {
	sess := &session{
		id: newToken(), client: client, all: a,
		own: newStream(true), active: map[jsonrpc.ID]*numbered{},
	}
	sess.own.once = true
	name := nextConn()
	sess.conn = s.Open(Peer{ID: name, Owner: name, Client: client, Transport: HTTPTransport}, sess)
	a.mu.Lock()
	var oldest *session
	if len(a.byID) >= a.max {
		for _, x := range a.byID {
			if x.inUse == 0 && (oldest == nil || x.used.Before(oldest.used)) {
				oldest = x
			}
		}
	}
	ok := !a.closed && (len(a.byID) < a.max || oldest != nil)
	if ok {
		sess.inUse = 1
		a.byID[sess.id] = sess
		sess.idle = time.AfterFunc(a.maxIdle, func() { a.expire(sess) })
	}
	a.mu.Unlock()
	if oldest != nil && ok {
		a.close(oldest)
	}
	if !ok {
		sess.conn.Close()
	}
	return sess, ok
}

// enter finds a client's session and marks it in use until leave.
func (a *sessions) enter(id, client string) (*session, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.byID[id]
	if !ok || s.client != client {
		return nil, false
	}
	s.inUse++
	return s, true
}

func (a *sessions) leave(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.inUse--
	s.used = time.Now()
	if a.byID[s.id] == s {
		s.idle.Reset(a.maxIdle)
	}
}

// expire closes a session that nobody used for long.
func (a *sessions) expire(s *session) {
	a.mu.Lock()
	busy := s.inUse > 0 || time.Since(s.used) < a.maxIdle
	a.mu.Unlock()
	if !busy {
		a.close(s)
	}
}

// close ends a session: its calls are cancelled, its streams end.
func (a *sessions) close(s *session) {
	a.mu.Lock()
	_, here := a.byID[s.id]
	delete(a.byID, s.id)
	s.idle.Stop()
	a.mu.Unlock()
	if !here {
		return
	}
	s.conn.Close()
	s.own.end()
	s.mu.Lock()
	freed := 0
	for _, n := range s.active {
		n.end()
	}
	for _, n := range s.kept {
		freed += n.bytes
	}
	s.active, s.kept = map[jsonrpc.ID]*numbered{}, nil
	s.mu.Unlock()
	a.keep(-freed)
}

// closeAll ends every session and waits for what they ran, within ctx.
func (a *sessions) closeAll(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	all := make([]*session, 0, len(a.byID))
	for _, s := range a.byID {
		all = append(all, s)
	}
	a.mu.Unlock()
	for _, s := range all {
		a.close(s)
	}
	for _, s := range all {
		_ = s.conn.Wait(ctx)
	}
}
