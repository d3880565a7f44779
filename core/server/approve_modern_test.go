package server

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// round is an input_required result.
type round struct {
	key   string
	state string
}

// modernCall calls "t" with more members of params, and returns what came back: the
// question, or the denial or text of the result.
func (p *peer) modernCall(arguments, more string) (round, string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":%s,%s%s}}`, arguments, meta(canElicit), more)
	m := p.get()
	var r struct {
		ResultType    string
		InputRequests map[string]Input
		RequestState  string
	}
	if m.Error == nil && json.Unmarshal(m.Result, &r) == nil && r.ResultType == mcp.ResultInputRequired {
		for key := range r.InputRequests {
			return round{key, r.RequestState}, ""
		}
	}
	if d := denial(m); d != "" {
		return round{}, d
	}
	return round{}, text(m)
}

func (r round) with(answer string) string {
	return fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, r.state, r.key, answer)
}

const approve = `{"action":"accept","content":{"approve":true}}`

// S6, S8: a modern client is asked by input_required, in which nothing is held; its
// answer counts once, for this very call, from this client, and for a time.
func TestModernApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ran := guarded(t, asking, nil, Limits{})
		p, other := connect(t, s, "a"), connect(t, s, "b")
		ask := func() round {
			t.Helper()
			r, got := p.modernCall(`{"x":1}`, "")
			if r.key == "" || r.state == "" || len(s.lot.parked) != 0 {
				t.Fatalf("not asked: %s, %d parked", got, len(s.lot.parked))
			}
			return r
		}
		invalid := "-32602 requestState is not valid for this request"

		r := ask()
		for name, c := range map[string]struct {
			from      *peer
			arguments string
			more      string
		}{
			"other arguments": {p, `{"x":2}`, r.with(approve)},
			"other bytes":     {p, `{"x": 1}`, r.with(approve)},
			"other client":    {other, `{"x":1}`, r.with(approve)},
			"changed state":   {p, `{"x":1}`, round{r.key, r.state[:len(r.state)-2] + "AA"}.with(approve)},
			"invented state":  {p, `{"x":1}`, round{r.key, "AAAA"}.with(approve)},
		} {
			if _, got := c.from.modernCall(c.arguments, c.more); got != invalid {
				t.Errorf("%s: got %q", name, got)
			}
		}
		// An answer without the state, or under another key, is no answer.
		for name, more := range map[string]string{
			"no state":    fmt.Sprintf(`,"inputResponses":{%q:%s}`, r.key, approve),
			"another key": round{"approve", ask().state}.with(approve),
		} {
			if again, got := p.modernCall(`{"x":1}`, more); again.key == "" || again.key == r.key {
				t.Errorf("%s: got %q", name, got)
			}
		}
		if ran.Load() != 0 {
			t.Fatal("ran without approval")
		}
		if _, got := p.modernCall(`{"x":1}`, r.with(approve)); got != "ran" {
			t.Errorf("got %q", got)
		}
		if _, got := p.modernCall(`{"x":1}`, r.with(approve)); got != invalid || ran.Load() != 1 {
			t.Errorf("replayed: got %q, ran %d times", got, ran.Load())
		}
		for answer, want := range map[string]string{
			`{"action":"decline"}`: "ask: user decline",
			`{"action":"cancel"}`:  "ask: user cancel",
			`{}`:                   "ask: user declined",
			`{"action":"accept","content":{"approve":1}}`: "ask: user accept",
		} {
			if _, got := p.modernCall(`{"x":1}`, ask().with(answer)); got != want {
				t.Errorf("%s: got %q", answer, got)
			}
		}
		late := ask()
		time.Sleep(60*time.Second + time.Millisecond)
		if _, got := p.modernCall(`{"x":1}`, late.with(approve)); got != "ask: elicitation timed out" {
			t.Errorf("late: got %q", got)
		}
		if ran.Load() != 1 {
			t.Errorf("ran %d times", ran.Load())
		}
		p.conn.Close()
		other.conn.Close()
	})
}

// S8: approval holds through the rounds that the tool itself asks for, and no
// longer.
func TestApprovalHoldsThroughTheRounds(t *testing.T) {
	r := NewRegistry()
	addTool(t, r, "t", elicitName)
	p := connect(t, serveWith(t, Options{Registry: r, Authorizer: asking}), "c")
	first, _ := p.modernCall(`{}`, "")
	second, got := p.modernCall(`{}`, first.with(approve))
	if second.key != "name" {
		t.Fatalf("the tool's own question did not come: %+v, %s", second, got)
	}
	if _, got := p.modernCall(`{}`, second.with(`{"action":"accept","content":{"n":1}}`)); got != `accept{"n":1}` {
		t.Errorf("got %q", got)
	}
	if again, got := p.modernCall(`{}`, second.with(`{"action":"accept"}`)); again.key != "" || got == "accept" {
		t.Errorf("replayed: got %q", got)
	}
}

// S8: what is kept of redeemed states is bounded, and none is redeemed twice for it.
func TestRedeemedStatesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSealer(time.Minute)
		first := s.seal([]byte("x"), nil)
		redeem := func(state string) bool {
			_, ticket, err := s.open(state, nil)
			return err == nil && s.redeem(ticket)
		}
		if !redeem(first) {
			t.Fatal("a state is not taken")
		}
		for range maxRedeemed + 1 {
			time.Sleep(100 * time.Microsecond)
			if !redeem(s.seal(nil, nil)) {
				t.Fatal("a state is not taken")
			}
		}
		if len(s.redeemed) > maxRedeemed {
			t.Errorf("%d are kept", len(s.redeemed))
		}
		if redeem(first) {
			t.Error("an old state was redeemed twice")
		}
		time.Sleep(2 * time.Minute)
		if !redeem(s.seal(nil, nil)) || len(s.redeemed) != 1 {
			t.Errorf("%d are kept after they expired", len(s.redeemed))
		}
	})
}

// keeping asks for a name with a state of its own.
func keeping(ctx context.Context, c *Call) (any, error) {
	c.Keep(json.RawMessage(`"mine"`))
	return elicitName(ctx, c)
}

// S8: a state is redeemed when a worker begins with the call. Who was told that the
// server is busy comes again with the same answers, before and after approval.
func TestBusyRefusalKeepsTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := NewRegistry()
		addTool(t, r, "t", keeping)
		addTool(t, r, "slow", held(gate, make(chan error, 2)))
		asks := false
		d := desk{make(chan deskAsk, 1)}
		s := serveWith(t, Options{Registry: r, Limits: Limits{Workers: 1}, Asker: d, Authorizer: func(_ context.Context, _ Peer, tool string, _ json.RawMessage) Decision {
			return Decision{Effect: map[bool]Effect{true: Ask, false: Allow}[asks && tool == "t"]}
		}})
		p, other := connect(t, s, "a"), connect(t, s, "b")
		question, _ := p.modernCall(`{}`, "")
		answer := question.with(`{"action":"accept","content":{"n":1}}`)
		hold := func() {
			synctest.Wait() // a worker is free a moment after its answer
			other.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",%s}}`, meta(`{}`))
		}
		const busy = "!Error: server_busy"

		hold()
		for range 3 {
			if _, got := p.modernCall(`{}`, answer); got != busy {
				t.Fatalf("while all workers are taken: got %q", got)
			}
		}
		gate <- struct{}{}
		other.get()
		synctest.Wait()

		asks = true
		retried := make(chan string)
		go func() {
			_, got := p.modernCall(`{}`, answer)
			retried <- got
		}()
		asked := <-d.asked
		hold()
		synctest.Wait()
		asked.answer <- Answer{Approved: true}
		if got := <-retried; got != busy {
			t.Fatalf("all workers were taken when approval came: got %q", got)
		}
		gate <- struct{}{}
		other.get()
		synctest.Wait()

		asks = false
		if _, got := p.modernCall(`{}`, answer); got != `accept{"n":1}` {
			t.Errorf("the answers are lost: got %q", got)
		}
		synctest.Wait()
		if _, got := p.modernCall(`{}`, answer); got != "-32602 requestState is not valid for this request" {
			t.Errorf("replayed: got %q", got)
		}
		p.conn.Close()
		other.conn.Close()
	})
}

// S8: one state sent many times at once begins one call.
func TestConcurrentReplaysBeginOnce(t *testing.T) {
	var ran atomic.Int32
	r := NewRegistry()
	addTool(t, r, "t", func(ctx context.Context, c *Call) (any, error) {
		v, err := keeping(ctx, c)
		if err == nil {
			ran.Add(1)
		}
		return v, err
	})
	s := serveWith(t, Options{Registry: r})
	p := connect(t, s, "c")
	question, _ := p.modernCall(`{}`, "")
	const times = 16
	for i := range times {
		p.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{},%s%s}}`, i, meta(canElicit), question.with(`{"action":"accept","content":{"n":1}}`))
	}
	for range times {
		p.get()
	}
	if ran.Load() != 1 {
		t.Errorf("ran %d times", ran.Load())
	}
}
