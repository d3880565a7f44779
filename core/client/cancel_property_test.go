package client

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"pgregory.net/rapid"
)

// T10 at every stage that a call can be in, against everything that can happen in the
// same instant: a cancelled call ends at once, as cancelled or by what came first;
// nothing of it stays on the wire, no question before a person; and the session goes on.
func TestCancelAnywhere(t *testing.T) {
	for _, stage := range cancelStages {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rapid.Check(struct{ rapid.TB }{t}, func(r *rapid.T) { cancelAt(r, stage) })
			})
		})
	}
}

// cancelAt brings a call to its stage and cancels it.
func cancelAt(r *rapid.T, stage string) {
	rival := rapid.SampledFrom([]string{"nothing", "answer", "failure", "death", "reconnect", "end"}).Draw(r, "rival")
	x := newCancelling(r, stage)

	finished := make(chan error, 2)
	ctx, cancel := context.WithCancel(background)
	r.Cleanup(cancel)
	began := x.reach(r, func() {
		_, err := x.s.CallTool(ctx, "echo", json.RawMessage(`{"subject":true}`), nil)
		finished <- err
	})
	time.Sleep(time.Duration(rapid.IntRange(0, 50).Draw(r, "ms")) * time.Millisecond)
	if len(finished) > 0 {
		r.Fatalf("the call ended before its time, after %v: %v", time.Since(began), <-finished)
	}
	race := []func(){cancel, func() { x.happens(rival) }}
	if rapid.Bool().Draw(r, "the other way round") {
		slices.Reverse(race)
	}
	moment := time.Now()
	for _, f := range race {
		go f()
	}
	synctest.Wait()
	x.verify(r, rival, finished)
	if d := time.Since(moment); d != 0 {
		r.Fatalf("it took %v", d)
	}
	if rival == "end" {
		return
	}
	x.setPlain()
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	if _, err := x.s.CallTool(background, "echo", nil, nil); err != nil {
		r.Fatalf("the session is not usable: %v, %+v", err, x.s.Status().Err)
	}
	if st := x.s.Status(); st.InFlight != 0 || st.Queued != 0 || len(finished) != 0 {
		r.Fatalf("left %d in flight, %d queued, %d outcomes", st.InFlight, st.Queued, len(finished))
	}
}

// The stages of a call.
const (
	inQueue    = "in the queue"
	onWire     = "on the wire"
	asking     = "before a person"
	pausing    = "between two rounds"
	refetching = "fetching the list after a header mismatch"
	renewing   = "waiting for a new handshake"
	behindIt   = "queued behind a new handshake"
)

var cancelStages = []string{inQueue, onWire, asking, pausing, refetching, renewing, behindIt}

// cancelling is a session whose server can bring a call to a stage and keep it there.
type cancelling struct {
	peer
	s     *Session
	stage string
	end   context.CancelFunc

	mu       sync.Mutex
	plain    bool // the server does nothing odd any more
	rejected bool // the session was rejected once
	rounds   int
	held     []heldRequest
	question context.Context
}

// heldRequest is one that the server has not answered.
type heldRequest struct {
	c       *peerConn
	id      int64
	r       transport.Request
	subject bool // it serves the call that is cancelled, and nobody else
}

func (x *cancelling) legacy() bool { return x.stage == renewing || x.stage == behindIt }

func newCancelling(r *rapid.T, stage string) *cancelling {
	x := &cancelling{stage: stage}
	x.peer.kind = transport.HTTP
	if !x.legacy() && stage != refetching && rapid.Bool().Draw(r, "stdio") {
		x.peer.kind = transport.Stdio
	}
	x.answer = x.serve
	x.s, x.end = startUntil(r, &x.peer, func(c *Config) {
		c.Limits = Limits{VerdictTTL: -1, Concurrency: Serialized, Silence: time.Hour}
		c.Elicit = func(ctx context.Context, _ Elicitation) (mcp.ElicitResult, error) {
			x.mu.Lock()
			x.question = ctx
			x.mu.Unlock()
			<-ctx.Done()
			return mcp.ElicitResult{}, ctx.Err()
		}
	})
	synctest.Wait()
	if st := x.s.Status(); st.State != Ready {
		r.Fatalf("%s: %v", st.State, st.Err)
	}
	return x
}

// serve holds what keeps the call at its stage, and answers everything else.
func (x *cancelling) serve(c *peerConn, id int64, r transport.Request) {
	x.mu.Lock()
	subject := strings.Contains(string(r.Params), "subject")
	h := heldRequest{c, id, r, subject}
	hold := false
	var odd func()
	switch {
	case x.plain:
	case r.Method == mcp.MethodToolsCall:
		switch x.stage {
		case inQueue, onWire:
			hold = true
		case asking:
			odd = func() {
				c.result(id, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m"}}}}`)
			}
		case pausing:
			if x.rounds++; x.rounds <= 2 { // the second pause is the first that takes time
				odd = func() { c.result(id, `{"resultType":"input_required","requestState":"s"}`) }
			}
		case refetching:
			odd = func() { c.refuse(id, mcp.CodeHeaderMismatch, "no") }
		case renewing, behindIt:
			if !x.rejected {
				x.rejected = true
				odd = func() { c.fail(id, &transport.Error{Code: transport.SessionRejected, Status: 404}) }
			}
		}
	case r.Method == mcp.MethodInitialize:
		hold = x.rejected
	case r.Method == mcp.MethodToolsList && x.stage == refetching && c.n == 1:
		hold = x.count(mcp.MethodToolsList) > 1
		h.subject = true
	}
	if hold {
		x.held = append(x.held, h)
	}
	x.mu.Unlock()
	switch {
	case hold:
	case odd != nil:
		odd()
	default:
		x.usual(c, id, r)
	}
}

// claimed reports whether id is over.
func (c *peerConn) claimed(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.open[id] || c.closed
}

func (x *cancelling) usual(c *peerConn, id int64, r transport.Request) {
	if x.legacy() {
		legacy(notFound, done)(c, id, r)
	} else {
		modern(done)(c, id, r)
	}
}

// reach starts the call and returns when it is at its stage.
func (x *cancelling) reach(r *rapid.T, call func()) (began time.Time) {
	if x.stage == inQueue || x.stage == behindIt {
		go func() { _, _ = x.s.CallTool(background, "echo", nil, nil) }()
		synctest.Wait()
	}
	began = time.Now()
	go call()
	synctest.Wait()
	st := x.s.Status()
	x.mu.Lock()
	defer x.mu.Unlock()
	there := false
	switch x.stage {
	case inQueue, behindIt:
		there = st.Queued == 1
	case onWire, refetching:
		there = len(x.held) == 1 && x.held[0].subject
	case asking:
		there = x.question != nil
	case pausing:
		there = x.rounds == 2
	case renewing:
		there = len(x.held) == 1 && x.held[0].r.Method == mcp.MethodInitialize
	}
	if !there {
		r.Fatalf("the call is not %s: %d held, %d queued, the wire saw %v", x.stage, len(x.held), st.Queued, x.methods())
	}
	return began
}

// happens is what the cancellation races with.
func (x *cancelling) happens(rival string) {
	x.mu.Lock()
	held := slices.Clone(x.held)
	x.mu.Unlock()
	switch rival {
	case "answer":
		for _, h := range held {
			x.usual(h.c, h.id, h.r)
		}
	case "failure":
		for _, h := range held {
			h.c.fail(h.id, &transport.Error{Code: transport.Broken})
		}
	case "death":
		x.s.mu.Lock()
		o := x.s.st.conn
		x.s.mu.Unlock()
		if o != nil {
			o.link.conn.(*peerConn).die(&transport.Error{Code: transport.Broken})
		}
	case "reconnect":
		x.s.Reconnect()
	case "end":
		x.end()
	}
}

// verify checks what is left at the moment of the cancellation.
func (x *cancelling) verify(r *rapid.T, rival string, finished chan error) {
	if len(finished) != 1 {
		r.Fatalf("%d outcomes", len(finished))
	}
	err := <-finished
	how := string(transport.CodeOf(err))
	if code := rpcCode(err); code != 0 {
		how = strconv.FormatInt(code, 10)
	}
	if !slices.Contains(x.possible(rival), how) {
		r.Fatalf("ended with %v", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range x.held {
		if h.subject && !h.c.claimed(h.id) {
			r.Fatalf("%s %d is still on the wire", h.r.Method, h.id)
		}
	}
	if x.question != nil && x.question.Err() == nil {
		r.Fatal("the question outlives its call")
	}
	if rival == "nothing" {
		sent := 0
		for _, h := range x.held {
			if h.subject && h.c.n == 1 {
				sent++
			}
		}
		if n := x.count("cancel"); n != sent {
			r.Fatalf("%d cancellations for %d requests", n, sent)
		}
	}
	if x.stage == inQueue && rival == "nothing" && x.count(mcp.MethodToolsCall) != 1 {
		r.Fatal("a call was sent that was cancelled in the queue")
	}
}

// possible returns the codes with which the call may have ended; "" is a result.
func (x *cancelling) possible(rival string) []string {
	codes := []string{string(transport.Cancelled)}
	switch x.stage { // these are told what had already gone wrong
	case refetching:
		codes = append(codes, strconv.Itoa(mcp.CodeHeaderMismatch))
	case renewing:
		codes = append(codes, string(transport.SessionRejected))
	}
	switch rival {
	case "answer":
		codes = append(codes, "")
	case "failure", "death":
		codes = append(codes, string(transport.Broken), string(transport.NotReady))
	case "reconnect", "end":
		codes = append(codes, string(transport.NotReady))
	}
	return codes
}

// setPlain makes the server a usual one, which answers what it owes.
func (x *cancelling) setPlain() {
	x.mu.Lock()
	x.plain = true
	held := x.held
	x.held = nil
	x.mu.Unlock()
	for _, h := range held {
		x.usual(h.c, h.id, h.r)
	}
}
