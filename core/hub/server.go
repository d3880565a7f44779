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
	// poke has the owner start over: the entry changed, or somebody wants another
	// attempt from the secrets up. It is filled and drained with mu held. stop ends
	// the owner for good, which gone tells.
	poke chan struct{}
	stop context.CancelFunc
	gone chan struct{}

	mu      sync.Mutex
	entry   *spec.Entry
	origin  string          // of the breaker, for a URL server
	session *client.Session // nil when none runs
	print   string          // the fingerprint of the session's spec
	fixed   *fixed          // the state while there is no session
	shown   *Server         // the current view, nil when it must be made anew
	follows follows
}

// fixed is a state that is not a session's.
type fixed struct {
	state State
	explanation
	since time.Time
}

// newServer starts the owner of an entry, once that of the last server of this name
// is gone; Hub.mu is held.
func (h *Hub) newServer(ctx context.Context, e *spec.Entry) *server {
	ctx, stop := context.WithCancel(ctx)
	v := &server{
		hub: h, name: e.Name, entry: e, stop: stop,
		poke: make(chan struct{}, 1), gone: make(chan struct{}),
		log: &logRing{mask: h.cfg.Mask.Mask},
	}
	if v.fixed = v.idle(e); v.fixed == nil {
		v.fixed = &fixed{state: Starting, since: time.Now()}
	}
	before := h.removed[e.Name]
	h.wg.Go(func() {
		if before != nil {
			<-before.gone
		}
		v.own(ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.removed[v.name] == v {
			delete(h.removed, v.name)
		}
		close(v.gone)
	})
	return v
}

// set gives the server a new entry, which restarts it; Hub.mu is held.
func (v *server) set(e *spec.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.entry, v.shown = e, nil
	v.startOver()
}

// startOver has the owner run the entry anew; v.mu is held.
func (v *server) startOver() {
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
		select {
		case <-v.poke: // it meant this very entry
		default:
		}
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
			v.stand(&fixed{state: Failed, explanation: explanation{
				sentence: "A fault in Drawbridge itself stopped this server; the log has the details.", action: actReconnect,
			}})
		}
	}()
	v.run(ctx, e)
}

// run keeps one entry's session running until ctx ends, or shows why there is none.
func (v *server) run(ctx context.Context, e *spec.Entry) {
	if f := v.idle(e); f != nil {
		v.stand(f)
		return
	}
	v.stand(&fixed{state: Starting})
	s, f := v.assemble(ctx, e.Spec)
	if f != nil {
		if ctx.Err() == nil {
			v.stand(f)
		}
		return
	}
	v.mu.Lock()
	v.session, v.fixed, v.print = s, nil, spec.Fingerprint(e.Spec)
	v.mu.Unlock()
	v.followAll(s)
	v.dirty()
	s.Run(ctx)
	v.mu.Lock()
	v.session, v.fixed = nil, &fixed{state: ShuttingDown, since: time.Now()}
	v.mu.Unlock()
	v.dirty()
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

// retry asks for a new attempt, whether a session runs or not. A person's word closes
// the breaker. A session keeps the secrets that it was made with, so that one with
// secrets is made anew.
func (v *server) retry(probe bool) {
	v.mu.Lock()
	v.hub.breakers.Reset(v.breakerKey())
	s := v.session
	anew := s == nil || v.entry.Spec == nil || len(spec.Secrets(v.entry.Spec)) > 0
	if anew {
		v.startOver()
	}
	v.mu.Unlock()
	switch {
	case s != nil && probe:
		s.ProbeAgain()
	case !anew:
		s.Reconnect()
	}
}

// retrySecrets asks for a new attempt if the server is not ready and uses secrets: one
// may have been set.
func (v *server) retrySecrets() {
	v.mu.Lock()
	sp, s := v.entry.Spec, v.session
	v.mu.Unlock()
	if sp != nil && !sp.Disabled && len(spec.Secrets(sp)) > 0 && (s == nil || s.Status().State != client.Ready) {
		v.retry(false)
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
