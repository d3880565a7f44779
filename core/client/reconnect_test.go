package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// C1: a reconnect interrupts an attempt that hangs and does not undo the next one.
func TestReconnectDuringAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		ok := modern(done)
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			if c.n > 1 {
				ok(c, id, r)
			}
		}
		s := start(t, p)
		synctest.Wait()
		wantState(t, s, Starting)
		s.Reconnect()
		synctest.Wait()
		wantState(t, s, Ready)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := p.connects(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

// T6: a call that a reconnect cuts off ends in the closed vocabulary, as cancelled: it
// says nothing bad about the server.
func TestReconnectCancelsWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(*peerConn, int64, transport.Request) {})}
		s := start(t, p)
		synctest.Wait()
		ended := make(chan error, 1)
		go func() {
			_, err := s.CallTool(background, "echo", nil, nil)
			ended <- err
		}()
		synctest.Wait()
		s.Reconnect()
		if err := <-ended; !errors.Is(err, &transport.Error{Code: transport.Cancelled, Reason: "reconnect"}) {
			t.Errorf("got %v", err)
		}
	})
}

// C1: while a connection ends, which takes a process up to 3 s, the session is not
// called ready.
func TestEndingConnectionIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &peer{}
		ok := modern(func(*peerConn, int64, transport.Request) { <-release }) // Close waits for it
		p.answer = ok
		s := start(t, p)
		synctest.Wait()
		go func() { _, _ = s.CallTool(background, "echo", nil, nil) }()
		synctest.Wait()
		s.Reconnect()
		synctest.Wait()
		wantState(t, s, Starting)
		_, err := s.CallTool(background, "echo", nil, nil)
		if !errors.Is(err, &transport.Error{Code: transport.NotReady, Reason: string(Starting)}) {
			t.Errorf("got %v", err)
		}
		close(release)
		synctest.Wait()
		wantState(t, s, Ready)
	})
}

// Field case 109: a question goes away with its connection, in either era, and its
// call ends in the closed vocabulary (T6).
func TestQuestionEndsWithTheConnection(t *testing.T) {
	urls := json.RawMessage(`{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example","message":"m"}]}`)
	for name, answer := range map[string]func(*peerConn, int64, transport.Request){
		"modern": modern(func(c *peerConn, id int64, _ transport.Request) {
			c.result(id, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m"}}}}`)
		}),
		"legacy": legacy(notFound, func(c *peerConn, id int64, _ transport.Request) {
			if c.claim(id) {
				c.sink.Message(id, jsonrpc.Refuse(jsonrpc.IntID(id), &jsonrpc.Error{Code: mcp.CodeURLElicitation, Data: urls}))
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: answer}
				asked, gone := false, false
				s := start(t, p, func(c *Config) {
					c.Elicit = func(ctx context.Context, _ Elicitation) (mcp.ElicitResult, error) {
						asked = true
						<-ctx.Done()
						gone = true
						return mcp.ElicitResult{}, ctx.Err()
					}
				})
				synctest.Wait()
				ended := make(chan error, 1)
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				go func() {
					_, err := s.CallTool(ctx, "echo", nil, nil)
					ended <- err
				}()
				synctest.Wait()
				if !asked || gone {
					t.Fatalf("asked %v, gone %v", asked, gone)
				}
				s.Reconnect()
				synctest.Wait()
				if !gone {
					t.Fatal("the question outlives its connection")
				}
				wantCode(t, <-ended, transport.Cancelled)
			})
		})
	}
}

// T6: a question that cannot be put to a person ends its call in the closed vocabulary.
func TestUnaskableQuestionIsATransportError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, _ transport.Request) {
			c.result(id, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m"}}}}`)
		})}
		s := start(t, p, func(c *Config) {
			c.Elicit = func(context.Context, Elicitation) (mcp.ElicitResult, error) {
				return mcp.ElicitResult{}, fmt.Errorf("no window")
			}
		})
		synctest.Wait()
		_, err := s.CallTool(background, "echo", nil, nil)
		if !errors.Is(err, &transport.Error{Code: transport.Cancelled, Reason: "unasked"}) {
			t.Errorf("got %v", err)
		}
	})
}

// C5: a caller that gives up while its call refetches the list does not mark the list
// as failed.
func TestAbandonedRefetchSaysNothingAboutTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		ok := modern(func(c *peerConn, id int64, _ transport.Request) { c.refuse(id, mcp.CodeHeaderMismatch, "no") })
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodToolsList {
				if p.count(mcp.MethodToolsList) > 1 {
					return
				}
			}
			ok(c, id, r)
		}
		s := start(t, p)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		_, _ = s.CallTool(ctx, "echo", nil, nil)
		if err := s.Status().Lists[Tools].Err; err != nil || p.count(mcp.MethodToolsList) != 2 {
			t.Errorf("after %d lists: %v", p.count(mcp.MethodToolsList), err)
		}
	})
}

// E9: a kept modern verdict that the probe refutes is not what the connection used.
func TestRefutedVerdictIsNotCalledCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(done)}
		s := start(t, p)
		synctest.Wait()
		p.answer = legacy(notFound, done)
		s.Reconnect()
		synctest.Wait()
		if st := wantState(t, s, Ready); st.Version.Modern() || st.Cached {
			t.Errorf("version %s, cached %v", st.Version, st.Cached)
		}
	})
}

// T10: a call whose caller has gone before it could be sent does not reach the server.
func TestCancelledCallIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(done)}
		s := start(t, p)
		synctest.Wait()
		ctx, cancel := context.WithCancel(background)
		cancel()
		_, err := s.CallTool(ctx, "echo", nil, nil)
		wantCode(t, err, transport.Cancelled)
		if n := p.count(mcp.MethodToolsCall); n != 0 {
			t.Errorf("%d calls were sent", n)
		}
	})
}

// C5: the long debounce of a server that announced changes without end (field case 86)
// does not hold up the first listing of its next connection.
func TestNewConnectionIsListedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: legacy(notFound, done)}
		s := start(t, p)
		synctest.Wait()
		for range 12 {
			s.refresh(Tools)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		s.refresh(Tools)
		synctest.Wait()
		before := p.count(mcp.MethodToolsList)
		s.Reconnect()
		synctest.Wait()
		if n := p.count(mcp.MethodToolsList); n != before+1 {
			t.Errorf("listed %d times, want once", n-before)
		}
	})
}
