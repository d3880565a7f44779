package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

func wantIdle(t *testing.T, s *Session) {
	t.Helper()
	if st := s.Status(); st.InFlight != 0 || st.Queued != 0 {
		t.Errorf("%d in flight, %d queued", st.InFlight, st.Queued)
	}
}

// Acceptance 51, T1: outcomes of requests that nobody waits for change nothing.
func TestUnknownOutcomesAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) {
			for _, unknown := range []int64{0, -1, id + 1, id + 1000, 1} { // 1 has ended long ago
				c.sink.Message(unknown, jsonrpc.Reply(jsonrpc.IntID(unknown), []byte(`{"content":[{"type":"text","text":"stolen"}]}`)))
				c.sink.Message(0, jsonrpc.Refuse(jsonrpc.IntID(unknown), jsonrpc.Errorf(-32603, "stolen")))
				c.sink.Failed(unknown, &transport.Error{Code: transport.SessionRejected})
				c.sink.Settled(unknown)
				c.sink.Alive(unknown)
			}
			c.result(id, `{"content":[]}`)
		})}
		s := start(t, p)
		synctest.Wait()
		for range 2 {
			if result, err := s.CallTool(background, "echo", nil, nil); err != nil || string(result) != `{"content":[]}` {
				t.Errorf("got %s, %v", result, err)
			}
		}
		if st := wantState(t, s, Ready); st.LastErr != nil || p.connects() != 1 {
			t.Errorf("%v after %d connections", st.LastErr, p.connects())
		}
		wantIdle(t, s)
	})
}

// Acceptance 95, C2: after requests that timed out the session serves the next one.
func TestCallAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent atomic.Bool
		silent.Store(true)
		p := &peer{answer: legacy(notFound, func(c *peerConn, id int64, r transport.Request) {
			if !silent.Load() {
				done(c, id, r)
			}
		})}
		s := start(t, p, func(c *Config) { c.Limits.Total = 10 * time.Second })
		synctest.Wait()
		var wg sync.WaitGroup
		for range 3 { // one on the wire, two in the queue
			wg.Go(func() {
				_, err := s.CallTool(background, "echo", nil, nil)
				wantCode(t, err, transport.Timeout)
			})
		}
		wg.Wait()
		wantIdle(t, s)
		silent.Store(false)
		if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
			t.Error(err)
		}
		wantIdle(t, s)
	})
}

// Acceptance 93 and 103: a request that failed in its own way leaves no slot taken,
// and the next call works.
func TestCallAfterAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(c *peerConn, id int64)
		want func(error) bool
	}{
		"an error": {func(c *peerConn, id int64) { c.refuse(id, -32000, "no") }, func(err error) bool {
			rpc, ok := err.(*jsonrpc.Error)
			return ok && rpc.Code == -32000 && rpc.Message == "no"
		}},
		"null": {func(c *peerConn, id int64) { c.result(id, `null`) }, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.Invalid, Reason: mcp.MethodToolsCall})
		}},
		"a text": {func(c *peerConn, id int64) { c.result(id, `"done"`) }, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.Invalid, Reason: mcp.MethodToolsCall})
		}},
		"HTTP 500": {func(c *peerConn, id int64) { c.fail(id, httpFailure(500)) }, func(err error) bool {
			return errors.Is(err, &transport.Error{Code: transport.HTTPStatus})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				p := &peer{answer: legacy(notFound, func(conn *peerConn, id int64, r transport.Request) {
					if calls.Add(1) == 1 {
						c.end(conn, id)
						return
					}
					done(conn, id, r)
				})}
				s := start(t, p) // serialized: a slot that stays taken would stop all
				synctest.Wait()
				if _, err := s.CallTool(background, "echo", nil, nil); !c.want(err) {
					t.Errorf("got %v", err)
				}
				wantIdle(t, s)
				if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
					t.Error(err)
				}
				if st := wantState(t, s, Ready); p.connects() != 1 || st.LastErr != nil {
					t.Errorf("%v after %d connections", st.LastErr, p.connects())
				}
			})
		})
	}
}

// mute is a dialer whose connections refuse to send one method.
type mute struct {
	*peer
	method string
}

func (m mute) Connect(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	c, err := m.peer.Connect(ctx, sink)
	if err != nil {
		return nil, err
	}
	return muteConn{c, m.method}, nil
}

type muteConn struct {
	transport.Conn
	method string
}

func (c muteConn) Send(id int64, r transport.Request) error {
	if r.Method == c.method {
		return &transport.Error{Code: transport.Broken, Reason: "closed"}
	}
	return c.Conn.Send(id, r)
}

// Acceptance 24, 25, 105, C1: a handshake that the transport refuses to send, or that
// the server refuses, leaves nothing behind and is tried again; the error is the cause.
func TestFailedHandshakeLeavesNothing(t *testing.T) {
	refuses := func(c *peerConn, id int64, r transport.Request) {
		if r.Method == mcp.MethodInitialize {
			c.refuse(id, -32603, "not today")
			return
		}
		notFound(c, id)
	}
	for name, c := range map[string]struct {
		muted  string
		answer func(c *peerConn, id int64, r transport.Request)
		want   error
	}{
		"initialize is not sent":         {mcp.MethodInitialize, legacy(notFound, done), &transport.Error{Code: transport.Broken, Reason: "closed"}},
		"initialized is not sent":        {mcp.NotifyInitialized, legacy(notFound, done), &transport.Error{Code: transport.Broken, Reason: "closed"}},
		"the probe is not sent":          {mcp.MethodDiscover, legacy(notFound, done), &transport.Error{Code: transport.Broken, Reason: "closed"}},
		"initialize is refused":          {"", refuses, nil},
		"initialize is never answered":   {"", legacy(notFound, done), &transport.Error{Code: transport.Timeout}},
		"initialize is answered by null": {"", legacy(notFound, done), &transport.Error{Code: transport.Invalid, Reason: mcp.MethodInitialize}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := c.answer
				p := &peer{answer: func(conn *peerConn, id int64, r transport.Request) {
					switch {
					case r.Method == mcp.MethodInitialize && name == "initialize is never answered":
					case r.Method == mcp.MethodInitialize && name == "initialize is answered by null":
						conn.result(id, `null`)
					default:
						answer(conn, id, r)
					}
				}}
				table := era.NewVerdicts()
				s := start(t, p, func(cfg *Config) {
					cfg.Dialer, cfg.Verdicts = mute{p, c.muted}, table
					cfg.Limits.Handshake = 100 * time.Millisecond
				})
				time.Sleep(200 * time.Millisecond)
				synctest.Wait()
				st := wantState(t, s, Retrying)
				var rpc *jsonrpc.Error
				if c.want == nil && (!errors.As(st.Err, &rpc) || rpc.Message != "not today") || c.want != nil && !errors.Is(st.Err, c.want) {
					t.Errorf("got %v", st.Err)
				}
				wantIdle(t, s)
				if _, ok := table.Get(testKey, time.Hour); ok {
					t.Error("a verdict was cached")
				}
				time.Sleep(2 * time.Second)
				if p.connects() < 2 {
					t.Error("it was not tried again")
				}
			})
		})
	}
}

// Acceptance 20, 101, C1: calls fail at once and say why while there is no connection;
// one that came up in the end serves them.
func TestCallsWithoutAConnection(t *testing.T) {
	spawn := &transport.Error{Code: transport.Spawn, Reason: "not_found"}
	reset := &transport.Error{Code: transport.Broken, Reason: "refused"}
	for name, cause := range map[string]*transport.Error{"a missing command": spawn, "a server that is down": reset} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{kind: transport.Stdio, answer: legacy(notFound, done)}
				p.connect = func(n int) error {
					if n == 1 {
						return cause
					}
					return nil
				}
				s := start(t, p)
				synctest.Wait()
				began := time.Now()
				_, err := s.CallTool(background, "echo", nil, nil)
				wantCode(t, err, transport.NotReady)
				if !errors.Is(err, cause) || time.Since(began) != 0 {
					t.Errorf("got %v after %v", err, time.Since(began))
				}
				if cause == spawn {
					wantState(t, s, Failed)
					s.Reconnect() // a person has corrected it
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				wantState(t, s, Ready)
				if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
