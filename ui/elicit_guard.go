package ui

import (
	"context"
	"time"
)

// guardTime is how long a new question takes no keys and no presses, so that none
// that was meant for something else answers it (rule A8, field cases 101 and 109).
const guardTime = 700 * time.Millisecond

// keyGuard keeps a question closed until it has been in sight for guardTime and
// no key came for as long: a key that is held down repeats and keeps it closed
// until it is let go.
type keyGuard struct {
	u     *UI
	since time.Time // of the last quiet
	open  bool
	stop  context.CancelFunc
	// opened is called once the guard is open.
	opened func()
}

func newKeyGuard(u *UI, opened func()) *keyGuard {
	g := &keyGuard{u: u, opened: opened, since: u.cfg.Now()}
	ctx, cancel := context.WithCancel(u.ctx)
	g.stop = cancel
	g.wait(ctx, guardTime)
	return g
}

// passes reports whether a key may do something; one that may not closes the guard
// anew.
func (g *keyGuard) passes() bool {
	if !g.open {
		g.since = g.u.cfg.Now()
	}
	return g.open
}

func (g *keyGuard) wait(ctx context.Context, d time.Duration) {
	g.u.background(func(context.Context) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		g.u.cfg.Do(func() { g.try(ctx) })
	})
}

func (g *keyGuard) try(ctx context.Context) {
	if ctx.Err() != nil || g.open {
		return
	}
	if left := guardTime - g.u.cfg.Now().Sub(g.since); left > 0 {
		g.wait(ctx, left)
		return
	}
	g.open = true
	g.opened()
}
