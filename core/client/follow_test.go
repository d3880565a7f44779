package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// announcer is a server in memory that announces changes of resources.
type announcer struct {
	peer
	legacy bool
	// leaves out what it does not announce; refuses every stream or
	// subscription.
	leavesOut string
	refuses   bool

	mu   sync.Mutex
	open map[int64]*listenReq // listen streams
	subs []string             // of the legacy session
	conn *peerConn
}

type listenReq struct {
	c    *peerConn
	uris []string
}

func announcing(a *announcer) *announcer {
	a.open = map[int64]*listenReq{}
	a.answer = a.serve
	return a
}

func (a *announcer) serve(c *peerConn, id int64, r transport.Request) {
	a.mu.Lock()
	a.conn = c
	a.mu.Unlock()
	const caps = `"capabilities":{"resources":{"subscribe":true}}`
	var p struct {
		URI           string `json:"uri"`
		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	_ = json.Unmarshal(r.Params, &p)
	switch {
	case r.Method == mcp.MethodDiscover && !a.legacy:
		c.result(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],`+caps+`}`)
	case r.Method == mcp.MethodInitialize && a.legacy:
		a.mu.Lock()
		a.subs = nil
		a.mu.Unlock()
		c.result(id, `{"protocolVersion":"2025-11-25","serverInfo":{"name":"l","version":"1"},`+caps+`}`)
	case r.Method == mcp.MethodResourcesList, r.Method == mcp.MethodResourcesTemplatesList:
		c.result(id, `{"resources":[],"resourceTemplates":[]}`)
	case a.refuses:
		c.refuse(id, jsonrpc.CodeInvalidParams, "no")
	case r.Method == mcp.MethodResourcesSubscribe && a.legacy:
		a.mu.Lock()
		a.subs = append(a.subs, p.URI)
		a.mu.Unlock()
		c.result(id, `{}`)
	case r.Method == mcp.MethodResourcesUnsubscribe && a.legacy:
		a.mu.Lock()
		a.subs = slices.DeleteFunc(a.subs, func(s string) bool { return s == p.URI })
		a.mu.Unlock()
		c.result(id, `{}`)
	case r.Method == mcp.MethodListen && !a.legacy:
		uris := slices.DeleteFunc(p.Notifications.URIs, func(s string) bool { return s == a.leavesOut })
		a.mu.Lock()
		a.open[id] = &listenReq{c, uris}
		a.mu.Unlock()
		b, _ := json.Marshal(uris)
		c.notify(id, mcp.NotifySubscriptionAccepted, fmt.Sprintf(`"notifications":{"resourceSubscriptions":%s}`, b))
	default:
		c.refuse(id, jsonrpc.CodeMethodNotFound, "no")
	}
}

// notify sends a notification about the stream id, as the binding would.
func (c *peerConn) notify(id int64, method, members string) {
	params := fmt.Sprintf(`{"_meta":{%q:%d},%s}`, mcp.MetaSubscriptionID, id, members)
	c.sink.Message(c.stream(id), jsonrpc.Notify(method, json.RawMessage(params)))
}

// watched returns what the server announces now: of each live stream, or of the
// legacy session.
func (a *announcer) watched() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := slices.Clone(a.subs)
	for id, l := range a.open {
		l.c.mu.Lock()
		alive := l.c.open[id] && !l.c.closed
		l.c.mu.Unlock()
		if alive {
			out = append(out, "["+strings.Join(l.uris, " ")+"]")
		}
	}
	slices.Sort(out)
	return out
}

// announce tells about a change on every live stream that carries it.
func (a *announcer) announce(uri string) {
	a.mu.Lock()
	open, conn := a.open, a.conn
	a.mu.Unlock()
	if a.legacy {
		conn.sink.Message(0, jsonrpc.Notify(mcp.NotifyResourceUpdated, json.RawMessage(fmt.Sprintf(`{"uri":%q}`, uri))))
		return
	}
	for id, l := range open {
		if l.c == conn {
			conn.notify(id, mcp.NotifyResourceUpdated, fmt.Sprintf(`"uri":%q`, uri))
		}
	}
}

// ear counts what a follower hears.
type ear struct {
	mu      sync.Mutex
	changes int
	refused int
}

func (e *ear) hear(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, ErrNotFollowed) {
		e.refused++
	} else {
		e.changes++
	}
}

// heard returns what came since the last look, after everything gathered was told.
func (e *ear) heard() (changes, refused int) {
	time.Sleep(2 * debounce)
	e.mu.Lock()
	defer e.mu.Unlock()
	changes, refused = e.changes, e.refused
	e.changes, e.refused = 0, 0
	return changes, refused
}

func wantHeard(t *testing.T, e *ear, changes, refused int) {
	t.Helper()
	if c, r := e.heard(); c != changes || r != refused {
		t.Fatalf("heard %d changes and %d refusals, want %d and %d", c, r, changes, refused)
	}
}

func wantWatched(t *testing.T, a *announcer, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := a.watched(); !slices.Equal(got, want) {
		t.Fatalf("the server announces %q, want %q", got, want)
	}
}

// inEachEra runs a test over both eras and both bindings.
func inEachEra(t *testing.T, test func(t *testing.T, a *announcer)) {
	for _, kind := range []transport.Kind{transport.HTTP, transport.Stdio} {
		for _, legacy := range []bool{false, true} {
			name := map[bool]string{false: "modern", true: "legacy"}[legacy]
			t.Run(name+" "+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					test(t, announcing(&announcer{peer: peer{kind: kind}, legacy: legacy}))
				})
			})
		}
	}
}

// one is what the server announces for one followed resource.
func (a *announcer) one(uri string) string {
	if a.legacy {
		return uri
	}
	return "[" + uri + "]"
}

// C5; basic/patterns/subscriptions; 2025-11-25 server/resources "Subscriptions".
func TestFollow(t *testing.T) {
	inEachEra(t, func(t *testing.T, a *announcer) {
		var first, second ear
		s := start(t, &a.peer)
		synctest.Wait()
		stop := s.Follow("x://a", first.hear)
		wantWatched(t, a, a.one("x://a"))

		for range 50 { // a storm is told once
			a.announce("x://a")
		}
		wantHeard(t, &first, 1, 0)
		a.announce("x://a/b") // below it
		wantHeard(t, &first, 1, 0)
		a.announce("x://ab")
		wantHeard(t, &first, 0, 0)

		// Two followers make one subscription.
		again := s.Follow("x://a", second.hear)
		wantWatched(t, a, a.one("x://a"))
		a.announce("x://a")
		wantHeard(t, &first, 1, 0)
		wantHeard(t, &second, 1, 0)
		stop()
		stop() // harmless
		wantWatched(t, a, a.one("x://a"))
		again()
		wantWatched(t, a)
		a.announce("x://a")
		wantHeard(t, &second, 0, 0)
		if n := a.count(mcp.MethodListen) + a.count(mcp.MethodResourcesSubscribe); n != 1 {
			t.Errorf("%d subscriptions were made", n)
		}
	})
}

// Who begins to follow before there is a connection is followed once there is one,
// and again on the next; what may have been missed in between is told.
func TestFollowOutlivesConnections(t *testing.T) {
	inEachEra(t, func(t *testing.T, a *announcer) {
		var e ear
		a.connect = func(n int) error {
			if n == 1 {
				return &transport.Error{Code: transport.Broken, Reason: "refused"}
			}
			return nil
		}
		s := start(t, &a.peer)
		synctest.Wait()
		defer s.Follow("x://a", e.hear)()
		time.Sleep(time.Minute)
		wantWatched(t, a, a.one("x://a"))
		e.heard()
		a.conn.die(&transport.Error{Code: transport.Broken, Reason: "reset"})
		time.Sleep(time.Minute)
		wantWatched(t, a, a.one("x://a"))
		wantHeard(t, &e, 1, 0)
	})
}

// A server that does not announce changes, or not of this resource, says so to the
// follower once, and is not asked again.
func TestFollowRefused(t *testing.T) {
	inEachEra(t, func(t *testing.T, a *announcer) {
		var e ear
		a.refuses = true
		s := start(t, &a.peer)
		time.Sleep(time.Minute) // until the announcement of the start has passed
		stop := s.Follow("x://a", e.hear)
		wantHeard(t, &e, 0, 1)
		stop()
		time.Sleep(time.Hour)
		wantHeard(t, &e, 0, 0)
		if n := a.count(mcp.MethodListen) + a.count(mcp.MethodResourcesSubscribe); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A server without the capability is never asked (field case 48).
func TestFollowUndeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		p := &peer{answer: modern(done)}
		s := start(t, p)
		synctest.Wait()
		defer s.Follow("x://a", e.hear)()
		wantHeard(t, &e, 0, 1)
		if p.count(mcp.MethodListen) != 0 {
			t.Error("the server was asked")
		}
	})
}

// basic/patterns/subscriptions "Acknowledgment": what the server left out is not
// followed, the rest is.
func TestFollowLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var in, out ear
		a := announcing(&announcer{leavesOut: "x://out"})
		s := start(t, &a.peer)
		synctest.Wait()
		defer s.Follow("x://in", in.hear)()
		wantWatched(t, a, "[x://in]")
		defer s.Follow("x://out", out.hear)()
		wantHeard(t, &out, 0, 1)
		wantWatched(t, a, "[x://in]")
		a.announce("x://in")
		wantHeard(t, &in, 1, 0)
		if n := a.count(mcp.MethodListen); n != 2 {
			t.Errorf("%d streams were opened", n)
		}
	})
}

// While what is wanted changes, every moment has a stream that carries what was
// wanted before: the next is acknowledged before the old one is cancelled.
func TestStreamsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		a := announcing(&announcer{})
		s := start(t, &a.peer)
		synctest.Wait()
		defer s.Follow("x://a", e.hear)()
		synctest.Wait()
		serve := a.answer
		hold := make(chan struct{})
		a.answer = func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodListen {
				<-hold
			}
			serve(c, id, r)
		}
		defer s.Follow("x://b", func(error) {})()
		wantWatched(t, a, "[x://a]")
		a.announce("x://a")
		wantHeard(t, &e, 1, 0)
		close(hold)
		wantWatched(t, a, "[x://a x://b]")
	})
}

// E6: a new session knows no subscriptions.
func TestSubscribedAgainAfterRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		a := announcing(&announcer{legacy: true})
		lost := false
		serve := a.answer
		a.answer = func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodToolsCall && !lost {
				lost = true
				c.fail(id, &transport.Error{Code: transport.SessionRejected})
				return
			}
			serve(c, id, r)
		}
		s := start(t, &a.peer)
		synctest.Wait()
		defer s.Follow("x://a", e.hear)()
		wantWatched(t, a, "x://a")
		e.heard()
		_, _ = s.CallTool(background, "t", nil, nil)
		wantWatched(t, a, "x://a")
		wantHeard(t, &e, 1, 0)
		if n := a.count(mcp.MethodInitialize); n != 2 {
			t.Errorf("%d handshakes", n)
		}
	})
}

// A lost stream is opened again, and what may have been missed is told.
func TestLostStreamIsMadeGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		a := announcing(&announcer{})
		s := start(t, &a.peer)
		synctest.Wait()
		defer s.Follow("x://a", e.hear)()
		wantWatched(t, a, "[x://a]")
		e.heard()
		for id, l := range a.open {
			l.c.result(id, `{"resultType":"complete"}`) // a graceful end
		}
		wantWatched(t, a)
		time.Sleep(time.Second)
		wantWatched(t, a, "[x://a]")
		wantHeard(t, &e, 1, 0)
	})
}

// The number of followed resources is bounded.
func TestFollowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		s := start(t, &peer{connect: func(int) error { return &transport.Error{Code: transport.Broken} }})
		for i := range maxFollowed {
			defer s.Follow(fmt.Sprint("x://", i), func(error) {})()
		}
		s.Follow("x://more", e.hear)()
		wantHeard(t, &e, 0, 1)
		defer s.Follow("x://1", e.hear)()
		wantHeard(t, &e, 0, 0)
	})
}
