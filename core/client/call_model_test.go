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

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"pgregory.net/rapid"
)

// The limits of the model's session. Their odd ends keep two calls' limits apart.
const (
	modelTotal   = 5*time.Second + 104729
	modelSilence = 3*time.Second + 7919
)

// T5, T10, C2 as one model over any order of calls, answers, cancellations and time,
// in either era over either wire. Slots fill, then a bounded queue in order, then busy
// at once. Whatever ends a call, at whatever stage, ends it once and in that instant,
// cancels it if and only if it was on the wire, and admits the next one in the same
// step. One limit covers queue and wire; silence counts on the wire alone. Answers that
// we owe never wait.
func TestCallsFollowTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Hidden in a struct, since a bubble forbids the Deadline that rapid asks for.
		rapid.Check(struct{ rapid.TB }{t}, func(r *rapid.T) {
			m := newCallMachine(r)
			r.Repeat(map[string]func(*rapid.T){
				"call":   m.call,
				"answer": m.answer,
				"fail":   m.fail,
				"cancel": m.cancel,
				"alive":  m.alive,
				"sleep":  m.sleep,
				"ping":   m.ping,

				"answer and cancel at once":      m.race,
				"answer after a cancellation":    m.gone,
				"answer when the time is up":     m.lastMoment,
				"cancel when the time is up":     m.lateCancel,
				"the queue is cancelled at once": m.cancelQueue,

				"": m.check,
			})
		})
	})
}

// callMachine is one session and the model of it.
type callMachine struct {
	p      *peer
	s      *Session
	legacy bool
	slots  int
	limit  int // of the queue
	conn   *peerConn

	calls       []*modelCall
	wire, queue []*modelCall
	sent        []int // in order
	cancelled   []int
	pings       int
}

// modelCall is one call and what must come of it.
type modelCall struct {
	n      int
	cancel context.CancelFunc

	want           string // how it must have ended, "" while it runs
	wantAt         time.Time
	deadline, idle time.Time

	mu  sync.Mutex
	got string
	at  time.Time
}

func (c *modelCall) ended() (string, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got, c.at
}

func newCallMachine(r *rapid.T) *callMachine {
	kind := rapid.SampledFrom([]transport.Kind{transport.HTTP, transport.Stdio}).Draw(r, "kind")
	policy := rapid.SampledFrom([]Concurrency{"", Pooled, Serialized, Stateless}).Draw(r, "concurrency")
	pool := rapid.IntRange(1, 3).Draw(r, "pool")
	m := &callMachine{
		legacy: rapid.Bool().Draw(r, "legacy"),
		limit:  rapid.IntRange(1, 4).Draw(r, "queue"),
		p:      &peer{kind: kind},
	}
	m.slots = map[Concurrency]int{Pooled: pool, Serialized: 1, Stateless: 64}[policy]
	if policy == "" {
		if m.slots = 64; m.legacy && kind == transport.HTTP {
			m.slots = 1
		}
	}
	hold := func(c *peerConn, _ int64, _ transport.Request) {}
	m.p.answer = modern(hold)
	if m.legacy {
		m.p.answer = legacy(notFound, hold)
	}
	m.s = start(r, &watched{m.p, &m.conn}, func(c *Config) {
		c.Limits = Limits{
			VerdictTTL: -1, Total: modelTotal, Silence: modelSilence,
			Concurrency: policy, Pool: pool, Queue: m.limit,
		}
	})
	synctest.Wait()
	if st := m.s.Status(); st.State != Ready || st.Slots != m.slots {
		r.Fatalf("%s with %d slots, want %d: %v", st.State, st.Slots, m.slots, st.Err)
	}
	return m
}

// watched tells the newest connection of a peer.
type watched struct {
	*peer
	conn **peerConn
}

func (w *watched) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	c, err := w.peer.Connect(ctx, sink)
	if err == nil {
		*w.conn = c.(*peerConn)
	}
	return c, err
}

// call makes calls, a millisecond after one another.
func (m *callMachine) call(r *rapid.T) {
	for range rapid.SampledFrom([]int{1, 1, 2, 5, 40}).Draw(r, "calls") {
		m.advance(time.Millisecond)
		ctx, cancel := context.WithCancel(background)
		c := &modelCall{n: len(m.calls), cancel: cancel, deadline: time.Now().Add(modelTotal)}
		m.calls = append(m.calls, c)
		go func() {
			result, err := m.s.CallTool(ctx, "echo", json.RawMessage(fmt.Sprintf(`{"n":%d}`, c.n)), nil)
			got := "answered"
			if te, ok := err.(*transport.Error); ok {
				got = string(te.Code) + te.Reason
			} else if n := string(jsonrpc.Get(result, "n")); n != strconv.Itoa(c.n) {
				got = fmt.Sprintf("the answer of %s, %v", n, err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.got, c.at = got, time.Now()
		}()
		switch {
		case len(m.wire) < m.slots:
			m.dispatch(c)
		case len(m.queue) < m.limit:
			m.queue = append(m.queue, c)
		default:
			m.end(c, string(transport.Busy))
		}
		synctest.Wait()
	}
}

func (m *callMachine) dispatch(c *modelCall) {
	m.wire = append(m.wire, c)
	m.sent = append(m.sent, c.n)
	c.idle = time.Now().Add(modelSilence)
}

// end is what the model does when a call ends; the queue moves up in the same step.
func (m *callMachine) end(c *modelCall, how string) {
	c.want, c.wantAt = how, time.Now()
	if i := slices.Index(m.wire, c); i >= 0 {
		m.wire = slices.Delete(m.wire, i, i+1)
		if how != "answered" && how != string(transport.Broken) {
			m.cancelled = append(m.cancelled, c.n)
		}
		if len(m.queue) > 0 {
			next := m.queue[0]
			m.queue = m.queue[1:]
			m.dispatch(next)
		}
	} else if i := slices.Index(m.queue, c); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
	}
}

// advance lets time pass, and calls run out of it.
func (m *callMachine) advance(d time.Duration) {
	until := time.Now().Add(d)
	for c, at, how := m.nextLimit(); c != nil && !at.After(until); c, at, how = m.nextLimit() {
		time.Sleep(time.Until(at))
		m.end(c, how)
		synctest.Wait()
	}
	time.Sleep(time.Until(until))
	synctest.Wait()
}

// nextLimit returns the call whose time is up first.
func (m *callMachine) nextLimit() (first *modelCall, at time.Time, how string) {
	sooner := func(c *modelCall, t time.Time, reason string) {
		if first == nil || t.Before(at) {
			first, at, how = c, t, string(transport.Timeout)+reason
		}
	}
	for _, c := range m.wire {
		sooner(c, c.deadline, "call")
		sooner(c, c.idle, "idle")
	}
	for _, c := range m.queue {
		sooner(c, c.deadline, "call")
	}
	return first, at, how
}

// pick returns one of the given calls, nil when there is none.
func pick(r *rapid.T, what string, calls []*modelCall) *modelCall {
	if len(calls) == 0 {
		return nil
	}
	return calls[rapid.IntRange(0, len(calls)-1).Draw(r, what)]
}

// id returns the id under which a call was sent.
func (m *callMachine) id(n int) int64 {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	for i, r := range m.p.reqs {
		if r.Method == mcp.MethodToolsCall && number(r) == n {
			return m.p.ids[i]
		}
	}
	return 0
}

func number(r transport.Request) int {
	n, _ := strconv.Atoi(string(jsonrpc.Get(jsonrpc.Get(r.Params, "arguments"), "n")))
	return n
}

func (m *callMachine) give(c *modelCall) {
	m.conn.result(m.id(c.n), fmt.Sprintf(`{"content":[],"resultType":"complete","n":%d}`, c.n))
}

func (m *callMachine) answer(r *rapid.T) {
	if c := pick(r, "on the wire", m.wire); c != nil {
		m.give(c)
		m.end(c, "answered")
	}
}

// fail ends one exchange alone (T4).
func (m *callMachine) fail(r *rapid.T) {
	if c := pick(r, "on the wire", m.wire); c != nil {
		m.conn.fail(m.id(c.n), &transport.Error{Code: transport.Broken})
		m.end(c, string(transport.Broken))
	}
}

func (m *callMachine) cancel(r *rapid.T) {
	if c := pick(r, "call", slices.Concat(m.wire, m.queue)); c != nil {
		c.cancel()
		m.end(c, string(transport.Cancelled))
	}
}

func (m *callMachine) alive(r *rapid.T) {
	if c := pick(r, "on the wire", m.wire); c != nil {
		m.advance(time.Millisecond)
		if slices.Contains(m.wire, c) {
			m.conn.sink.Alive(m.id(c.n))
			c.idle = time.Now().Add(modelSilence)
		}
	}
}

func (m *callMachine) sleep(r *rapid.T) {
	m.advance(time.Duration(rapid.IntRange(1, 4000).Draw(r, "ms")) * time.Millisecond)
}

// ping is a request of the server, whose answer is never queued (T2, T5).
func (m *callMachine) ping(*rapid.T) {
	if m.legacy {
		m.pings++
		m.conn.sink.Message(0, jsonrpc.Call(jsonrpc.IntID(int64(m.pings)), mcp.MethodPing, nil))
	}
}

// race answers one call in the instant in which one is cancelled, which can be the
// same or the next in the queue.
func (m *callMachine) race(r *rapid.T) {
	x, y := pick(r, "answered", m.wire), pick(r, "cancelled", slices.Concat(m.wire, m.queue))
	if x == nil {
		return
	}
	go m.give(x)
	go y.cancel()
	synctest.Wait()
	if x == y {
		m.either(x, string(transport.Cancelled))
		return
	}
	if m.id(y.n) != 0 || !slices.Contains(m.queue, y) { // it has got onto the wire
		m.end(x, "answered")
		m.end(y, string(transport.Cancelled))
	} else {
		m.end(y, string(transport.Cancelled))
		m.end(x, "answered")
	}
}

// gone answers one call just after another one was cancelled: with its caller gone, that
// does not get onto the wire any more.
func (m *callMachine) gone(r *rapid.T) {
	x, y := pick(r, "answered", m.wire), pick(r, "cancelled", m.queue)
	if y == nil {
		return
	}
	y.cancel()
	m.give(x)
	m.end(y, string(transport.Cancelled))
	m.end(x, "answered")
}

// either takes what became of a call that two things ended at once.
func (m *callMachine) either(c *modelCall, other string) {
	if got, _ := c.ended(); got == other {
		m.end(c, other)
	} else {
		m.end(c, "answered")
	}
}

// lastMoment answers a call in the instant in which its time is up.
func (m *callMachine) lastMoment(r *rapid.T) {
	c, at, how := m.nextLimit()
	if !slices.Contains(m.wire, c) {
		return
	}
	time.Sleep(time.Until(at))
	m.give(c)
	synctest.Wait()
	m.either(c, how)
	m.advance(0) // another one's time can be up as well
}

// lateCancel cancels a call in the instant in which its time is up.
func (m *callMachine) lateCancel(r *rapid.T) {
	c, at, how := m.nextLimit()
	if c == nil {
		return
	}
	time.Sleep(time.Until(at))
	c.cancel()
	synctest.Wait()
	if got, _ := c.ended(); got == string(transport.Cancelled) {
		how = got
	}
	m.end(c, how)
	m.advance(0)
}

// cancelQueue cancels all that waits, in no order.
func (m *callMachine) cancelQueue(*rapid.T) {
	waiting := slices.Clone(m.queue)
	for _, c := range waiting {
		go c.cancel()
	}
	for _, c := range waiting {
		m.end(c, string(transport.Cancelled))
	}
}

// check compares the session with the model.
func (m *callMachine) check(r *rapid.T) {
	synctest.Wait()
	if st := m.s.Status(); st.State != Ready || st.InFlight != len(m.wire) || st.Queued != len(m.queue) {
		r.Fatalf("%s, %d in flight, %d queued; want %d and %d", st.State, st.InFlight, st.Queued, len(m.wire), len(m.queue))
	}
	for _, c := range m.calls {
		if got, at := c.ended(); got != c.want || !at.Equal(c.wantAt) {
			r.Fatalf("call %d: %q at %v; want %q at %v", c.n, got, at, c.want, c.wantAt)
		}
	}
	if sent := m.onTheWire(); !slices.Equal(sent, m.sent) {
		r.Fatalf("sent %v, want %v", sent, m.sent)
	}
	if got := m.cancels(); !slices.Equal(got, slices.Sorted(slices.Values(m.cancelled))) {
		r.Fatalf("cancelled %v, want %v", got, m.cancelled)
	}
	if n := len(m.conn.asked()); n != m.pings {
		r.Fatalf("%d answers to %d pings", n, m.pings)
	}
}

// onTheWire returns the numbers of the calls that were sent, in order.
func (m *callMachine) onTheWire() (sent []int) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	for _, r := range m.p.reqs {
		if r.Method == mcp.MethodToolsCall {
			sent = append(sent, number(r))
		}
	}
	return sent
}

// cancels returns the numbers of the calls that the server was told to end, sorted.
func (m *callMachine) cancels() (numbers []int) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	for _, id := range m.p.cancelled {
		if i := slices.Index(m.p.ids, id); i >= 0 && m.p.reqs[i].Method == mcp.MethodToolsCall {
			numbers = append(numbers, number(m.p.reqs[i]))
		}
	}
	slices.Sort(numbers)
	return numbers
}
