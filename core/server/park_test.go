package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

var asking = always(Decision{Effect: Ask, Text: "Really?"})

const canElicit = `{"elicitation":{}}`

// park calls "t" and returns the question that the client gets for it.
func (p *peer) park(id int) *jsonrpc.Message {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`, id)
	m := p.get()
	if m.Method != mcp.MethodElicit {
		p.t.Fatalf("not asked: %s", m.Append(nil))
	}
	return m
}

func (p *peer) reply(ask *jsonrpc.Message, answer string) {
	p.say(`{"jsonrpc":"2.0","id":%s,%s}`, ask.ID, answer)
}

const yes = `"result":{"action":"accept","content":{"approve":true}}`

// S6; acceptance 111: the one question, and an id that nobody guesses.
func TestQuestionToALegacyClient(t *testing.T) {
	s, ran := guarded(t, asking, nil, Limits{})
	p := connect(t, s, "c")
	p.initialize(canElicit)
	ids := map[string]bool{}
	for i := range 3 {
		ask := p.park(i)
		var q struct {
			Message         string
			RequestedSchema struct {
				Type       string
				Properties map[string]struct{ Type string }
				Required   []string
			}
		}
		if json.Unmarshal(ask.Params, &q) != nil || q.Message != "Really?" || q.RequestedSchema.Type != "object" ||
			q.RequestedSchema.Properties["approve"].Type != "boolean" || fmt.Sprint(q.RequestedSchema.Required) != "[approve]" {
			t.Errorf("asked %s", ask.Params)
		}
		var id string
		raw, _ := ask.ID.MarshalJSON()
		if json.Unmarshal(raw, &id) != nil || len(strings.TrimPrefix(id, "ask-")) < 16 || ids[id] {
			t.Errorf("the id is %s", raw)
		}
		ids[id] = true
	}
	p.quiet()
	if ran.Load() != 0 {
		t.Error("the tool ran before anybody approved")
	}
}

// S7; acceptance 112–114: silence and everything else that is no yes denies, exactly
// once, and a late answer changes nothing.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"approved":        {yes, ""},
		"approve false":   {`"result":{"action":"accept","content":{"approve":false}}`, "ask: user accept"},
		"approve no bool": {`"result":{"action":"accept","content":{"approve":"true"}}`, "ask: user accept"},
		"another case":    {`"result":{"action":"accept","content":{"Approve":true}}`, "ask: user accept"},
		"no content":      {`"result":{"action":"accept"}`, "ask: user accept"},
		"decline":         {`"result":{"action":"decline","content":{"approve":true}}`, "ask: user decline"},
		"cancel":          {`"result":{"action":"cancel"}`, "ask: user cancel"},
		"no action":       {`"result":{"content":{"approve":true}}`, "ask: user declined"},
		"odd action":      {`"result":{"action":7}`, "ask: user declined"},
		"result no map":   {`"result":[]`, "ask: user declined"},
		"error":           {`"error":{"code":-32601,"message":"secret"}`, "ask: elicitation failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ran := guarded(t, asking, nil, Limits{})
			p := connect(t, s, "c")
			p.initialize(canElicit)
			ask := p.park(7)
			p.reply(ask, c.answer)
			m := p.get()
			if m.ID != jsonrpc.IntID(7) || denial(m) != c.want || (ran.Load() == 1) != (c.want == "") || (c.want == "" && text(m) != "ran") {
				t.Errorf("got %s, ran %d times", m.Append(nil), ran.Load())
			}
			p.reply(ask, yes)
			p.say(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
			if m := p.get(); m.ID != jsonrpc.IntID(8) || ran.Load() > 1 {
				t.Errorf("a second answer gave %s", m.Append(nil))
			}
		})
	}
}

// S7; acceptance 115, 116: silence is not consent.
func TestSilenceIsNotConsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ran := guarded(t, asking, nil, Limits{})
		p := connect(t, s, "c")
		p.initialize(canElicit)
		ask := p.park(7)
		time.Sleep(60*time.Second - 1)
		synctest.Wait()
		p.quiet()
		time.Sleep(1 * time.Nanosecond)
		if m := p.get(); m.Method != mcp.NotifyCancelled {
			t.Errorf("the client's dialog stays: %s", m.Append(nil))
		}
		if got := denial(p.get()); got != "ask: elicitation timed out" {
			t.Error("got", got)
		}
		p.reply(ask, yes)
		synctest.Wait()
		p.quiet()
		if ran.Load() != 0 || len(s.lot.parked) != 0 {
			t.Error("a late answer counted")
		}
		p.conn.Close()
	})
}

// S7; acceptance 110, 117–124: who is asked, who may answer, and who gets the result.
func TestOnlyTheOwnerAnswers(t *testing.T) {
	s, ran := guarded(t, asking, nil, Limits{})
	owner, other, same := connect(t, s, "a"), connect(t, s, "b"), connect(t, s, "a")
	owner.initialize(canElicit)
	first, second := owner.park(1), owner.park(2)
	if first.ID == second.ID {
		t.Fatal("two asks have one id")
	}
	// Neither another connection's capability nor that of the same id's is theirs.
	for _, p := range []*peer{other, same} {
		p.initialize(`{}`)
		p.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t"}}`)
		if got := denial(p.get()); got != "ask: Really?" {
			t.Error("got", got)
		}
		p.initialize(canElicit)
		p.reply(first, yes)
		p.say(`{"jsonrpc":"2.0","id":"nobody's",%s}`, yes)
		p.say(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
		if m := p.get(); m.ID != jsonrpc.IntID(4) {
			t.Errorf("got %s", m.Append(nil))
		}
		p.quiet()
	}
	if ran.Load() != 0 {
		t.Fatal("another connection approved")
	}
	owner.reply(second, yes)
	if m := owner.get(); m.ID != jsonrpc.IntID(2) || text(m) != "ran" {
		t.Errorf("got %s", m.Append(nil))
	}
	owner.quiet()
	owner.reply(first, yes)
	if m := owner.get(); m.ID != jsonrpc.IntID(1) || text(m) != "ran" || ran.Load() != 2 {
		t.Errorf("got %s", m.Append(nil))
	}
	other.quiet()
	same.quiet()
}

// S6, acceptance 124: a client that could not hear the question is not asked, and
// takes no place.
func TestUnreachableIsNotAsked(t *testing.T) {
	s, _ := guarded(t, asking, nil, Limits{})
	p := connect(t, s, "c")
	p.conn.out = deaf{p}
	p.initialize(canElicit)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	if got := denial(p.get()); got != "ask: Really?" {
		t.Error("got", got)
	}
}

type deaf struct{ *peer }

func (deaf) hears(*Call) bool { return false }

// S7, S9; acceptance 195, 197: a parked call that is cancelled, or whose connection
// ends, gets no answer, and approval comes too late.
func TestParkedCallIsTakenBack(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"cancelled": func(p *peer) {
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		},
		"connection gone": func(p *peer) { p.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ran := guarded(t, asking, nil, Limits{})
				p := connect(t, s, "c")
				p.initialize(canElicit)
				ask := p.park(7)
				end(p)
				synctest.Wait()
				p.reply(ask, yes)
				synctest.Wait()
				for len(p.sent) > 0 {
					if m := p.get(); m.Method != mcp.NotifyCancelled {
						t.Errorf("got %s", m.Append(nil))
					}
				}
				if ran.Load() != 0 || len(s.lot.parked) != 0 {
					t.Errorf("ran %d times, %d parked", ran.Load(), len(s.lot.parked))
				}
				if name == "cancelled" && len(p.ended) != 1 {
					t.Errorf("ended %d times", len(p.ended))
				}
				p.conn.Close()
			})
		})
	}
}

// S7, S9; acceptance 196, 198: what approval started is killed with the call.
func TestApprovedCallIsTakenBack(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"cancelled": func(p *peer) {
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		},
		"connection gone": func(p *peer) { p.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				r := NewRegistry()
				addTool(t, r, "t", held(nil, ended))
				s := serveWith(t, Options{Registry: r, Authorizer: asking})
				p := connect(t, s, "c")
				p.initialize(canElicit)
				p.reply(p.park(7), yes)
				synctest.Wait()
				end(p)
				if err := <-ended; !errors.Is(err, map[string]error{"cancelled": ErrCancelled, "connection gone": ErrGone}[name]) {
					t.Error("the handler's context ended with", err)
				}
				synctest.Wait()
				p.quiet()
				if s.workers.used != 0 {
					t.Error("a worker is still held")
				}
				p.conn.Close()
			})
		})
	}
}

// S3, S7: a parked call holds no worker; approval takes one, else the call is busy.
func TestApprovalTakesAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := NewRegistry()
		addTool(t, r, "t", say("ran"))
		addTool(t, r, "slow", held(gate, nil))
		s := serveWith(t, Options{Registry: r, Limits: Limits{Workers: 1, CallTimeout: time.Second}, Authorizer: func(_ context.Context, _ Peer, tool string, _ json.RawMessage) Decision {
			return Decision{Effect: map[bool]Effect{true: Ask, false: Allow}[tool == "t"]}
		}})
		p := connect(t, s, "c")
		p.initialize(canElicit)
		first, second := p.park(1), p.park(2)
		time.Sleep(30 * time.Second) // far beyond the time limit, which stands still
		p.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}`)
		synctest.Wait()
		p.reply(first, yes)
		if got := text(p.get()); got != "!Error: server_busy" {
			t.Error("got", got)
		}
		close(gate)
		p.get()
		synctest.Wait()
		p.reply(second, yes)
		if got := text(p.get()); got != "ran" {
			t.Error("got", got)
		}
		p.conn.Close()
	})
}

// desk is an asker as the desktop is one: answers come from elsewhere.
type desk struct{ asked chan deskAsk }

type deskAsk struct {
	Question
	ctx    context.Context
	answer chan Answer
}

func (d desk) Reaches(*Call) bool { return true }

func (d desk) Ask(ctx context.Context, q Question) (Answer, error) {
	a := deskAsk{q, ctx, make(chan Answer, 1)}
	d.asked <- a
	select {
	case v := <-a.answer:
		return v, nil
	case <-ctx.Done():
		return Answer{Approved: true}, nil // must not count
	}
}

// S7, G4: another asker than the client, in both eras: it sees the call, its time is
// its own, and the caller gets signs of life.
func TestDesktopAsker(t *testing.T) {
	for _, e := range eras(`{}`) {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := desk{make(chan deskAsk, 1)}
				s, ran := guarded(t, always(Decision{Effect: Ask, Text: "Really?", About: 42}), d, Limits{})
				p := connect(t, s, "c")
				e.open(p)
				e.call(p, `1`, "t", `{"x":1}`)
				a := <-d.asked
				if a.Prompt != "Really?" || a.About != 42 || a.Call.Name != "t" || string(a.Call.Arguments()) != `{"x":1}` || a.Call.Peer.ID != "c" || len(a.ID) < 20 {
					t.Errorf("asked %+v", a.Question)
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				signs := 0
				for len(p.sent) > 0 {
					if m := p.get(); m.Method != mcp.NotifyProgress {
						t.Fatalf("got %s", m.Append(nil))
					}
					signs++
				}
				if signs < 30 {
					t.Errorf("%d signs of life in ten minutes", signs)
				}
				a.answer <- Answer{Approved: true}
				if got := text(p.get()); got != "ran" || ran.Load() != 1 {
					t.Error("got", got)
				}
				e.call(p, `2`, "t", `{}`)
				a = <-d.asked
				a.answer <- Answer{Detail: "denied at the desktop"}
				if got := denial(p.get()); got != "ask: denied at the desktop" {
					t.Error("got", got)
				}
				e.call(p, `3`, "t", `{}`)
				a = <-d.asked
				p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
				<-a.ctx.Done()
				if err := context.Cause(a.ctx); !errors.Is(err, ErrCancelled) {
					t.Error("the ask ended with", err)
				}
				synctest.Wait()
				p.quiet()
				if ran.Load() != 1 {
					t.Errorf("ran %d times", ran.Load())
				}
				p.conn.Close()
			})
		})
	}
}

// Callback isolation: an asker that fails denies this one call.
func TestAskerFails(t *testing.T) {
	s, ran := guarded(t, asking, brokenAsker{}, Limits{})
	p := connect(t, s, "c")
	p.initialize(`{}`)
	for range 2 {
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
		if got := denial(p.get()); got != "ask: elicitation failed" || ran.Load() != 0 {
			t.Error("got", got)
		}
	}
}

type brokenAsker struct{}

func (brokenAsker) Reaches(*Call) bool                            { return true }
func (brokenAsker) Ask(context.Context, Question) (Answer, error) { panic("secret") }

// S7; acceptance 200–202: caps and fairness, end to end.
func TestCrowdedLot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := guarded(t, asking, nil, Limits{Parked: 3, ParkedPerOwner: 2})
		peers := map[string]*peer{}
		for _, name := range []string{"a", "b", "c"} {
			peers[name] = connect(t, s, name)
			peers[name].initialize(canElicit)
		}
		a, b, c := peers["a"], peers["b"], peers["c"]
		oldest := a.park(1)
		a.park(2)
		refused := func(p *peer, want string) {
			t.Helper()
			p.say(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"t"}}`)
			if got := denial(p.get()); got != want {
				t.Error("got", got)
			}
		}
		refused(a, "ask: too many elicitations pending")
		b.park(1)
		c.park(1) // full; lighter than a
		if m := a.get(); m.Method != mcp.NotifyCancelled {
			t.Errorf("got %s", m.Append(nil))
		}
		if m := a.get(); m.ID != jsonrpc.IntID(1) || denial(m) != "ask: too many elicitations pending on this server" {
			t.Errorf("got %s", m.Append(nil))
		}
		a.reply(oldest, yes) // too late
		refused(b, "ask: too many elicitations pending on this server")
		synctest.Wait()
		for _, p := range peers {
			p.quiet()
			p.conn.Close()
		}
	})
}
