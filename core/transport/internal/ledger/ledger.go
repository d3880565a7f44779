// Package ledger keeps the two promises that every binding of core/transport
// makes to its sink: exactly one outcome for each id, and nothing once Close has
// returned. It is apart from core/transport so that the memory binding of
// transporttest keeps them with the same code as the real ones.
package ledger

import (
	"errors"
	"sync"
	"time"
)

// The errors of [Ledger.Add].
var (
	ErrEnded = errors.New("connection has ended")
	ErrID    = errors.New("id is not positive or already in flight")
)

// Ledger is one connection's list of ids in flight, and the gate in front of its
// sink. The zero Ledger is ready; it may be used from any goroutine.
type Ledger struct {
	mu     sync.Mutex
	open   map[int64]string
	ended  bool
	silent bool
	active int           // reports that are running
	idle   chan struct{} // set by Silence, closed when active falls to 0
}

// Add notes that id is in flight for method.
func (l *Ledger) Add(id int64, method string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return ErrEnded
	}
	if _, dup := l.open[id]; dup || id <= 0 {
		return ErrID
	}
	if l.open == nil {
		l.open = map[int64]string{}
	}
	l.open[id] = method
	return nil
}

// Take ends id. Of several callers one gets true and with it the right, and the
// duty, to decide the outcome.
func (l *Ledger) Take(id int64) (method string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	method, ok = l.open[id]
	delete(l.open, id)
	return method, ok
}

// TakeAll ends every id at once: their outcome is the end of the connection.
func (l *Ledger) TakeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.open)
}

// End refuses every later Add. What is in flight stays so.
func (l *Ledger) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// Ended reports whether End was called.
func (l *Ledger) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// Report runs fn, which calls the sink, with no lock held. It returns false
// without running fn when the ledger is silent.
func (l *Ledger) Report(fn func()) bool {
	l.mu.Lock()
	if l.silent {
		l.mu.Unlock()
		return false
	}
	l.active++
	l.mu.Unlock()

	fn()

	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
	if l.active == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
	return true
}

// Silence lets no further report begin, and waits for those that have begun, but
// not longer than grace: one of them may be blocked, or be the caller.
func (l *Ledger) Silence(grace time.Duration) {
	l.mu.Lock()
	l.ended, l.silent = true, true
	clear(l.open)
	if l.active == 0 {
		l.mu.Unlock()
		return
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle := l.idle
	l.mu.Unlock()

	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}
