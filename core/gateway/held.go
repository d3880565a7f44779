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

// held are the calls whose clients were asked something.
type held struct {
	mu   sync.Mutex
	byID map[string]*bridge
}

// put holds the call and returns the id to take it by, which works once.
func (h *held) put(b *bridge) (id string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byID) >= maxHeld {
		return "", false
	}
	id = rand.Text()
	h.byID[id] = b
	b.view.gateway.wg.Go(func() {
		expiry := time.NewTimer(holdFor)
		defer expiry.Stop()
		select {
		case <-expiry.C:
			if h.take(id) != nil {
				b.cancel(errHeldTooLong)
			}
		case <-b.done:
			// It keeps its place until the client fetches the end, or the time is
			// up: the answer is the client's.
			select {
			case <-expiry.C:
				h.take(id)
			case <-b.view.gateway.ctx.Done():
			}
		case <-b.view.gateway.ctx.Done():
		}
	})
	return id, true
}

// take returns the held call; nil when it is not held any more.
func (h *held) take(id string) *bridge {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.byID[id]
	delete(h.byID, id)
	return b
}
