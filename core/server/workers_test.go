package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// held returns a handler that waits for the gate or its context, and tells which.
func held(gate <-chan struct{}, ended chan<- error) Handler {
	return func(ctx context.Context, _ *Call) (any, error) {
		select {
		case <-gate:
			return "done", nil
		case <-ctx.Done():
			ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		}
	}
}

// Acceptance 139, 145: a slow tool or resource delays nobody's ping.
func TestSlowHandlersDelayNobody(t *testing.T) {
	gate := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{"slow": held(gate, nil)})
	if err := s.registry.AddResource(Resource{Definition: json.RawMessage(`{"uri":"x:slow","name":"slow"}`), Handle: func(context.Context, *Call) (any, error) {
		<-gate
		return ReadResult{Contents: []Contents{{URI: "x:slow"}}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	a, b := connect(t, s, "a"), connect(t, s, "b")
	a.initialize(`{}`)
	b.initialize(`{}`)
	a.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	a.say(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x:slow"}}`)
	for _, p := range []*peer{a, b} {
		p.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if m := p.get(); m.ID != jsonrpc.IntID(3) {
			t.Fatalf("got %s", m.Append(nil))
		}
	}
	close(gate)
	a.get()
	a.get()
}

// S3, acceptance 141: above the bound a call is told so at once, and the one that
// runs completes.
func TestBusy(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		second string // owner of the second call
		busy   bool
	}{
		"in all":                      {Limits{Workers: 1}, "b", true},
		"for one owner":               {Limits{Workers: 4, WorkersPerOwner: 1}, "a", true},
		"another owner has its share": {Limits{Workers: 4, WorkersPerOwner: 1}, "b", false},
		"half of all is one owner's":  {Limits{Workers: 2}, "a", true},
		"the rest is another's":       {Limits{Workers: 2}, "b", false},
	} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			s := serve(t, c.limits, map[string]Handler{"slow": held(gate, nil)})
			peers := map[string]*peer{"a": connect(t, s, "a"), "b": connect(t, s, "b")}
			for _, p := range peers {
				p.initialize(`{}`)
			}
			peers["a"].say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
			p := peers[c.second]
			p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`)
			if c.busy {
				if got := text(p.get()); got != "!Error: server_busy" {
					t.Errorf("got %q", got)
				}
			}
			close(gate)
			if got := text(peers["a"].get()); got != "done" {
				t.Errorf("the first call got %q", got)
			}
			if !c.busy {
				if p == peers["a"] {
					t.Fatal("the table is wrong")
				}
				if got := text(p.get()); got != "done" {
					t.Errorf("the second call got %q", got)
				}
			}
		})
	}
}

// Busy outside tools/call is an error that says so.
func TestBusyRead(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	s := serve(t, Limits{Workers: 1}, map[string]Handler{"slow": held(gate, make(chan error, 1))})
	if err := s.registry.AddResource(Resource{Definition: json.RawMessage(`{"uri":"x:y","name":"y"}`), Handle: say("never")}); err != nil {
		t.Fatal(err)
	}
	p := connect(t, s, "c")
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x:y"}}`)
	if m := p.get(); m.Error == nil || !strings.Contains(string(m.Error.Data), "server_busy") {
		t.Fatalf("got %s", m.Append(nil))
	}
}

// S3, acceptance 140, 142: a handler has its time, no more; the server goes on.
func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := serve(t, Limits{}, map[string]Handler{"hang": held(nil, ended)})
		p := connect(t, s, "c")
		p.initialize(`{}`)
		start := time.Now()
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`)
		time.Sleep(299 * time.Second)
		synctest.Wait()
		p.quiet()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := text(p.get()); got != "!Error: callback_timeout" {
			t.Errorf("got %q after %v", got, time.Since(start))
		}
		if err := <-ended; !errors.Is(err, ErrTimeout) {
			t.Errorf("the handler saw %v", err)
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		p.get()
	})
}

// A handler that heeds nothing is answered for in time, and holds its slot until it
// returns: what runs is what counts.
func TestUnheedingHandlerHoldsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := serve(t, Limits{Workers: 1, CallTimeout: time.Second}, map[string]Handler{
			"deaf": func(context.Context, *Call) (any, error) { <-gate; return "late", nil },
			"hi":   say("hi"),
		})
		p := connect(t, s, "c")
		p.initialize(`{}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deaf"}}`)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := text(p.get()); got != "!Error: callback_timeout" {
			t.Errorf("got %q", got)
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hi"}}`)
		if got := text(p.get()); got != "!Error: server_busy" {
			t.Errorf("got %q", got)
		}
		close(gate)
		synctest.Wait()
		p.quiet()
		p.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hi"}}`)
		if got := text(p.get()); got != "hi" {
			t.Errorf("got %q", got)
		}
	})
}

// S3: one panic fails one call, of several at once.
func TestPanicIsolation(t *testing.T) {
	gate := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{
		"slow":  held(gate, nil),
		"panic": func(context.Context, *Call) (any, error) { panic(errors.New("boom")) },
	})
	p := connect(t, s, "c")
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"panic"}}`)
	if m := p.get(); m.ID != jsonrpc.IntID(2) || text(m) != "!Error: callback_panicked" {
		t.Fatalf("got %s", m.Append(nil))
	}
	close(gate)
	if got := text(p.get()); got != "done" {
		t.Fatalf("got %q", got)
	}
}

// basic/patterns/cancellation: the handler's context ends, no answer follows, the
// id is free, and the slot comes back.
func TestCancelledNotification(t *testing.T) {
	for _, e := range eras(`{}`) {
		t.Run(e.name, func(t *testing.T) {
			ended := make(chan error, 1)
			gate := make(chan struct{})
			s := serve(t, Limits{Workers: 1}, map[string]Handler{"slow": held(gate, ended), "hi": say("hi")})
			p := connect(t, s, "c")
			e.open(p)
			e.call(p, `"x"`, "slow", `{}`)
			for _, id := range []string{`1`, `"y"`, `null`, `{}`} { // not this one
				p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
			}
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
			select {
			case err := <-ended:
				t.Fatal("another's cancellation ended it:", err)
			default:
			}
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"no more"}}`)
			if err := <-ended; !errors.Is(err, ErrCancelled) {
				t.Fatal("the handler saw", err)
			}
			if id := <-p.ended; id != jsonrpc.StringID("x") {
				t.Fatal("ended", id)
			}
			// The worker may take a moment to return after its context ended.
			for deadline := time.Now().Add(20 * time.Second); ; {
				e.call(p, `"x"`, "hi", `{}`)
				got := text(p.get())
				if got == "hi" {
					break
				}
				if got != "!Error: server_busy" || time.Now().After(deadline) {
					t.Fatal("got", got)
				}
			}
			p.quiet()
		})
	}
}

// A connection's end cancels what it started and nothing else.
func TestCloseCancelsItsOwn(t *testing.T) {
	ended := make(chan error, 2)
	gate := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{"slow": held(gate, ended)})
	a, b := connect(t, s, "a"), connect(t, s, "b")
	for _, p := range []*peer{a, b} {
		p.initialize(`{}`)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	}
	a.conn.Close()
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Fatal("the handler saw", err)
	}
	a.quiet()
	close(gate)
	if got := text(b.get()); got != "done" {
		t.Fatal("the other call got", got)
	}
}
