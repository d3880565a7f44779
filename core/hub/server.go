package hub

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/spec"
)

// server is one entry of the spec file and what runs for it. One goroutine owns
// its life, so that the old tree is gone before a new one starts (field case 13).
type server struct {
	hub  *Hub
	name string
	log  *logRing
	// poke wakes the owner: the entry changed. stop ends it for good.
	poke chan struct{}
	stop context.CancelFunc

	mu      sync.Mutex
	entry   *spec.Entry
	origin  string          // of the breaker, for a URL server
	session *client.Session // nil when none runs
	fixed   *fixed          // the state while there is no session
	kick    chan struct{}   // tries again while fixed; buffered
	shown   *Server         // the current view, nil when it must be made anew
}

// fixed is a state that is not a session's.
type fixed struct {
	state State
	explanation
	since time.Time
}

// newServer starts the owner of an entry; Hub.mu is held.
func (h *Hub) newServer(ctx context.Context, e *spec.Entry) *server {
	ctx, stop := context.WithCancel(ctx)
	v := &server{
		hub: h, name: e.Name, entry: e, stop: stop,
		poke: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		log: &logRing{mask: h.cfg.Mask.Mask},
	}
	if v.fixed = v.idle(e); v.fixed == nil {
		v.fixed = &fixed{state: Starting, since: time.Now()}
	}
	h.wg.Go(func() { v.own(ctx) })
	return v
}

// set gives the server a new entry, which restarts it; Hub.mu is held.
func (v *server) set(e *spec.Entry) {
	v.mu.Lock()
	v.entry, v.shown = e, nil
	v.mu.Unlock()
	select {
	case v.poke <- struct{}{}:
	default:
	}
}

// own runs what the entry wants until the server is removed.
func (v *server) own(ctx context.Context) {
	for ctx.Err() == nil {
		v.mu.Lock()
		e := v.entry
		v.mu.Unlock()
		run, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			v.contained(run, e)
		}()
		select {
		case <-v.poke:
		case <-ctx.Done():
		}
		cancel()
		<-done
	}
}

// contained runs the entry, and keeps a fault of ours in this one server (field case
// 90).
func (v *server) contained(ctx context.Context, e *spec.Entry) {
	defer func() {
		if p := recover(); p != nil {
			v.hub.cfg.Log.Error("a fault in Drawbridge", "server", v.name, "panic", p, "stack", string(debug.Stack()))
			v.mu.Lock()
			v.session = nil
			v.mu.Unlock()
			v.rest(ctx, &fixed{state: Failed, explanation: explanation{
				sentence: "A fault in Drawbridge itself stopped this server; the log has the details.", action: actReconnect,
			}})
		}
	}()
	v.run(ctx, e)
}

// run keeps one entry's session running until ctx ends.
func (v *server) run(ctx context.Context, e *spec.Entry) {
	for ctx.Err() == nil {
		if f := v.idle(e); f != nil {
			v.rest(ctx, f)
			continue
		}
		v.stand(&fixed{state: Starting})
		s, f := v.assemble(ctx, e.Spec)
		if f != nil {
			if ctx.Err() == nil {
				v.rest(ctx, f)
			}
			continue
		}
		v.mu.Lock()
		v.session, v.fixed = s, nil
		v.mu.Unlock()
		v.dirty()
		s.Run(ctx)
		v.mu.Lock()
		v.session, v.fixed = nil, &fixed{state: ShuttingDown, since: time.Now()}
		v.mu.Unlock()
		v.dirty()
	}
}

// idle returns the state of an entry that wants no session, nil when it wants one.
func (v *server) idle(e *spec.Entry) *fixed {
	switch {
	case e.Disabled:
		return &fixed{state: Off, explanation: explanation{action: actTurnOn}, since: time.Now()}
	case e.Err != nil:
		return &fixed{state: InvalidSpec, explanation: explanation{
			sentence: fmt.Sprintf("Line %d, column %d: %s.", e.Err.Line, e.Err.Column, strings.TrimSuffix(e.Err.Sentence, ".")), words: wordsOf(e.Err.Action), action: actEdit,
		}, since: time.Now()}
	}
	return nil
}

func wordsOf(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// stand shows a state without a session.
func (v *server) stand(f *fixed) {
	f.since = time.Now()
	v.mu.Lock()
	v.fixed = f
	v.mu.Unlock()
	v.dirty()
}

// rest shows a state without a session and waits there until somebody asks to try
// again.
func (v *server) rest(ctx context.Context, f *fixed) {
	v.stand(f)
	select {
	case <-v.kick:
	case <-ctx.Done():
	}
}

// retry asks for a new attempt, whether a session runs or not.
func (v *server) retry(probe bool) {
	v.mu.Lock()
	s := v.session
	v.mu.Unlock()
	switch {
	case s != nil && probe:
		s.ProbeAgain()
	case s != nil:
		s.Reconnect()
	default:
		select {
		case v.kick <- struct{}{}:
		default:
		}
	}
}

// dirty says that the view is out of date.
func (v *server) dirty() {
	v.mu.Lock()
	was := v.shown
	v.shown = nil
	v.mu.Unlock()
	if was != nil {
		v.hub.changed()
	}
}

// note adds a line to the server's log.
func (v *server) note(from, level, text string) {
	v.log.add(from, level, text)
	v.dirty()
}
