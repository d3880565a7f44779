package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

func accepting(content string) func(*Config) {
	return func(c *Config) {
		c.Elicit = func(context.Context, Elicitation) (mcp.ElicitResult, error) {
			return mcp.ElicitResult{Action: mcp.Accept, Content: json.RawMessage(content)}, nil
		}
	}
}

// Top case 18, C4, field case 66.
func TestInputRounds(t *testing.T) {
	const elicit = `{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`
	need := func(members string) string { return `{"resultType":"input_required"` + members + `}` }
	const final = `{"resultType":"complete","content":[]}`
	forever := func(int) string { return need(`,"requestState":"s"`) }
	for name, c := range map[string]struct {
		answer func(round int) string
		want   transport.Code // "" is success
		reason string
		calls  int
		check  func(t *testing.T, params json.RawMessage)
	}{
		"a state alone is sent back as it came": {
			func(r int) string { return []string{need(`,"requestState":"a+/=\u00e9 \\n"`), final}[r] }, "", "", 2,
			func(t *testing.T, p json.RawMessage) {
				if s := jsonrpc.Get(p, "requestState"); string(s) != `"a+/=\u00e9 \\n"` || jsonrpc.Get(p, "inputResponses") != nil {
					t.Errorf("sent %s", p)
				}
			},
		},
		"empty requests with a state are a state alone": {func(r int) string { return []string{need(`,"inputRequests":{},"requestState":"s"`), final}[r] }, "", "", 2, nil},
		"neither is malformed":                          {func(int) string { return need(``) }, transport.Invalid, "input_required", 1, nil},
		"three rounds, then a result": {func(r int) string {
			return []string{need(`,"requestState":"1"`), need(`,"requestState":"2"`), need(`,"requestState":"3"`), final}[r]
		}, "", "", 4, nil},
		"success on the last allowed round": {func(r int) string { return map[bool]string{true: final, false: forever(0)}[r == 10] }, "", "", 11, nil},
		"endless rounds end":                {forever, transport.Invalid, "too_many_rounds", 11, nil},
		"all keys are answered together, without the state of an earlier round": {
			func(r int) string {
				return []string{need(`,"requestState":"1"`), need(`,"inputRequests":{"q1":` + elicit + `,"q2":` + elicit + `}`), final}[r]
			}, "", "", 3,
			func(t *testing.T, p json.RawMessage) {
				in := jsonrpc.Get(p, "inputResponses")
				if string(in) != `{"q1":{"action":"accept","content":{"n":1}},"q2":{"action":"accept","content":{"n":1}}}` || jsonrpc.Get(p, "requestState") != nil {
					t.Errorf("sent %s", p)
				}
			},
		},
		"a kind that was not declared": {func(int) string { return need(`,"inputRequests":{"q":{"method":"roots/list"}}`) }, transport.Invalid, "undeclared_input", 1, nil},
		"an unknown resultType":        {func(int) string { return `{"resultType":"later"}` }, transport.Invalid, "result_type", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var round atomic.Int32
				ids := map[int64]bool{}
				p := &peer{answer: modern(func(conn *peerConn, id int64, r transport.Request) {
					if ids[id] {
						t.Errorf("id %d was used twice", id)
					}
					ids[id] = true
					conn.result(id, c.answer(int(round.Add(1))-1))
				})}
				s := start(t, p, accepting(`{"n":1}`))
				synctest.Wait()
				_, err := s.CallTool(background, "echo", json.RawMessage(`{"k":1}`), nil)
				if c.want == "" && err != nil || c.want != "" && (transport.CodeOf(err) != c.want || err.(*transport.Error).Reason != c.reason) {
					t.Errorf("got %v", err)
				}
				if n := p.count(mcp.MethodToolsCall); n != c.calls {
					t.Errorf("%d calls, want %d", n, c.calls)
				}
				last := p.last(mcp.MethodToolsCall)
				if string(jsonrpc.Get(last, "arguments")) != `{"k":1}` {
					t.Errorf("the arguments changed: %s", last)
				}
				if c.check != nil {
					c.check(t, last)
				}
			})
		})
	}
}

// Field case 66 (g): input_required in answer to a list is an error.
func TestListsMayNotAskForInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodToolsList {
				c.result(id, `{"resultType":"input_required","requestState":"s"}`)
				return
			}
			modern(done)(c, id, r)
		}}
		s := start(t, p)
		synctest.Wait()
		if l := s.Status().Lists[Tools]; l.Count != -1 || transport.CodeOf(l.Err) != transport.Invalid {
			t.Errorf("got %+v", l)
		}
	})
}

// Field case 65: after a person declined, the server is told and may not ask again.
func TestDeclineEndsTheRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			c.result(id, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"url","url":"https://x.example","message":"m"}}}}`)
		})}
		s := start(t, p, func(c *Config) {
			c.Elicit = func(context.Context, Elicitation) (mcp.ElicitResult, error) {
				asked++
				return mcp.ElicitResult{Action: mcp.Decline}, nil
			}
		})
		synctest.Wait()
		_, err := s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.Cancelled)
		if asked != 1 || string(jsonrpc.Get(p.last(mcp.MethodToolsCall), "inputResponses")) != `{"q":{"action":"decline"}}` {
			t.Errorf("asked %d times; last call %s", asked, p.last(mcp.MethodToolsCall))
		}
	})
}

// elicitingPeer asks during a call, on the call's own stream or on none.
func elicitingPeer(own bool) *peer {
	return &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
		stream := int64(0)
		if own {
			stream = id
		}
		c.sink.Message(stream, jsonrpc.Call(jsonrpc.StringID(fmt.Sprintf("q%d", id)), mcp.MethodElicit, json.RawMessage(`{"message":"who?","requestedSchema":{"type":"object"}}`)))
		for len(c.asked()) == 0 {
			time.Sleep(time.Second)
			if !c.waiting(id) {
				return
			}
		}
		c.result(id, `{"content":[]}`)
	})}
}

func (c *peerConn) waiting(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id] && !c.closed
}

// Top case 19, C4, G4, T8: a person answers a legacy server's question, taking longer
// than every limit; the question names its call when that is certain.
func TestLegacyElicitation(t *testing.T) {
	for _, own := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := elicitingPeer(own)
			var e Elicitation
			s := start(t, p, func(c *Config) {
				c.Limits.Concurrency = Stateless
				c.Elicit = func(ctx context.Context, got Elicitation) (mcp.ElicitResult, error) {
					e = got
					time.Sleep(time.Hour)
					return mcp.ElicitResult{Action: mcp.Accept, Content: json.RawMessage(`{}`)}, ctx.Err()
				}
			})
			synctest.Wait()
			if _, err := s.CallTool(background, "ask", nil, nil); err != nil {
				t.Fatal(err)
			}
			if e.Call != "ask" || e.Uncertain || e.Message != "who?" {
				t.Errorf("asked %+v", e)
			}
		})
	}
}

// G4: with two calls in flight a question that came on no stream is not attributed.
func TestUncertainQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan Elicitation, 4)
		p := elicitingPeer(false)
		s := start(t, p, func(c *Config) {
			c.Limits.Concurrency = Stateless
			c.Elicit = func(ctx context.Context, e Elicitation) (mcp.ElicitResult, error) {
				asked <- e
				<-ctx.Done()
				return mcp.ElicitResult{}, ctx.Err()
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(background)
		for _, name := range []string{"one", "two"} {
			go s.CallTool(ctx, name, nil, nil)
			synctest.Wait()
		}
		<-asked
		if e := <-asked; !e.Uncertain || e.Call != "" {
			t.Errorf("asked %+v", e)
		}
		cancel()
	})
}

// Field case 109, C4: a question goes away with its call, when the server takes it
// back, and with the connection; it is never answered then.
func TestDeadQuestionsVanish(t *testing.T) {
	for name, end := range map[string]func(c *peerConn, cancel func()){
		"call cancelled": func(_ *peerConn, cancel func()) { cancel() },
		"taken back": func(c *peerConn, _ func()) {
			c.sink.Message(0, jsonrpc.Notify(mcp.NotifyCancelled, json.RawMessage(`{"requestId":"q"}`)))
		},
		"connection lost": func(c *peerConn, _ func()) { c.die(&transport.Error{Code: transport.Exited, ExitCode: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conns := make(chan *peerConn, 4)
				p := &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
					c.sink.Message(id, jsonrpc.Call(jsonrpc.StringID("q"), mcp.MethodElicit, json.RawMessage(`{"message":"m"}`)))
					conns <- c
				})}
				open := atomic.Int32{}
				s := start(t, p, func(c *Config) {
					c.Elicit = func(ctx context.Context, e Elicitation) (mcp.ElicitResult, error) {
						open.Add(1)
						defer open.Add(-1)
						<-ctx.Done()
						return mcp.ElicitResult{}, ctx.Err()
					}
				})
				synctest.Wait()
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				go s.CallTool(ctx, "ask", nil, nil)
				c := <-conns
				synctest.Wait()
				if open.Load() != 1 {
					t.Fatal("nobody was asked")
				}
				end(c, cancel)
				synctest.Wait()
				if open.Load() != 0 || len(c.asked()) != 0 {
					t.Errorf("%d open, answered %v", open.Load(), c.asked())
				}
			})
		})
	}
}

// Acceptance 102; C4: what we do not serve is refused at once, and ping is served.
func TestServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := make(chan *peerConn, 1)
		p := &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
			for i, m := range []string{mcp.MethodPing, mcp.MethodSample, mcp.MethodRootsList, mcp.MethodElicit, "x/y"} {
				c.sink.Message(0, jsonrpc.Call(jsonrpc.IntID(int64(i)), m, nil))
			}
			c.result(id, `{}`)
			conns <- c
		})}
		s := start(t, p) // without an Elicit handler: not declared, not served
		synctest.Wait()
		if _, err := s.CallTool(background, "x", nil, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		replies := (<-conns).asked()
		if len(replies) != 5 {
			t.Fatalf("%d replies", len(replies))
		}
		for _, m := range replies {
			if n, _ := m.ID.Int64(); (n == 0) != (m.Error == nil) || n != 0 && m.Error.Code != jsonrpc.CodeMethodNotFound {
				t.Errorf("reply %s", m.Append(nil))
			}
		}
	})
}

// Field case 109: a flood of questions is refused as an error, not as a decline.
func TestFloodOfQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := make(chan *peerConn, 1)
		p := &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
			for i := range 100 {
				c.sink.Message(id, jsonrpc.Call(jsonrpc.IntID(int64(i)), mcp.MethodElicit, json.RawMessage(`{"message":"m"}`)))
			}
			conns <- c
		})}
		s := start(t, p, func(c *Config) {
			c.Elicit = func(ctx context.Context, e Elicitation) (mcp.ElicitResult, error) {
				<-ctx.Done()
				return mcp.ElicitResult{}, ctx.Err()
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		go s.CallTool(ctx, "ask", nil, nil)
		c := <-conns
		synctest.Wait()
		if n := len(c.asked()); n != 100-maxQuestions {
			t.Errorf("%d refused", n)
		}
		for _, m := range c.asked() {
			if m.Error == nil {
				t.Errorf("answered %s", m.Append(nil))
			}
		}
	})
}

// C4: -32042 of 2025-11-25 is put to a person, then the call is made again.
func TestURLElicitationRequired(t *testing.T) {
	for action, calls := range map[mcp.Action]int{mcp.Accept: 2, mcp.Decline: 1} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			p := &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
				if n++; n == 1 && c.claim(id) {
					c.sink.Message(id, jsonrpc.Refuse(jsonrpc.IntID(id), &jsonrpc.Error{Code: mcp.CodeURLElicitation, Data: json.RawMessage(`{"elicitations":[{"mode":"url","url":"https://x.example/","elicitationId":"e","message":"m"}]}`)}))
					return
				}
				c.result(id, `{"content":[]}`)
			})}
			s := start(t, p, func(c *Config) {
				c.Elicit = func(_ context.Context, e Elicitation) (mcp.ElicitResult, error) {
					if e.Mode != "url" || e.URL != "https://x.example/" || e.Call != "echo" {
						t.Errorf("asked %+v", e)
					}
					return mcp.ElicitResult{Action: action}, nil
				}
			})
			synctest.Wait()
			_, err := s.CallTool(background, "echo", nil, nil)
			if (err == nil) != (action == mcp.Accept) || p.count(mcp.MethodToolsCall) != calls {
				t.Errorf("%s: got %v after %d calls", action, err, p.count(mcp.MethodToolsCall))
			}
		})
	}
}
