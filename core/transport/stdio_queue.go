package transport

import (
	"slices"
	"sync"
)

// maxQueued bounds the messages that wait for a server to read its stdin, in each
// lane; their bytes are bounded by MaxBytes. The session has its own queue (T5);
// this one only has to be longer than what that lets out.
const maxQueued = 256

// outMessage is one line to write.
type outMessage struct {
	id           int64 // 0 for responses and cancellations
	notification bool
	line         []byte
}

// outQueue is what waits to be written. Responses and cancellations have a lane of
// their own that goes first, so that they never wait behind requests (T2, T5).
type outQueue struct {
	maxBytes int64
	wake     chan struct{} // holds a token when there is something to do

	mu     sync.Mutex
	closed bool
	urgent lane
	normal lane
}

type lane struct {
	messages []outMessage
	bytes    int64
}

func newOutQueue(maxBytes int64) *outQueue {
	return &outQueue{maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// push adds m. A full lane is busy; a single message always fits an empty one.
func (q *outQueue) push(m outMessage) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed()
	}
	l := &q.normal
	if m.id == 0 {
		l = &q.urgent
	}
	n := int64(len(m.line))
	if len(l.messages) >= maxQueued || len(l.messages) > 0 && l.bytes+n > q.maxBytes {
		return &Error{Code: Busy}
	}
	l.messages = append(l.messages, m)
	l.bytes += n
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// pop waits for the next message; false once stop is closed.
func (q *outQueue) pop(stop <-chan struct{}) (outMessage, bool) {
	for {
		select {
		case <-stop:
			return outMessage{}, false
		default:
		}
		if m, ok := q.take(); ok {
			return m, true
		}
		select {
		case <-q.wake:
		case <-stop:
		}
	}
}

func (q *outQueue) take() (outMessage, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range []*lane{&q.urgent, &q.normal} {
		if len(l.messages) > 0 {
			m := l.messages[0]
			l.messages[0] = outMessage{}
			l.messages = l.messages[1:]
			l.bytes -= int64(len(m.line))
			return m, true
		}
	}
	return outMessage{}, false
}

// remove takes back the message with this id; false when it is no longer here.
func (q *outQueue) remove(id int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.normal
	i := slices.IndexFunc(l.messages, func(m outMessage) bool { return m.id == id })
	if i < 0 {
		return false
	}
	l.bytes -= int64(len(l.messages[i].line))
	l.messages = slices.Delete(l.messages, i, i+1)
	return true
}

// close refuses later pushes and returns the requests and notifications that
// were still waiting.
func (q *outQueue) close() []outMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	left := q.normal.messages
	q.urgent, q.normal = lane{}, lane{}
	return left
}

func errClosed() error { return &Error{Code: Broken, Reason: "closed"} }
