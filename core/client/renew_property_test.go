package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"pgregory.net/rapid"
)

// E6, E7 over any order of calls, losses and cancellations, by two sessions with a server
// that takes its time: a rejected call is repeated once, and none that reached its tool;
// one handshake runs at a time, only for a session that is really lost, with nothing else
// on the wire beside it; the era is asked at most once until a round trip has succeeded,
// by whichever of the two; the lists are fetched anew; and both always work again.
func TestRejectionsInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(r *rapid.T) {
			a := newAmnesiac(r)
			r.Repeat(map[string]func(*rapid.T){
				"call":   a.calls,
				"lose":   func(*rapid.T) { a.lose() },
				"cancel": a.cancel,
				"list":   func(*rapid.T) { a.sessions[0].refresh(Tools) },
				"sleep": func(r *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(0, 5).Draw(r, "ticks")) * tick)
				},
				"call and lose at once": func(r *rapid.T) {
					go a.lose()
					a.calls(r)
				},
				"lose the next one too": func(*rapid.T) {
					a.mu.Lock()
					defer a.mu.Unlock()
					a.stillborn = true
				},
				"settle": a.settle,
				"": func(r *rapid.T) {
					synctest.Wait()
					a.verify(r)
				},
			})
		})
	})
}

// amnesiac is a legacy server that loses its sessions, and keeps account of what it sees.
type amnesiac struct {
	peer
	sessions [2]*Session

	mu        sync.Mutex
	delays    []int // in ticks, taken in turn
	requests  int
	probe     string // what the probe gets
	age       int    // grows with every loss
	ages      map[*peerConn]int
	stillborn bool // the next session is lost before it is used

	shaking map[*peerConn]bool // a handshake is on its way
	listed  map[*peerConn]bool // since the last handshake
	worked  time.Time          // when a round trip last succeeded
	asked   time.Time          // when the era was last asked after a rejection
	sent    map[int]int
	ran     map[int]int
	wrong   []string
	open    []*amnesiacCall
	next    int
}

type amnesiacCall struct {
	n         int
	cancel    context.CancelFunc
	cancelled bool
	done      chan error
}

func newAmnesiac(r *rapid.T) *amnesiac {
	a := &amnesiac{
		ages: map[*peerConn]int{}, shaking: map[*peerConn]bool{}, listed: map[*peerConn]bool{},
		sent: map[int]int{}, ran: map[int]int{},
	}
	a.delays = rapid.SliceOfN(rapid.IntRange(0, 3), 5, 5).Draw(r, "delays")
	a.probe = rapid.SampledFrom([]string{"not found", "unavailable", "silent"}).Draw(r, "probe")
	policy := rapid.SampledFrom([]Concurrency{Serialized, Pooled, Stateless}).Draw(r, "concurrency")
	a.answer = a.serve
	verdicts := era.NewVerdicts()
	for i := range a.sessions {
		a.sessions[i] = start(r, tapped{&a.peer, a.tap}, func(c *Config) {
			c.Verdicts = verdicts
			c.Limits = Limits{VerdictTTL: -1, Concurrency: policy, Pool: 2, Queue: 1000}
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if st := a.sessions[i].Status(); st.State != Ready {
			r.Fatalf("%s: %v", st.State, st.Err)
		}
	}
	return a
}

// tapped tells of every request in the moment in which it is sent.
type tapped struct {
	*peer
	tap func(*peerConn, transport.Request)
}

func (d tapped) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	c, err := d.peer.Connect(ctx, sink)
	if err != nil {
		return nil, err
	}
	return tappedConn{c.(*peerConn), d.tap}, nil
}

type tappedConn struct {
	*peerConn
	tap func(*peerConn, transport.Request)
}

func (c tappedConn) Send(id int64, r transport.Request) error {
	c.tap(c.peerConn, r)
	return c.peerConn.Send(id, r)
}

func (a *amnesiac) tap(c *peerConn, r transport.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	age, known := a.ages[c]
	switch r.Method {
	case mcp.MethodDiscover:
		if known { // else it opens a connection
			if a.worked.Before(a.asked) {
				a.note("the era is asked again before anything has worked")
			}
			a.asked = time.Now()
		}
	case mcp.MethodInitialize:
		if a.shaking[c] {
			a.note("two handshakes at a time")
		}
		if known && age == a.age {
			a.note("a handshake on a session that holds")
		}
		a.shaking[c], a.listed[c] = true, false
	case mcp.MethodToolsCall:
		n := number(r)
		if a.sent[n]++; a.sent[n] > 2 {
			a.note("call %d is sent for the third time", n)
		}
		fallthrough
	case mcp.MethodToolsList:
		if a.shaking[c] {
			a.note("%s beside a handshake", r.Method)
		}
	}
}

func (a *amnesiac) note(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

func (a *amnesiac) serve(c *peerConn, id int64, r transport.Request) {
	a.mu.Lock()
	delay := a.delays[a.requests%len(a.delays)]
	a.requests++
	a.mu.Unlock()
	time.Sleep(time.Duration(delay) * tick)

	a.mu.Lock()
	probe := a.probe
	holds := a.ages[c] == a.age
	rejected := false
	switch r.Method {
	case mcp.MethodDiscover:
	case mcp.MethodInitialize:
		a.ages[c], a.shaking[c] = a.age, false
		if a.stillborn {
			a.stillborn = false
			a.age++
		}
	default:
		if rejected = !holds; holds {
			a.worked = time.Now()
		}
		switch {
		case holds && r.Method == mcp.MethodToolsCall:
			a.ran[number(r)]++
		case holds && r.Method == mcp.MethodToolsList:
			a.listed[c] = true
		}
	}
	a.mu.Unlock()

	switch {
	case rejected:
		c.fail(id, &transport.Error{Code: transport.SessionRejected, Status: 404})
	case r.Method == mcp.MethodDiscover && probe == "unavailable" && id != 1:
		c.fail(id, httpFailure(503))
	case r.Method == mcp.MethodDiscover && probe == "silent" && id != 1:
	case r.Method == mcp.MethodToolsCall:
		c.result(id, fmt.Sprintf(`{"content":[],"n":%d}`, number(r)))
	default:
		legacy(notFound, done)(c, id, r)
	}
}

func (a *amnesiac) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.age++
}

// calls starts some calls at once.
func (a *amnesiac) calls(r *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(r, "calls") {
		ctx, cancel := context.WithCancel(background)
		r.Cleanup(cancel)
		call := &amnesiacCall{n: a.next, cancel: cancel, done: make(chan error, 1)}
		a.next++
		a.open = append(a.open, call)
		go func() {
			result, err := a.sessions[call.n%2].CallTool(ctx, "echo", json.RawMessage(`{"n":`+strconv.Itoa(call.n)+`}`), nil)
			if n := string(jsonrpc.Get(result, "n")); err == nil && n != strconv.Itoa(call.n) {
				err = fmt.Errorf("the answer of call %s", n)
			}
			call.done <- err
		}()
	}
}

func (a *amnesiac) cancel(r *rapid.T) {
	if len(a.open) > 0 {
		call := a.open[rapid.IntRange(0, len(a.open)-1).Draw(r, "call")]
		call.cancelled = true
		call.cancel()
	}
}

// verify takes the calls that have ended and checks the accounts.
func (a *amnesiac) verify(r *rapid.T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(call *amnesiacCall) bool {
		var err error
		select {
		case err = <-call.done:
		default:
			return false
		}
		ran := a.ran[call.n]
		switch code := transport.CodeOf(err); {
		case err == nil && ran == 1:
		case code == transport.Cancelled && (call.cancelled && ran <= 1):
		case code == transport.SessionRejected && ran == 0:
		case code == transport.NotReady && ran == 0:
		default:
			a.note("call %d ended with %v and ran %d times", call.n, err, ran)
		}
		return true
	})
	if len(a.wrong) > 0 {
		r.Fatal(a.wrong)
	}
}

// settle gives the session time, after which all is well.
func (a *amnesiac) settle(r *rapid.T) {
	a.mu.Lock()
	a.stillborn = false
	a.probe = "not found" // from now on: a new connection needs an answer
	a.mu.Unlock()
	time.Sleep(3 * time.Minute)
	synctest.Wait()
	a.verify(r)
	if len(a.open) > 0 {
		r.Fatalf("%d calls hang", len(a.open))
	}
	for range a.sessions {
		n := a.next
		a.next++
		s := a.sessions[n%2]
		if _, err := s.CallTool(background, "echo", json.RawMessage(`{"n":`+strconv.Itoa(n)+`}`), nil); err != nil {
			r.Fatalf("the session is not usable: %v, %+v", err, s.Status().Err)
		}
		time.Sleep(2 * time.Minute) // a list may be asked for once a minute (field case 86)
		synctest.Wait()
		o, err := s.current()
		if err != nil {
			r.Fatal(err)
		}
		a.mu.Lock()
		ran, listed := a.ran[n], a.listed[o.link.conn.(tappedConn).peerConn]
		a.mu.Unlock()
		if ran != 1 || !listed {
			r.Fatalf("ran %d times, lists fetched: %v", ran, listed)
		}
		if v, ok := s.cfg.Verdicts.Get(testKey, time.Hour); ok && v.Era != era.Legacy {
			r.Fatalf("the verdict is %+v", v)
		}
	}
}
