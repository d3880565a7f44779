package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"pgregory.net/rapid"
)

// gatedPeer holds tool calls until release.
type gatedPeer struct {
	peer
	running atomic.Int32
	most    atomic.Int32
	gate    chan struct{}
}

func newGated(wrap func(func(*peerConn, int64, transport.Request)) func(*peerConn, int64, transport.Request)) *gatedPeer {
	g := &gatedPeer{gate: make(chan struct{})}
	g.answer = wrap(func(c *peerConn, id int64, r transport.Request) {
		n := g.running.Add(1)
		for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
		}
		<-g.gate
		g.running.Add(-1)
		c.result(id, `{"content":[],"resultType":"complete"}`)
	})
	return g
}

func asModern(call func(*peerConn, int64, transport.Request)) func(*peerConn, int64, transport.Request) {
	return modern(call)
}

func asLegacy(call func(*peerConn, int64, transport.Request)) func(*peerConn, int64, transport.Request) {
	return legacy(notFound, call)
}

// Acceptance 46, 52, 55; T5: slots, then a bounded queue in order, then busy at once.
func TestSlotsAndQueue(t *testing.T) {
	check := func(t testing.TB, wrap func(func(*peerConn, int64, transport.Request)) func(*peerConn, int64, transport.Request), l Limits, slots, callers int) {
		g := newGated(wrap)
		s := start(t, &g.peer, func(c *Config) { l.VerdictTTL = -1; c.Limits = l })
		synctest.Wait()
		results := make(chan error, callers)
		for range callers {
			go func() {
				_, err := s.CallTool(background, "echo", nil, nil)
				results <- err
			}()
			synctest.Wait()
		}
		st := s.Status()
		wantFlight, wantQueue := min(callers, slots), max(0, min(callers-slots, l.Queue))
		if st.InFlight != wantFlight || st.Queued != wantQueue {
			t.Errorf("%d in flight, %d queued; want %d and %d", st.InFlight, st.Queued, wantFlight, wantQueue)
		}
		close(g.gate)
		synctest.Wait()
		ok, busy := 0, 0
		for range callers {
			switch err := <-results; {
			case err == nil:
				ok++
			case transport.CodeOf(err) == transport.Busy:
				busy++
			default:
				t.Errorf("got %v", err)
			}
		}
		if ok != min(callers, slots+l.Queue) || busy != callers-ok {
			t.Errorf("%d succeeded, %d busy", ok, busy)
		}
		if st := s.Status(); st.InFlight != 0 || st.Queued != 0 {
			t.Errorf("left %d in flight, %d queued", st.InFlight, st.Queued)
		}
		if got := int(g.most.Load()); got > slots {
			t.Errorf("%d ran at a time, want at most %d", got, slots)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		check(t, asModern, Limits{Concurrency: Pooled, Pool: 2, Queue: 1}, 2, 4)
	})
	synctest.Test(t, func(t *testing.T) {
		check(t, asLegacy, Limits{Queue: 2}, 1, 4)
	})
	rapid.Check(t, func(rt *rapid.T) {
		callers, queue := rapid.IntRange(1, 8).Draw(rt, "callers"), rapid.IntRange(1, 3).Draw(rt, "queue")
		synctest.Test(t, func(t *testing.T) { check(t, asLegacy, Limits{Queue: queue}, 1, callers) })
	})
}

// Acceptance 53, 54, 95; C2, T10: requests that never complete time out, are
// cancelled, leave nothing behind, and the session goes on. One deadline covers
// queue and wire.
func TestDeadlineCoversQueueAndWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: legacy(notFound, func(*peerConn, int64, transport.Request) {})}
		s := start(t, p, func(c *Config) { c.Limits.Total = 10 * time.Second; c.Limits.Silence = time.Hour })
		synctest.Wait()
		var wg sync.WaitGroup
		began := time.Now()
		for range 3 {
			wg.Go(func() {
				_, err := s.CallTool(background, "echo", nil, nil)
				wantCode(t, err, transport.Timeout)
			})
		}
		wg.Wait()
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("took %v", d)
		}
		st := wantState(t, s, Ready)
		if st.InFlight != 0 || st.Queued != 0 || p.count("cancel") == 0 {
			t.Errorf("%d in flight, %d queued, %d cancelled", st.InFlight, st.Queued, p.count("cancel"))
		}
	})
}

// T8, field cases 38 and 68: silence ends a call, any sign of life does not, and there
// is a last limit all the same. Every tools/call asks for progress.
func TestSilenceAndProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			token := jsonrpc.Get(jsonrpc.Get(r.Params, "_meta"), "progressToken")
			for i := range 4 {
				time.Sleep(20 * time.Second)
				c.sink.Message(0, jsonrpc.Notify(mcp.NotifyProgress, json.RawMessage(fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, token, i))))
			}
			time.Sleep(10 * time.Second)
			c.result(id, `{"content":[]}`)
		})}
		s := start(t, p, func(c *Config) { c.Limits.Silence = 60 * time.Second })
		synctest.Wait()
		seen := 0
		if _, err := s.CallTool(background, "echo", nil, func(json.RawMessage) { seen++ }); err != nil || seen != 4 {
			t.Errorf("got %v after %d progress notifications", err, seen)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			for range 100 {
				time.Sleep(20 * time.Second)
				c.sink.Alive(id)
			}
		})}
		s := start(t, p)
		synctest.Wait()
		began := time.Now()
		_, err := s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.Timeout)
		if d := time.Since(began); d != 15*time.Minute {
			t.Errorf("ended after %v", d)
		}
		time.Sleep(time.Hour)
	})
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(*peerConn, int64, transport.Request) {})}
		s := start(t, p)
		synctest.Wait()
		began := time.Now()
		_, err := s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.Timeout)
		if d := time.Since(began); d != time.Minute {
			t.Errorf("ended after %v", d)
		}
	})
}

// T10: cancelling reaches a call on the wire and one in the queue.
func TestCancelAtEveryStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(asLegacy)
		s := start(t, &g.peer)
		synctest.Wait()
		errs := make(chan error, 2)
		var cancels []context.CancelFunc
		for range 2 {
			ctx, cancel := context.WithCancel(background)
			cancels = append(cancels, cancel)
			go func() {
				_, err := s.CallTool(ctx, "echo", nil, nil)
				errs <- err
			}()
			synctest.Wait()
		}
		cancels[1]() // it is in the queue, and never gets to the wire
		wantCode(t, <-errs, transport.Cancelled)
		cancels[0]()
		wantCode(t, <-errs, transport.Cancelled)
		if g.count("cancel") != 1 || g.count(mcp.MethodToolsCall) != 1 {
			t.Errorf("the wire saw %v", g.methods())
		}
		close(g.gate)
		synctest.Wait()
		if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
			t.Errorf("the session is not usable: %v", err)
		}
	})
}

// Acceptance 94; T4: a dead process fails what is in flight with its reason, then the
// session comes back by itself.
func TestDeathFailsEverythingInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{kind: transport.Stdio}
		p.answer = legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
			if c.n == 1 {
				c.die(&transport.Error{Code: transport.Exited, ExitCode: 3})
				return
			}
			c.result(id, `{"content":[]}`)
		})
		s := start(t, p)
		synctest.Wait()
		_, err := s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.Exited)
		synctest.Wait()
		st := wantState(t, s, Retrying)
		wantCode(t, st.Err, transport.Exited)
		_, err = s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.NotReady)
		wantCode(t, err.(*transport.Error).Err, transport.Exited)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantState(t, s, Ready)
		if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
			t.Error(err)
		}
	})
}

// Acceptance 93, 103; C6: a JSON-RPC error reaches the caller as it came, a null
// result is an answer, and the session lives.
func TestErrorsReachTheirCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			if string(jsonrpc.Get(r.Params, "name")) == `"bad"` {
				c.refuse(id, -32602, "no such argument")
				return
			}
			c.result(id, `null`)
		})}
		s := start(t, p)
		synctest.Wait()
		_, err := s.CallTool(background, "bad", nil, nil)
		if rpc, ok := err.(*jsonrpc.Error); !ok || rpc.Code != -32602 || rpc.Message != "no such argument" {
			t.Errorf("got %v", err)
		}
		if _, err := s.CallTool(background, "null", nil, nil); transport.CodeOf(err) != transport.Invalid {
			t.Errorf("got %v", err)
		}
		if st := wantState(t, s, Ready); st.InFlight != 0 {
			t.Errorf("%d in flight", st.InFlight)
		}
	})
}

// A4, C3: arguments go out byte for byte, with _meta beside them.
func TestArgumentsStayBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(done)}
		s := start(t, p)
		synctest.Wait()
		args := `{"n": 9007199254740993, "s":"\u00e9", "x":1.0}`
		if _, err := s.CallTool(background, "echo", json.RawMessage(args), nil); err != nil {
			t.Fatal(err)
		}
		params := p.last(mcp.MethodToolsCall)
		if got := jsonrpc.Get(params, "arguments"); string(got) != args {
			t.Errorf("sent %s", got)
		}
		meta := jsonrpc.Get(params, "_meta")
		if v := jsonrpc.Get(meta, mcp.MetaVersion); string(v) != `"2026-07-28"` || jsonrpc.Get(meta, mcp.MetaCapabilities) == nil || jsonrpc.Get(meta, mcp.MetaProgressToken) == nil {
			t.Errorf("_meta is %s", meta)
		}
	})
}

// Field case 49: ids come back as strings or floats.
func TestLenientCorrelation(t *testing.T) {
	for _, form := range []string{`"%d"`, `%d.0`, `%de0`} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{kind: transport.Stdio}
			p.answer = modern(func(c *peerConn, id int64, r transport.Request) {
				odd, err := jsonrpc.ParseID(fmt.Appendf(nil, form, id))
				if err != nil {
					t.Error(err)
				}
				c.sink.Message(0, jsonrpc.Reply(odd, json.RawMessage(`{"content":[]}`)))
			})
			s := start(t, p)
			synctest.Wait()
			if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
				t.Errorf("%s: %v", form, err)
			}
		})
	}
}

// Field case 67: late progress, unknown tokens and odd values disturb nothing.
func TestOddProgressIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			for _, params := range []string{`{"progressToken":"never"}`, `{"progressToken":999,"progress":1}`, `{}`, `{"progressToken":null}`} {
				c.sink.Message(0, jsonrpc.Notify(mcp.NotifyProgress, json.RawMessage(params)))
			}
			c.result(id, `{"content":[]}`)
			c.sink.Message(0, jsonrpc.Notify(mcp.NotifyProgress, json.RawMessage(fmt.Sprintf(`{"progressToken":%d,"progress":1}`, id))))
		})}
		s := start(t, p)
		synctest.Wait()
		if _, err := s.CallTool(background, "echo", nil, func(json.RawMessage) { t.Error("somebody else's progress") }); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		wantState(t, s, Ready)
	})
}
