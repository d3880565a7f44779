package transporttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Kind is which method of the sink was called.
type Kind string

// The methods of a sink.
const (
	Message Kind = "message"
	Alive   Kind = "alive"
	Failed  Kind = "failed"
	Settled Kind = "settled"
	Closed  Kind = "closed"
)

// Event is one call of a sink.
type Event struct {
	Kind Kind
	// ID is the id of Alive, Failed and Settled, and Message's stream.
	ID  int64
	Msg *jsonrpc.Message
	Err error
}

func (e Event) String() string {
	s := fmt.Sprintf("%s(%d)", e.Kind, e.ID)
	if e.Msg != nil {
		b := e.Msg.Append(nil)
		s += fmt.Sprintf(" %.200s", b)
	}
	if e.Err != nil {
		s += fmt.Sprintf(" %v", e.Err)
	}
	return s
}

// Ends reports whether the event is an outcome of id.
func (e Event) Ends(id int64) bool {
	switch e.Kind {
	case Failed, Settled:
		return e.ID == id
	case Message:
		if e.Msg.Kind() != jsonrpc.Response {
			return false
		}
		n, ok := e.Msg.ID.Int64()
		return e.ID == id || e.ID == 0 && ok && n == id
	}
	return false
}

// Patience bounds every wait of a Recorder. It is generous: it only costs time
// when something is broken.
const Patience = 60 * time.Second

// Recorder is a sink that remembers. Hook, if set before the connection is made,
// runs inside each call after the event was recorded.
type Recorder struct {
	Hook func(Event)

	mu     sync.Mutex
	events []Event
	more   chan struct{}
}

var _ transport.Sink = (*Recorder)(nil)

func (r *Recorder) Message(stream int64, m *jsonrpc.Message) {
	r.add(Event{Kind: Message, ID: stream, Msg: m})
}
func (r *Recorder) Alive(id int64)             { r.add(Event{Kind: Alive, ID: id}) }
func (r *Recorder) Failed(id int64, err error) { r.add(Event{Kind: Failed, ID: id, Err: err}) }
func (r *Recorder) Settled(id int64)           { r.add(Event{Kind: Settled, ID: id}) }
func (r *Recorder) Closed(err error)           { r.add(Event{Kind: Closed, Err: err}) }

func (r *Recorder) add(e Event) {
	r.mu.Lock()
	r.events = append(r.events, e)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	r.mu.Unlock()
	if r.Hook != nil {
		r.Hook(e)
	}
}

// Events returns all events so far, apart from Alive.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e Event) bool { return e.Kind == Alive })
}

// Outcomes returns the outcomes of id so far; there must never be two.
func (r *Recorder) Outcomes(id int64) []Event {
	return slices.DeleteFunc(r.Events(), func(e Event) bool { return !e.Ends(id) })
}

// First waits for the first event that matches.
func (r *Recorder) First(t testing.TB, what string, match func(Event) bool) Event {
	t.Helper()
	timeout := time.NewTimer(Patience)
	defer timeout.Stop()
	for seen := 0; ; {
		r.mu.Lock()
		fresh := r.events[seen:]
		seen = len(r.events)
		if r.more == nil {
			r.more = make(chan struct{})
		}
		more := r.more
		r.mu.Unlock()
		if i := slices.IndexFunc(fresh, match); i >= 0 {
			return fresh[i]
		}
		select {
		case <-more:
		case <-timeout.C:
			t.Fatalf("no %s after %v; events: %.2000v", what, Patience, r.Events())
		}
	}
}

// Outcome waits for the outcome of id, or for the end of the connection.
func (r *Recorder) Outcome(t testing.TB, id int64) Event {
	t.Helper()
	return r.First(t, fmt.Sprintf("outcome of %d", id), func(e Event) bool { return e.Ends(id) || e.Kind == Closed })
}

// Noted waits for a notification or request of the server.
func (r *Recorder) Noted(t testing.TB, method string) Event {
	t.Helper()
	return r.First(t, method, func(e Event) bool { return e.Kind == Message && e.Msg.Method == method })
}
