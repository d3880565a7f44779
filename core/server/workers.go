package server

import (
	"context"
	"slices"
	"sync"
)

// workers counts handlers: so many in all, so many for one owner (S3). A slot is
// checked and taken in one step, so two requests cannot both pass.
type workers struct {
	total, perOwner int

	mu      sync.Mutex
	used    int
	owners  map[string]int
	waiting []*waiter // handlers that come back from a wait for an answer
}

type waiter struct {
	owner string
	ready chan struct{}
}

func newWorkers(total, perOwner int) *workers {
	return &workers{total: total, perOwner: perOwner, owners: map[string]int{}}
}

// take reports whether the owner got a slot. It never waits: above the bound the
// caller is told that the server is busy. Whoever waits in retake was offered the
// slot first, in release.
func (w *workers) take(owner string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.free(owner) {
		return false
	}
	w.hold(owner)
	return true
}

// retake waits for a slot, for a call that gave its own up while a client was
// asked: an answer that a person gave must not be lost to a busy moment. When ctx
// ends first it takes one beyond the bound, for the moment that the handler needs to
// return, and gives ctx's cause.
func (w *workers) retake(ctx context.Context, owner string) error {
	w.mu.Lock()
	if w.free(owner) {
		w.hold(owner)
		w.mu.Unlock()
		return nil
	}
	me := &waiter{owner, make(chan struct{})}
	w.waiting = append(w.waiting, me)
	w.mu.Unlock()
	select {
	case <-me.ready:
		return nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.waiting, me); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
		w.hold(owner)
	}
	return context.Cause(ctx)
}

func (w *workers) release(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used--
	if w.owners[owner]--; w.owners[owner] == 0 {
		delete(w.owners, owner)
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(next *waiter) bool {
		if !w.free(next.owner) {
			return false
		}
		w.hold(next.owner)
		close(next.ready)
		return true
	})
}

func (w *workers) free(owner string) bool {
	return w.used < w.total && w.owners[owner] < w.perOwner
}

func (w *workers) hold(owner string) {
	w.used++
	w.owners[owner]++
}
