package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"pgregory.net/rapid"
)

// C8 over any order of calls, health and time, by two sessions with one origin and one
// with another: after five failures in a row nothing reaches the origin for 30 s, and then
// one exchange at a time until one succeeds. What is refused is refused at once, a session
// that was refused waits until it is let through, the other origin notices nothing, and
// all work again once the server does.
func TestBreakerBetweenSessionsAndOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(r *rapid.T) {
			f := newFrail(r)
			r.Repeat(map[string]func(*rapid.T){
				"call":   f.call,
				"health": func(r *rapid.T) { f.become(rapid.SampledFrom(healths).Draw(r, "health")) },
				"restart": func(r *rapid.T) {
					i := rapid.IntRange(0, 1).Draw(r, "session")
					f.mu.Lock()
					f.notBefore[i] = time.Time{} // a person may
					f.mu.Unlock()
					f.sessions[i].Reconnect()
				},
				"sleep": func(r *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 400).Draw(r, "tenths")) * 100 * time.Millisecond)
				},
				"recover": f.recover,
				"": func(r *rapid.T) {
					synctest.Wait()
					f.verify(r)
				},
			})
		})
	})
}

// What a server behind HTTP may answer; the first two count as success, the next two as
// failure, the rest as nothing.
const (
	healthy    = "healthy"
	refusing   = "refusing with an error of its own"
	down       = "down"
	broken     = "broken"
	talkative  = "too large"
	elsewhere  = "redirecting"
	amnesiacal = "rejecting sessions"
)

var healths = []string{healthy, refusing, down, down, down, broken, talkative, elsewhere, amnesiacal}

// frail is an origin whose health changes, behind a breaker, and the account of what
// reaches it.
type frail struct {
	peer
	table    *breaker.Table
	sessions [3]*Session // the last one has an origin of its own, which is healthy

	mu        sync.Mutex
	health    string
	failures  int       // in a row
	openUntil time.Time // after the last failure that opened it
	trying    int       // exchanges on their way since it was half open
	notBefore [3]time.Time
	wrong     []string
}

func newFrail(r *rapid.T) *frail {
	f := &frail{table: breaker.NewTable(0, 0), health: healthy}
	f.answer = f.serve
	verdicts := era.NewVerdicts()
	for i := range f.sessions {
		d := &guarded{frail: f, i: i, origin: "https://a.example:443"}
		if i == 2 {
			d.origin = "https://b.example:443"
		}
		f.sessions[i] = start(r, d, func(c *Config) { c.Verdicts = verdicts })
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return f
}

// guarded asks the breaker as the real binding does: for every exchange.
type guarded struct {
	*frail
	i      int
	origin string
}

func (g *guarded) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	conn := &guardedConn{guarded: g, leases: map[int64]func(error){}}
	c, err := g.peer.Connect(ctx, votingSink{sink, conn})
	if err != nil {
		return nil, err
	}
	conn.peerConn = c.(*peerConn)
	return conn, nil
}

type guardedConn struct {
	*peerConn
	*guarded
	mu     sync.Mutex
	leases map[int64]func(error) // how to end an exchange's lease
}

func (c *guardedConn) Send(id int64, r transport.Request) error {
	lease, err := c.table.Allow(c.origin)
	c.attempted(r, err)
	if err != nil {
		c.peerConn.mu.Lock()
		c.peerConn.open[id] = true
		c.peerConn.mu.Unlock()
		c.peerConn.wg.Go(func() { c.peerConn.fail(id, &transport.Error{Code: transport.BreakerOpen, Err: err}) })
		return nil
	}
	counted := c.reached()
	c.mu.Lock()
	c.leases[id] = func(err error) {
		vote(lease, err)
		counted(err)
	}
	c.mu.Unlock()
	return c.peerConn.Send(id, r)
}

// Cancel ends an exchange that says nothing any more.
func (c *guardedConn) Cancel(id int64) bool {
	won := c.peerConn.Cancel(id)
	if won {
		c.over(id, &transport.Error{Code: transport.Cancelled})
	}
	return won
}

func (c *guardedConn) Close() {
	c.peerConn.Close()
	c.mu.Lock()
	left := c.leases
	c.leases = map[int64]func(error){}
	c.mu.Unlock()
	for _, end := range left {
		end(&transport.Error{Code: transport.Cancelled})
	}
}

func (c *guardedConn) over(id int64, err error) {
	c.mu.Lock()
	end := c.leases[id]
	delete(c.leases, id)
	c.mu.Unlock()
	if end != nil {
		end(err)
	}
}

// votingSink ends the leases of a connection's exchanges.
type votingSink struct {
	transport.Sink
	c *guardedConn
}

func (s votingSink) Message(stream int64, m *jsonrpc.Message) {
	s.c.over(stream, nil)
	s.Sink.Message(stream, m)
}

func (s votingSink) Failed(id int64, err error) {
	s.c.over(id, err)
	s.Sink.Failed(id, err)
}

func (s votingSink) Settled(id int64) {
	s.c.over(id, nil)
	s.Sink.Settled(id)
}

// vote is C8's list.
func vote(lease *breaker.Lease, err error) {
	switch transport.CodeOf(err) {
	case "":
		lease.Success()
	case transport.HTTPStatus, transport.Broken:
		lease.Failure()
	default:
		lease.Nothing()
	}
}

// attempted checks that a session that was refused has waited.
func (g *guarded) attempted(r transport.Request, err error) {
	g.frail.mu.Lock()
	defer g.frail.mu.Unlock()
	if r.Method != mcp.MethodDiscover && r.Method != mcp.MethodInitialize {
		return
	}
	if at := g.notBefore[g.i]; time.Now().Before(at) {
		g.note("session %d tries again %v before it will be let through", g.i, time.Until(at))
	}
	var open *breaker.OpenError
	if errors.As(err, &open) {
		g.notBefore[g.i] = open.RetryAt
	}
	if err != nil && g.i == 2 {
		g.note("the other origin is refused")
	}
}

// reached accounts for an exchange that got through; the returned function for its end.
func (g *guarded) reached() func(error) {
	g.frail.mu.Lock()
	defer g.frail.mu.Unlock()
	if g.i == 2 {
		return func(error) {}
	}
	trial := g.failures >= breaker.DefaultThreshold
	if trial {
		if now := time.Now(); now.Before(g.openUntil) {
			g.note("an exchange reaches an open origin, %v too early", g.openUntil.Sub(now))
		}
		if g.trying++; g.trying > 1 {
			g.note("%d exchanges try a half open origin", g.trying)
		}
	}
	return func(err error) {
		g.frail.mu.Lock()
		defer g.frail.mu.Unlock()
		if trial {
			g.trying--
		}
		switch transport.CodeOf(err) {
		case "":
			if trial || g.failures < breaker.DefaultThreshold { // else it began before the failures
				g.failures = 0
			}
		case transport.HTTPStatus, transport.Broken:
			late := !trial && g.failures >= breaker.DefaultThreshold
			if g.failures++; g.failures >= breaker.DefaultThreshold && !late {
				g.openUntil = time.Now().Add(breaker.DefaultRecovery)
			}
		}
	}
}

func (f *frail) note(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

func (f *frail) become(health string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.health = health
}

func (f *frail) serve(c *peerConn, id int64, r transport.Request) {
	time.Sleep(tick)
	f.mu.Lock()
	health := f.health
	f.mu.Unlock()
	if g, ok := c.sink.(votingSink); ok && g.c.i == 2 {
		health = healthy
	}
	switch health {
	case refusing:
		c.refuse(id, jsonrpc.CodeInternal, "no")
	case down:
		c.fail(id, httpFailure(503))
	case broken:
		c.fail(id, &transport.Error{Code: transport.Broken, Reason: "reset"})
	case talkative:
		c.fail(id, &transport.Error{Code: transport.TooLarge, Limit: 1})
	case elsewhere:
		c.fail(id, &transport.Error{Code: transport.RedirectRefused, Status: 302})
	case amnesiacal:
		c.fail(id, &transport.Error{Code: transport.SessionRejected, Status: 404})
	default:
		modern(done)(c, id, r)
	}
}

// call makes calls one after another; each ends at once when it is refused.
func (f *frail) call(r *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(r, "session")
	for range rapid.IntRange(1, 6).Draw(r, "calls") {
		began := time.Now()
		_, err := f.sessions[i].CallTool(background, "echo", nil, nil)
		code := transport.CodeOf(err)
		refusals := []transport.Code{transport.BreakerOpen, transport.NotReady}
		if took := time.Since(began); slices.Contains(refusals, code) && took != 0 {
			r.Fatalf("refused after %v: %v", took, err)
		}
		if i == 2 && err != nil {
			r.Fatalf("the other origin: %v", err)
		}
		synctest.Wait()
	}
}

// verify checks the account, and what the sessions say.
func (f *frail) verify(r *rapid.T) {
	f.mu.Lock()
	wrong := f.wrong
	f.mu.Unlock()
	if len(wrong) > 0 {
		r.Fatal(wrong)
	}
	for i, s := range f.sessions {
		if st := s.Status(); transport.CodeOf(st.LastErr) == transport.BreakerOpen {
			r.Fatalf("session %d says no more than that the breaker is open", i)
		}
	}
}

// recover makes the server healthy, after which everybody works again: by themselves,
// unless what it said last needs a person.
func (f *frail) recover(r *rapid.T) {
	f.become(healthy)
	time.Sleep(4 * time.Minute) // the recovery, the lease of another's trial, a backoff
	synctest.Wait()
	f.verify(r)
	for i, s := range f.sessions {
		if s.Status().State == Failed {
			s.Reconnect()
			time.Sleep(time.Second)
		}
		if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
			r.Fatalf("session %d: %v, %+v", i, err, s.Status().Err)
		}
	}
}
