package client

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// forgetful rejects every call until a handshake that came after the last forget.
type forgetful struct {
	peer
	lost   atomic.Bool
	always bool
}

func newForgetful() *forgetful {
	f := &forgetful{}
	f.answer = func(c *peerConn, id int64, r transport.Request) {
		switch {
		case r.Method == mcp.MethodInitialize:
			f.lost.Store(f.always)
		case r.Method != mcp.MethodDiscover && f.lost.Load():
			c.fail(id, &transport.Error{Code: transport.SessionRejected, Status: 404})
			return
		}
		legacy(notFound, done)(c, id, r)
	}
	return f
}

// Acceptance 19, 21, 22; E6, top case 12, field case 31: a rejected session is
// renewed, the call repeated once, the era asked once in the background; after a
// successful round trip all of it can happen again.
func TestRejectedSessionIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForgetful()
		s := start(t, &f.peer)
		synctest.Wait()
		for round := 1; round <= 2; round++ {
			f.lost.Store(true)
			if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			time.Sleep(time.Second) // the lists' debounce
			synctest.Wait()
			if i, d := f.count(mcp.MethodInitialize), f.count(mcp.MethodDiscover); i != 1+round || d != 1+round {
				t.Errorf("round %d: %d handshakes, %d probes", round, i, d)
			}
			if n := f.count(mcp.MethodToolsList); n != 1+round {
				t.Errorf("round %d: %d lists", round, n)
			}
			wantState(t, s, Ready)
		}
	})
}

// E6: concurrent rejections make one handshake and one probe.
func TestConcurrentRejectionsShareOneRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForgetful()
		s := start(t, &f.peer, func(c *Config) { c.Limits.Concurrency = Stateless })
		synctest.Wait()
		f.lost.Store(true)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if i, d := f.count(mcp.MethodInitialize), f.count(mcp.MethodDiscover); i != 2 || d != 2 {
			t.Errorf("%d handshakes, %d probes", i, d)
		}
	})
}

// Field cases 31, 32: a server that rejects every new session too makes no loop.
func TestRenewalDoesNotLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForgetful()
		s := start(t, &f.peer)
		synctest.Wait()
		f.always = true
		f.lost.Store(true)
		_, err := s.CallTool(background, "echo", nil, nil)
		wantCode(t, err, transport.SessionRejected)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := f.count(mcp.MethodInitialize); n > 10 { // two for each attempt, which back off
			t.Errorf("%d handshakes", n)
		}
	})
}
