package server

import (
	"encoding/json"
	"fmt"
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
		if _, err := s.open(first, nil); err != nil {
			t.Fatal(err)
		}
		for range maxRedeemed + 1 {
			time.Sleep(100 * time.Microsecond)
			if _, err := s.open(s.seal(nil, nil), nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.redeemed) > maxRedeemed {
			t.Errorf("%d are kept", len(s.redeemed))
		}
		if _, err := s.open(first, nil); err == nil {
			t.Error("an old state was redeemed twice")
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.open(s.seal(nil, nil), nil); err != nil || len(s.redeemed) != 1 {
			t.Errorf("%v; %d are kept after they expired", err, len(s.redeemed))
		}
	})
}
