package breaker

import (
	"errors"
	"sync"
	"time"
)

// The defaults of C8.
const (
	DefaultThreshold = 5
	DefaultRecovery  = 30 * time.Second
)

// ErrOpen is what every [OpenError] is, for errors.Is.
var ErrOpen = errors.New("breaker open")

// OpenError refuses a lease. It does not name the key: an origin can name an account.
type OpenError struct {
	// RetryAt is when another caller is let through at the latest, if none is
	// before: the end of the recovery time, or of the probe's lease.
	RetryAt time.Time
}

func (e *OpenError) Error() string { return ErrOpen.Error() }

// Is makes errors.Is(err, ErrOpen) true.
func (e *OpenError) Is(target error) bool { return target == ErrOpen }

// Table holds the breakers of all keys.
type Table struct {
	threshold int
	recovery  time.Duration

	mu       sync.Mutex
	breakers map[string]*breaker
}

// breaker is the state of one key. The table's mu guards it.
type breaker struct {
	phase    Phase
	failures int
	// period counts the changes of phase. A lease of another period is too old to
	// say anything about this one.
	period uint64
	// retryAt is the end of the recovery while open, of the probe's lease while half
	// open; the zero time when half open without a probe.
	retryAt time.Time
	probe   *Lease // the newest, while half open
}

// NewTable returns a table whose breakers open at threshold failures in a row and
// let a probe through after recovery. Values that are not positive mean
// [DefaultThreshold] and [DefaultRecovery].
func NewTable(threshold int, recovery time.Duration) *Table {
	if threshold <= 0 {
		threshold = DefaultThreshold
	}
	if recovery <= 0 {
		recovery = DefaultRecovery
	}
	return &Table{threshold: threshold, recovery: recovery, breakers: make(map[string]*breaker)}
}

// Allow lets the caller make one exchange with key. The error is an [*OpenError].
func (t *Table) Allow(key string) (*Lease, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.breakers[key]
	if b == nil {
		b = new(breaker)
		t.breakers[key] = b
	}
	now := time.Now()
	if b.phase != Closed && now.Before(b.retryAt) {
		return nil, &OpenError{b.retryAt}
	}
	if b.phase == Open {
		b.enter(HalfOpen, time.Time{})
	}
	l := &Lease{table: t, breaker: b, period: b.period}
	if b.phase == HalfOpen {
		b.probe, b.retryAt = l, now.Add(2*t.recovery)
	}
	return l, nil
}

func (b *breaker) enter(p Phase, retryAt time.Time) {
	b.phase, b.retryAt, b.probe = p, retryAt, nil
	b.period++
}

// Reset forgets everything about key; leases that are out say nothing any more.
func (t *Table) Reset(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.breakers, key)
}

// ResetAll forgets everything about all keys.
func (t *Table) ResetAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.breakers)
}
