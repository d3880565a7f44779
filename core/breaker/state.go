package breaker

import "time"

// Phase is what a breaker does with callers.
type Phase int

// The phases.
const (
	Closed   Phase = iota // lets everybody through
	Open                  // refuses everybody until RetryAt
	HalfOpen              // lets one caller at a time through
)

// String gives "closed", "open" or "half open".
func (p Phase) String() string {
	switch p {
	case Open:
		return "open"
	case HalfOpen:
		return "half open"
	}
	return "closed"
}

// State is a view of one breaker, for the window.
type State struct {
	Phase Phase
	// Failures counts the failures since the last success.
	Failures int
	// RetryAt is when a caller is let through: the end of the recovery while open,
	// of the probe's lease while half open. It is the zero time when one would be
	// let through now.
	RetryAt time.Time
}

// State returns the view of key, without changing anything. A key that was never
// used is closed with no failures.
func (t *Table) State(key string) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.breakers[key]
	if b == nil {
		return State{}
	}
	s := State{b.phase, b.failures, b.retryAt}
	if !time.Now().Before(b.retryAt) {
		s.RetryAt = time.Time{}
		if s.Phase == Open {
			s.Phase = HalfOpen
		}
	}
	return s
}
