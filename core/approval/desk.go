package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// AskFor is how long a call waits for a person unless its caller has less patience
// (S7).
const AskFor = 5 * time.Minute

// maxPerServer is how many calls may wait for one server (field case 109).
const maxPerServer = 64

// Desk holds the asks. Make it with [NewDesk].
type Desk struct {
	book    *Book
	changed func()

	mu     sync.Mutex
	asks   map[string]*ask
	muted  map[string]bool
	turns  map[string]int // by server: the last turn that was given out
	closed bool
}

// ask is one waiting call. The desk's mutex guards what changes.
type ask struct {
	Waiting
	turn    int
	outcome chan Outcome // one, buffered
	expiry  *time.Timer  // of one whose caller is gone
}

// NewDesk returns the desk of a book. changed is called after every change of what
// waits, without a lock held.
func NewDesk(book *Book, changed func()) *Desk {
	d := &Desk{book: book, changed: changed, asks: map[string]*ask{}, muted: map[string]bool{}, turns: map[string]int{}}
	book.changed = d.recheck
	return d
}

// Ask holds the call until it is decided and returns the one outcome. v is the
// verdict that made it an ask; limit is how long it may wait, 0 for [AskFor]. The
// end of ctx takes the caller away, see [ErrCancelled].
func (d *Desk) Ask(ctx context.Context, c *Call, v Verdict, limit time.Duration) Outcome {
	if limit <= 0 {
		limit = AskFor
	}
	start := time.Now()
	a := &ask{outcome: make(chan Outcome, 1), Waiting: Waiting{
		ID: rand.Text()[:16], Call: c, Verdict: v, Since: start, Until: start.Add(limit),
	}}
	if at, ok := ctx.Deadline(); ok && at.Before(a.Until) {
		a.Until = at
	}
	if how := d.enter(a); how != "" {
		return Outcome{Effect: Deny, How: how}
	}
	d.recheck() // something may have been decided since the verdict
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var o Outcome
	select {
	case o = <-a.outcome:
	case <-timer.C:
		o = d.leave(a, TimedOut)
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), ErrCancelled) {
			o = d.leave(a, Cancelled)
		} else {
			o = d.linger(a)
		}
	}
	o.Waited = time.Since(start)
	return o
}

// enter puts the ask in line, or says why not.
func (d *Desk) enter(a *ask) How {
	server := a.Call.Server
	d.mu.Lock()
	waiting, first := 0, math.MaxInt
	for _, other := range d.asks {
		if other.Gone {
			continue
		}
		first = min(first, other.turn)
		if other.Call.Server == server {
			waiting++
		}
	}
	switch {
	case d.closed:
		d.mu.Unlock()
		return Closed
	case d.muted[server]:
		d.mu.Unlock()
		return Muted
	case waiting >= maxPerServer:
		d.mu.Unlock()
		return Crowded
	}
	// The servers take turns, and one that comes late need not catch up: a flood of
	// one holds another up by one ask at most.
	if first == math.MaxInt {
		first = 0
		clear(d.turns)
	}
	a.turn = max(first, d.turns[server]+1)
	d.turns[server] = a.turn
	// The retry of a call whose caller had gone takes its place.
	for id, old := range d.asks {
		if old.Gone && old.Call.exact() == a.Call.exact() {
			old.expiry.Stop()
			delete(d.asks, id)
		}
	}
	d.asks[a.ID] = a
	d.mu.Unlock()
	d.changed()
	return ""
}

// settle ends the ask with an outcome that its Ask returns; the first one does.
func (d *Desk) settle(id string, o Outcome) (*ask, error) {
	d.mu.Lock()
	a := d.asks[id]
	if a == nil {
		d.mu.Unlock()
		return nil, ErrNoAsk
	}
	delete(d.asks, id)
	gone := a.Gone
	if gone {
		a.expiry.Stop()
	}
	d.mu.Unlock()
	if !gone {
		a.outcome <- o
	}
	return a, nil
}

// leave ends the ask from its caller's side, unless it has just been decided.
func (d *Desk) leave(a *ask, how How) Outcome {
	_, _ = d.settle(a.ID, Outcome{Effect: Deny, How: how})
	d.changed()
	return <-a.outcome
}

// linger leaves the ask behind for one retry (A5).
func (d *Desk) linger(a *ask) Outcome {
	d.mu.Lock()
	if d.asks[a.ID] == nil {
		d.mu.Unlock()
		return <-a.outcome
	}
	a.Gone, a.Until = true, time.Now().Add(CallFor)
	a.expiry = time.AfterFunc(CallFor, func() {
		if _, err := d.settle(a.ID, Outcome{}); err == nil {
			d.changed()
		}
	})
	d.mu.Unlock()
	d.changed()
	return Outcome{Effect: Deny, How: Left}
}

// Allow lets the call run, and what the scope covers from now on; of one whose
// caller is gone it lets one retry through. by names the decider for the history.
// The error is [ErrNoAsk].
func (d *Desk) Allow(id string, scope Scope, by string) error {
	a, err := d.settle(id, Outcome{Effect: Allow, How: Decided, Scope: scope, By: by})
	if err != nil {
		return err
	}
	if a.Gone && (scope == Once || scope == ThisCall) {
		d.book.AllowRetry(a.Call)
	} else {
		d.book.Allow(a.Call, scope)
	}
	d.changed()
	return nil
}

// Deny refuses the call. The error is [ErrNoAsk].
func (d *Desk) Deny(id, by string) error {
	_, err := d.settle(id, Outcome{Effect: Deny, How: Decided, Scope: Once, By: by})
	if err == nil {
		d.changed()
	}
	return err
}

// Mute refuses all asks of a server, those that wait included, until Unmute.
func (d *Desk) Mute(server string) {
	d.mu.Lock()
	d.muted[server] = true
	d.mu.Unlock()
	d.Drop(func(c *Call) bool { return c.Server == server }, Muted)
}

// Unmute lets a server's calls ask again.
func (d *Desk) Unmute(server string) {
	d.mu.Lock()
	delete(d.muted, server)
	d.mu.Unlock()
	d.changed()
}

// Muted reports whether the server's calls may not ask.
func (d *Desk) Muted(server string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.muted[server]
}

// Drop ends the asks about calls that can no longer run or answer: their server or
// client is gone.
func (d *Desk) Drop(which func(*Call) bool, how How) {
	for _, w := range d.List() {
		if which(w.Call) {
			_, _ = d.settle(w.ID, Outcome{Effect: Deny, How: how})
		}
	}
	d.changed()
}

// List is what waits, in the order in which a person should see it: oldest first,
// the servers taking turns. Nothing that comes later gets before the first, so the
// ask on the screen stays where it is.
func (d *Desk) List() []Waiting {
	d.mu.Lock()
	list := make([]*ask, 0, len(d.asks))
	for _, a := range d.asks {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *ask) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	out := make([]Waiting, len(list))
	for i, a := range list {
		out[i] = a.Waiting
	}
	d.mu.Unlock()
	return out
}

// recheck ends the asks that a grant or rule has answered meanwhile.
func (d *Desk) recheck() {
	for _, w := range d.List() {
		if w.Gone {
			continue
		}
		v := d.book.Decide(w.Call)
		if v.Effect == Ask {
			continue
		}
		how := Outcome{Effect: v.Effect, How: Covered, By: cmp.Or(v.By, string(v.Reason))}
		if _, err := d.settle(w.ID, how); err == nil {
			d.changed()
		}
	}
}

// Close ends all asks; later ones end at once.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.Drop(func(*Call) bool { return true }, Closed)
}
