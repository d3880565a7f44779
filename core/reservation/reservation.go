// Package reservation makes the single-use handles that let a priced call through
// (A6). The spend gate mints one when a call is dispatched; the transport takes it
// before the call goes out and refuses a priced call without one.
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

// Table holds the handles that are out. It may be used from any goroutine.
type Table struct {
	ttl time.Duration

	mu     sync.Mutex
	minted map[string]time.Time
}

// NewTable returns an empty table; a ttl that is not positive means [DefaultTTL].
func NewTable(ttl time.Duration) *Table {
	if ttl <= 0 {
		ttl = DefaultTTL
	}
	return &Table{ttl: ttl, minted: make(map[string]time.Time)}
}

// Mint returns a new handle. It also drops the expired ones, so that the table holds
// at most one ttl's worth of mints.
func (t *Table) Mint() string {
	b := make([]byte, handleBytes)
	_, _ = rand.Read(b) // never fails: the program ends instead
	token := base64.RawURLEncoding.EncodeToString(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	for old, at := range t.minted {
		if time.Since(at) >= t.ttl {
			delete(t.minted, old)
		}
	}
	t.minted[token] = time.Now()
	return token
}

// Take spends a handle: true exactly once. A handle that was never minted, is spent
// or has expired gives the same false.
func (t *Table) Take(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.minted[token]
	delete(t.minted, token)
	return ok && time.Since(at) < t.ttl
}
