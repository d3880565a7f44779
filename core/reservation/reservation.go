// Package reservation makes the single-use handles that let a priced call through
// (A6). The spend gate mints one when a call is dispatched; the transport takes it
// before the call goes out, refuses a priced call without one, and says afterwards
// whether the money may be gone.
package reservation

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"
)

// DefaultTTL is how long a handle may be spent after it was minted (A6).
const DefaultTTL = 120 * time.Second

// handleBytes is the randomness of a handle; 18 bytes fill base64 without padding.
const handleBytes = 18

// Outcome is how a reservation ended.
type Outcome string

// The outcomes.
const (
	// Settled says that the call reached the server, or may have: what was
	// reserved is spent.
	Settled Outcome = "settled"
	// Released says that the call did not reach the server, or that nobody took
	// the handle in time: what was reserved is free again.
	Released Outcome = "released"
)

// Table holds the handles that are out. It may be used from any goroutine.
type Table struct {
	ttl time.Duration

	mu     sync.Mutex
	minted map[string]*Hold
}

// NewTable returns an empty table; a ttl that is not positive means [DefaultTTL].
func NewTable(ttl time.Duration) *Table {
	if ttl <= 0 {
		ttl = DefaultTTL
	}
	return &Table{ttl: ttl, minted: make(map[string]*Hold)}
}

// Mint returns a new handle for one call at this price. ended, if not nil, is called
// exactly once, with no lock held: when the call that took the handle has ended, or
// when the handle was refused or has expired. It must return at once.
func (t *Table) Mint(price int64, ended func(Outcome)) string {
	b := make([]byte, handleBytes)
	_, _ = rand.Read(b) // never fails: the program ends instead
	token := base64.RawURLEncoding.EncodeToString(b)
	h := &Hold{price: price, until: time.Now().Add(t.ttl), ended: ended}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.minted[token] = h
	h.sweep = time.AfterFunc(t.ttl, func() { t.remove(token).Release() })
	return token
}

// Take spends a handle: of all attempts one at most gets the hold, and owes it its
// end. A handle that was never minted, is spent, has expired or is for another price
// gives the same nil; the last two are released.
func (t *Table) Take(token string, price int64) *Hold {
	h := t.remove(token)
	if h == nil {
		return nil
	}
	h.sweep.Stop()
	if h.price != price || !time.Now().Before(h.until) {
		h.Release()
		return nil
	}
	return h
}

// Len returns how many handles wait to be taken.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.minted)
}

func (t *Table) remove(token string) *Hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.minted[token]
	delete(t.minted, token)
	return h
}

// Hold is a reservation that a call has taken. Its first end counts. The methods of
// a nil Hold do nothing: a call without a price has none.
type Hold struct {
	price int64
	until time.Time
	sweep *time.Timer
	ended func(Outcome)
	once  sync.Once
}

// Settle says that the call reached the server, or may have.
func (h *Hold) Settle() { h.end(Settled) }

// Release says that the call did not reach the server.
func (h *Hold) Release() { h.end(Released) }

func (h *Hold) end(o Outcome) {
	if h == nil {
		return
	}
	h.once.Do(func() {
		if h.ended != nil {
			h.ended(o)
		}
	})
}
