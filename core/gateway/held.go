package gateway

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

const (
	// maxHeld bounds the calls that wait for a modern client to come again, and
	// holdFor how long each does: a client has no way to say that it will not.
	maxHeld = 256
	holdFor = 10 * time.Minute
)

var (
	errTooManyHeld = errors.New("too many calls are held")
	errHeldTooLong = errors.New("the client did not come back with its answers")
)

// held are the calls whose clients were asked something. One that ends meanwhile keeps
// its place: the answer is the client's to fetch.
type held struct {
	mu   sync.Mutex
	byID map[string]heldCall
}

type heldCall struct {
	*bridge
	expiry *time.Timer
}

// put holds the call and returns the id to take it by, which works once.
func (h *held) put(b *bridge) (id string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byID) >= maxHeld {
		return "", false
	}
	id = rand.Text()
	h.byID[id] = heldCall{b, time.AfterFunc(holdFor, func() {
		if h.take(id) != nil {
			b.cancel(errHeldTooLong)
		}
	})}
	return id, true
}

// take returns the held call; nil when it is not held any more.
func (h *held) take(id string) *bridge {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.byID[id]
	if !ok {
		return nil
	}
	c.expiry.Stop()
	delete(h.byID, id)
	return c.bridge
}
