package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// listing answers tools/list by page; the page's cursor is its argument.
func listing(page func(cursor string, present bool) string) func(*peerConn, int64, transport.Request) {
	return func(c *peerConn, id int64, r transport.Request) {
		if r.Method != mcp.MethodToolsList {
			modern(done)(c, id, r)
			return
		}
		raw := jsonrpc.Get(r.Params, "cursor")
		var cursor string
		_ = json.Unmarshal(raw, &cursor)
		c.result(id, page(cursor, raw != nil))
	}
}

func tool(name string) string { return `{"name":"` + name + `","inputSchema":{"type":"object"}}` }

// Top case 17, C5, field case 58: presence of the cursor decides, repeats and bounds
// stop the loop, and the list says that it is incomplete.
func TestCursors(t *testing.T) {
	for name, c := range map[string]struct {
		page       func(cursor string, present bool) string
		want       int
		incomplete bool
		requests   int
	}{
		"an empty cursor for ever": {func(string, bool) string { return `{"tools":[` + tool("a") + `],"nextCursor":""}` }, 1, true, 2},
		"an empty cursor and a real second page": {func(_ string, present bool) string {
			if present {
				return `{"tools":[` + tool("b") + `]}`
			}
			return `{"tools":[` + tool("a") + `],"nextCursor":""}`
		}, 2, false, 2},
		"the same cursor for ever": {func(string, bool) string { return `{"tools":[` + tool("a") + `],"nextCursor":"x"}` }, 1, true, 2},
		"a null cursor is none":    {func(string, bool) string { return `{"tools":[` + tool("a") + `],"nextCursor":null}` }, 1, false, 1},
		"a fresh cursor for ever": {func(cur string, _ bool) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%s"}`, tool("t"+fmt.Sprint(len(cur))), cur+"n")
		}, maxPages, true, maxPages},
		"none at all": {func(string, bool) string { return `{"tools":[]}` }, 0, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: listing(c.page)}
				s := start(t, p)
				synctest.Wait()
				l := s.Status().Lists[Tools]
				if l.Count != c.want || l.Incomplete != c.incomplete || p.count(mcp.MethodToolsList) != c.requests {
					t.Errorf("got %+v after %d requests", l, p.count(mcp.MethodToolsList))
				}
			})
		})
	}
}

// Top case 16, C6, field case 52: a good tool works whatever stands next to it.
func TestOddNeighbours(t *testing.T) {
	for odd, invalid := range map[string]bool{
		`{"name":"odd"}`:                    false,
		`{"name":"odd","inputSchema":null}`: false,
		`{"name":"odd","inputSchema":{"type":"object","properties":{"required":["coin"]}}}`: false,
		`{"inputSchema":{}}`: true,
		`{"name":7}`:         true,
		`"nonsense"`:         true,
		tool("good"):         true, // a duplicate
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{answer: listing(func(string, bool) string { return `{"tools":[` + tool("good") + `,` + odd + `]}` })}
			s := start(t, p)
			synctest.Wait()
			ts := s.Tools()
			if len(ts) != 2 || ts[0].Invalid != "" || ts[0].Oddity != "" || (ts[1].Invalid != "") != invalid || ts[1].Invalid == "" && ts[1].Oddity == "" {
				t.Errorf("%s: got %+v", odd, ts)
			}
			if _, err := s.CallTool(background, "good", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// Field case 48: only declared lists are asked for; a declared one that is unknown is
// empty with a note; odd capability types are tolerated.
func TestOnlyDeclaredListsAreAskedFor(t *testing.T) {
	for caps, want := range map[string][]string{
		`{"tools":{}}`:                   {mcp.MethodToolsList},
		`{"resources":{}}`:               {mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList},
		`{}`:                             nil,
		`{"tools":null}`:                 nil,
		`{"tools":true}`:                 {mcp.MethodToolsList},
		`{"tools":{},"prompts":{"x":1}}`: {mcp.MethodToolsList, mcp.MethodPromptsList},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
				if r.Method == mcp.MethodDiscover {
					c.result(id, `{"supportedVersions":["2026-07-28"],"capabilities":`+caps+`}`)
					return
				}
				c.refuse(id, jsonrpc.CodeMethodNotFound, "no")
			}}
			s := start(t, p)
			synctest.Wait()
			st := wantState(t, s, Ready)
			for _, m := range want {
				if p.count(m) != 1 {
					t.Errorf("%s: %s was asked %d times", caps, m, p.count(m))
				}
			}
			if n := len(p.methods()); n != 1+len(want) {
				t.Errorf("%s: the wire saw %v", caps, p.methods())
			}
			for k, l := range st.Lists {
				if l.Count != 0 || l.Err != nil || (l.Note != "") != (p.count(k.method()) > 0) {
					t.Errorf("%s: %s is %+v", caps, k, l)
				}
			}
		})
	}
}

// C5, field case 86: a storm of list_changed makes one running and one queued refresh;
// a server that announces a change after every list is asked less and less often.
func TestChangeStorms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := make(chan *peerConn, 1)
		version := 0
		p := &peer{}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodToolsCall {
				version++
				for range 200 {
					c.sink.Message(0, jsonrpc.Notify(mcp.NotifyToolsChanged, nil))
				}
				conns <- c
			}
			if r.Method == mcp.MethodToolsList {
				c.result(id, `{"tools":[`+tool(fmt.Sprint("v", version))+`]}`)
				return
			}
			modern(done)(c, id, r)
		}
		s := start(t, p)
		synctest.Wait()
		if _, err := s.CallTool(background, "x", nil, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n := p.count(mcp.MethodToolsList); n != 2 {
			t.Errorf("%d lists", n)
		}
		if s.Tools()[0].Name != "v1" {
			t.Errorf("the list is stale: %v", s.Tools()[0].Name)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			modern(done)(c, id, r)
			if r.Method == mcp.MethodToolsList {
				c.sink.Message(0, jsonrpc.Notify(mcp.NotifyToolsChanged, nil))
			}
		}
		start(t, p)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := p.count(mcp.MethodToolsList); n > 25 {
			t.Errorf("%d lists in 10 minutes", n)
		}
	})
}

// Acceptance 45: only the answer to tools/list sets the tools.
func TestOnlyListsSetTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: modern(func(c *peerConn, id int64, r transport.Request) { c.result(id, `{"tools":[]}`) })}
		s := start(t, p)
		synctest.Wait()
		if _, err := s.CallTool(background, "echo", nil, nil); err != nil {
			t.Fatal(err)
		}
		if len(s.Tools()) != 1 {
			t.Error("a tools/call result changed the tools")
		}
	})
}

// C5, field case 27: a list that cannot be fetched is an error, never "0 tools".
func TestFailedListIsNotEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answer: func(c *peerConn, id int64, r transport.Request) {
			if r.Method == mcp.MethodToolsList {
				c.fail(id, &transport.Error{Code: transport.TooLarge, Limit: 16 << 20})
				return
			}
			modern(done)(c, id, r)
		}}
		s := start(t, p)
		synctest.Wait()
		st := wantState(t, s, Ready)
		if l := st.Lists[Tools]; l.Count != -1 || transport.CodeOf(l.Err) != transport.TooLarge {
			t.Errorf("got %+v", l)
		}
	})
}

// C3, C5; basic/patterns/subscriptions: one listen stream, re-established after loss.
func TestListenIsReestablished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []time.Time
		p := &peer{}
		p.answer = func(c *peerConn, id int64, r transport.Request) {
			switch r.Method {
			case mcp.MethodDiscover:
				c.result(id, strings.Replace(discovered, `"tools":{}`, `"tools":{"listChanged":true}`, 1))
			case mcp.MethodListen:
				if !r.Listen || string(jsonrpc.Get(r.Params, "notifications")) != `{"toolsListChanged":true}` {
					t.Errorf("asked for %s", r.Params)
				}
				if len(lost) < 3 {
					lost = append(lost, time.Now())
					c.fail(id, &transport.Error{Code: transport.Broken, Reason: "reset"})
				}
			default:
				modern(done)(c, id, r)
			}
		}
		s := start(t, p)
		time.Sleep(24 * time.Hour) // knows no silence (T8)
		synctest.Wait()
		st := wantState(t, s, Ready)
		if n := p.count(mcp.MethodListen); n != 4 || st.InFlight != 0 {
			t.Errorf("%d streams, %d slots taken", n, st.InFlight)
		}
		if p.count(mcp.MethodToolsList) > 4 {
			t.Error("polled")
		}
	})
}
