package server

import (
	"bytes"
	"slices"
	"sync"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// Bounds of one stream that nobody reads, or not fast enough.
const (
	maxEvents     = 1024
	maxEventBytes = 4 << 20
)

// stream is the messages of one HTTP response, in order. The machine appends, one
// response writer at a time reads. Nothing blocks: past the bounds, notifications
// to a client that does not read are dropped, oldest first; responses and requests
// never are.
type stream struct {
	// keep has read events stay, for a legacy client that resumes. It also marks
	// the legacy era, in which every response has status 200.
	keep bool

	// once has a notification that waits already not queued again, for a stream
	// that may have no reader for long.
	once bool

	mu     sync.Mutex
	events []event
	size   int
	seq    int  // of the last event appended
	read   int  // of the last event that a writer got
	ended  bool // nothing more comes
	hangUp bool // the writer is to close the connection, the stream goes on
	status int  // HTTP status if the response is sent alone
	wake   chan struct{}
	taken  chan struct{} // closed when another writer takes over
}

type event struct {
	seq  int
	data []byte
	note bool
	last bool // the response
}

func newStream(keep bool) *stream {
	return &stream{keep: keep, wake: make(chan struct{}, 1), status: 200}
}

func (st *stream) append(m *jsonrpc.Message) {
	st.mu.Lock()
	defer st.mu.Unlock()
	e := event{st.seq + 1, oneLine(m), m.Kind() == jsonrpc.Notification, m.Kind() == jsonrpc.Response}
	if st.once && e.note && slices.ContainsFunc(st.events, func(x event) bool {
		return x.seq > st.read && bytes.Equal(x.data, e.data)
	}) {
		return
	}
	st.seq = e.seq
	st.events = append(st.events, e)
	st.size += len(e.data)
	for len(st.events) > maxEvents || st.size > maxEventBytes {
		i := slices.IndexFunc(st.events, func(e event) bool { return e.note })
		if i < 0 {
			break
		}
		st.size -= len(st.events[i].data)
		st.events = slices.Delete(st.events, i, i+1)
	}
	st.ended = st.ended || e.last
	if e.last && m.Error != nil && !st.keep {
		st.status = statusOf(m.Error.Code)
	}
	st.poke()
}

func (st *stream) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.ended = true
	st.poke()
}

// drop has the current writer close its connection; the stream itself goes on.
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.hangUp = true
	st.poke()
}

func (st *stream) poke() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// attach makes the caller the stream's writer, and ends the one before, which gets
// nothing more. Read is the last event that any writer got.
func (st *stream) attach() (taken chan struct{}, read int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.taken != nil {
		close(st.taken)
		st.hangUp = false // it was meant for the writer before
	}
	st.taken = make(chan struct{})
	st.poke()
	return st.taken, st.read
}

// after returns the events behind seq for the writer that attached with taken. What
// was read is forgotten unless kept.
func (st *stream) after(taken chan struct{}, seq int) (events []event, ended, hangUp bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if taken != st.taken {
		return nil, false, false
	}
	st.read = st.seq
	i := slices.IndexFunc(st.events, func(e event) bool { return e.seq > seq })
	if i >= 0 {
		events = slices.Clone(st.events[i:])
	}
	if !st.keep {
		st.events, st.size = nil, 0
	}
	return events, st.ended, st.hangUp
}

// held is how much memory the stream's events hold.
func (st *stream) held() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.size
}
