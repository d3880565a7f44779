package breaker

import "time"

// Lease is the permission for one exchange. The first of Success, Failure and
// Nothing counts, later ones do nothing; all are safe on a nil Lease.
type Lease struct {
	table   *Table
	breaker *breaker
	period  uint64
	done    bool // guarded by table.mu
}

// Success says that the exchange showed a healthy peer. It zeroes the count of
// failures; that of a probe closes the breaker.
func (l *Lease) Success() {
	l.end(func(b *breaker) {
		// A probe that outlived its lease counts too: else a peer slower than the
		// lease could never close its breaker.
		if b.period != l.period {
			return
		}
		b.failures = 0
		if b.phase == HalfOpen {
			b.enter(Closed, time.Time{})
		}
	})
}

// Failure says that the exchange showed an unhealthy peer.
func (l *Lease) Failure() {
	l.end(func(b *breaker) {
		if b.period != l.period {
			// It began before the breaker opened: counted, but it prolongs nothing.
			if b.phase == Open {
				b.failures++
			}
			return
		}
		b.failures++
		if b.phase == HalfOpen || b.failures >= l.table.threshold {
			b.enter(Open, time.Now().Add(l.table.recovery))
		}
	})
}

// Nothing says that the exchange told nothing about the peer's health. If this was
// the probe, the next caller becomes it.
func (l *Lease) Nothing() {
	l.end(func(b *breaker) {
		if b.probe == l {
			b.probe, b.retryAt = nil, time.Time{}
		}
	})
}

func (l *Lease) end(record func(*breaker)) {
	if l == nil {
		return
	}
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	if l.done {
		return
	}
	l.done = true
	record(l.breaker)
}
