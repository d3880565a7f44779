package client

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Session keeps one server connected: see the package comment.
type Session struct {
	cfg  Config
	caps []byte // what we declare, as JSON
	ids  atomic.Int64
	kick chan struct{} // Reconnect
	wg   sync.WaitGroup
	ctx  context.Context // of Run

	follows follows

	mu sync.Mutex
	st sessionState
}

// sessionState is changed only with Session.mu held.
type sessionState struct {
	state    State
	since    time.Time
	retryAt  time.Time
	err      error // why the session is not ready; nil when it is
	lastErr  error // the last failure, also after recovery
	lastAt   time.Time
	restarts int // attempts since the last sustained uptime
	conn     *opened
	renewal  chan struct{} // closed when the running handshake renewal ends
	lists    map[ListKind]*list
	asked    map[askKey]context.CancelFunc
	calls    history
}

// New returns a session that does nothing until Run.
func New(cfg Config) *Session {
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{cfg: cfg, caps: declared(cfg.Handlers), kick: make(chan struct{}, 1)}
	s.st.state, s.st.since = Starting, time.Now()
	s.st.lists = map[ListKind]*list{}
	s.st.asked = map[askKey]context.CancelFunc{}
	s.follows.byURI = map[string]*followed{}
	for _, k := range listKinds {
		s.st.lists[k] = &list{count: -1}
	}
	return s
}

func (s *Session) nextID() int64 { return s.ids.Add(1) }

func (s *Session) stdio() bool { return s.cfg.Dialer.Kind() == transport.Stdio }

// update changes the state and tells the watcher.
func (s *Session) update(f func(st *sessionState)) {
	s.mu.Lock()
	f(&s.st)
	s.mu.Unlock()
	s.changed()
}

func (s *Session) changed() {
	if s.cfg.Changed != nil {
		s.cfg.Changed()
	}
}

func (st *sessionState) enter(state State, err error) {
	if st.state != state {
		st.since = time.Now()
	}
	st.state, st.err = state, err
	if err != nil && transport.CodeOf(err) != transport.BreakerOpen { // which only follows from others
		st.lastErr, st.lastAt = err, time.Now()
	}
}

// Run keeps the session connected until ctx ends, and returns once everything it
// started is gone. One attempt runs at a time (C1).
func (s *Session) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	defer s.follows.silence()
	defer s.wg.Wait()
	defer cancel()
	var back backoff
	for ctx.Err() == nil {
		s.update(func(st *sessionState) { st.enter(Starting, nil); st.retryAt = time.Time{} })
		o, err := s.attempt(ctx)
		if err == nil {
			up := time.Now()
			err = s.serveLink(ctx, o)
			if time.Since(up) >= sustained {
				back.reset()
			}
		}
		if errors.Is(err, errReopen) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if !s.pause(ctx, &back, err) {
			break
		}
	}
	s.update(func(st *sessionState) { st.enter(Closed, nil) })
}

// errReopen asks Run for a fresh connection at once: a person wanted it, or the
// server turned out to be of the other era. Calls that the old one was busy with end
// with it too (T6).
var errReopen error = &transport.Error{Code: transport.Cancelled, Reason: "reconnect"}

// attempt is open, but gives up with errReopen when somebody asks for a reconnect
// meanwhile: what they changed may be why it hangs.
func (s *Session) attempt(ctx context.Context) (*opened, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.kick:
			cancel(errReopen)
		case <-over:
		}
	}()
	o, err := s.open(ctx)
	close(over)
	<-watched
	reopen := errors.Is(context.Cause(ctx), errReopen)
	cancel(nil)
	if !reopen {
		return o, err
	}
	if err == nil {
		o.link.shut(errReopen)
	}
	return nil, errReopen
}

// serveLink holds a ready connection until it dies.
func (s *Session) serveLink(ctx context.Context, o *opened) error {
	s.ready(o)
	var err error
	next := Starting
	select {
	case <-o.link.done:
		err = o.link.err()
	case <-s.kick:
		err = errReopen
	case <-ctx.Done():
		err, next = &transport.Error{Code: transport.Cancelled, Err: ctx.Err()}, Closed
	}
	// The end of a process takes a while, in which it is not ready any more. What
	// ended the connection by itself is said from the first moment on.
	cause := err
	if errors.Is(err, errReopen) || next == Closed {
		cause = nil
	}
	s.update(func(st *sessionState) { st.conn = nil; st.enter(next, cause) })
	o.link.shut(err)
	return err
}

// ready publishes a fresh connection and asks for what belongs to it.
func (s *Session) ready(o *opened) {
	s.follow(o) // before anybody can call: a server may ask on the stream
	s.update(func(st *sessionState) {
		st.enter(Ready, nil)
		st.conn = o
		for _, k := range listKinds {
			st.lists[k].reset()
		}
	})
	// Somebody may have begun to follow before there was a connection to tell, and
	// changes may have passed unheard since the last one.
	o.nudge()
	s.follows.missed()
	for _, k := range listKinds {
		if o.caps.Has(k.capability()) {
			s.refresh(k)
		} else {
			s.undeclared(k)
		}
	}
}

// pause waits until the next attempt is due: after the backoff, or when somebody
// asks. Permanent causes only wait for somebody (C1). It reports false when ctx
// ended.
func (s *Session) pause(ctx context.Context, back *backoff, err error) bool {
	var due <-chan time.Time
	state := verdictOn(err)
	wait, tries := back.next()
	if state == Retrying && s.stdio() && tries > s.cfg.Limits.GiveUp {
		state = Failed
	}
	if state == Retrying {
		var te *transport.Error
		if errors.As(err, &te) {
			wait = max(wait, min(te.RetryAfter, maxRetryAfter))
		}
		var open *breaker.OpenError
		if errors.As(err, &open) {
			wait = max(wait, time.Until(open.RetryAt)) // an earlier attempt would not leave us
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	s.update(func(st *sessionState) {
		st.enter(state, err)
		st.restarts = tries
		if due != nil {
			st.retryAt = time.Now().Add(wait)
		}
	})
	s.cfg.Log.Info("not connected", "server", s.cfg.Name, "state", string(state), "error", err, "retry_in", wait)
	select {
	case <-due:
	case <-s.kick:
		back.reset()
	case <-ctx.Done():
		return false
	}
	return true
}

// verdictOn says what a failed attempt means: most causes pass, some need a
// person (C1).
func verdictOn(err error) State {
	var te *transport.Error
	if !errors.As(err, &te) {
		return Retrying
	}
	switch te.Code {
	case transport.Blocked:
		return Blocked
	case transport.Spawn, transport.RedirectRefused, transport.VersionMismatch, transport.NotMCP:
		return Failed
	case transport.HTTPStatus:
		if te.Status == 401 || te.Status == 403 {
			return SignIn
		}
	case transport.Broken:
		if strings.HasPrefix(te.Reason, "tls_") {
			return Failed
		}
	}
	return Retrying
}

// Reconnect drops the connection, if any, and tries again at once.
func (s *Session) Reconnect() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// ProbeAgain forgets the kept era and reconnects.
func (s *Session) ProbeAgain() {
	s.cfg.Verdicts.Forget(s.cfg.Key)
	s.Reconnect()
}

// current returns the live connection, or a NotReady error that wraps why there
// is none.
func (s *Session) current() (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.conn != nil {
		return s.st.conn, nil
	}
	return nil, &transport.Error{Code: transport.NotReady, Reason: string(s.st.state), Err: s.st.err}
}

// opened is one usable connection and what the server said about itself.
type opened struct {
	link         *link
	version      mcp.Version
	caps         mcp.Capabilities
	info         mcp.Implementation
	instructions string
	verdict      era.Verdict
	cached       bool
	policy       Concurrency
	wake         chan struct{} // what is followed has changed
	cache        cache
	// unproven says that the session was renewed and nothing has succeeded
	// since; guarded by Session.mu.
	unproven bool
}

func (o *opened) modern() bool { return o.version.Modern() }
