package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// notes collects the methods of what was sent, in order, uris added.
func (p *peer) notes() (got []string) {
	for {
		select {
		case x := <-p.sent:
			uri := ""
			_ = json.Unmarshal(fieldsOf(x.m.Params)["uri"], &uri)
			got = append(got, strings.TrimSpace(strings.TrimPrefix(x.m.Method, "notifications/")+" "+uri))
		default:
			return got
		}
	}
}

func watchable(t *testing.T) *Server {
	s := serve(t, Limits{}, map[string]Handler{"hi": say("hi")})
	for _, uri := range []string{"x:1", "x:2"} {
		if err := s.registry.AddResource(Resource{Definition: json.RawMessage(fmt.Sprintf(`{"uri":%q,"name":"n"}`, uri)), Handle: say("")}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// S1: list changes are coalesced, in both eras; updates go to who watches.
func TestLegacySubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watchable(t)
		a, b := connect(t, s, "a"), connect(t, s, "b")
		a.initialize(`{}`)
		b.initialize(`{}`)
		a.say(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x:1"}}`)
		if m := a.get(); string(m.Result) != `{}` {
			t.Fatalf("got %s", m.Append(nil))
		}
		for i := range 100 {
			addTool(t, s.registry, fmt.Sprint("t", i), say(""))
			s.registry.ResourceUpdated("x:1")
			s.registry.ResourceUpdated("x:2")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(a.notes()); got != "[tools/list_changed resources/updated x:1]" {
			t.Error("a got", got)
		}
		if got := fmt.Sprint(b.notes()); got != "[tools/list_changed]" {
			t.Error("b got", got)
		}
		a.say(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"x:1"}}`)
		a.get()
		s.registry.ResourceUpdated("x:1")
		s.registry.RemoveTool("no such tool")
		time.Sleep(time.Second)
		synctest.Wait()
		a.quiet()
		for _, params := range []string{`{}`, `{"uri":7}`} {
			a.say(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":%s}`, params)
			if m := a.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: got %s", params, m.Append(nil))
			}
		}
	})
}

// A legacy client hears nothing before it said it is initialized.
func TestNoNotificationBeforeInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watchable(t)
		p := connect(t, s, "c")
		p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
		p.get()
		s.registry.RemoveTool("hi")
		time.Sleep(time.Second)
		synctest.Wait()
		p.quiet()
		p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(p.notes()); got != "[tools/list_changed]" {
			t.Error("got", got)
		}
	})
}

// basic/patterns/subscriptions: acknowledgment first, only what was asked for, the
// subscription's id on everything, two streams side by side.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watchable(t)
		p := connect(t, s, "c")
		listen := func(id, filter string) {
			p.say(`{"jsonrpc":"2.0","id":%s,"method":"subscriptions/listen","params":{"notifications":%s,%s}}`, id, filter, meta(`{}`))
		}
		listen(`"a"`, `{"toolsListChanged":true,"promptsListChanged":true,"unknown":true}`)
		listen(`2`, `{"resourcesListChanged":true,"resourceSubscriptions":["x:1","x:9"]}`)
		synctest.Wait()
		acks := map[string]string{}
		for range 2 {
			m := p.get()
			f := fieldsOf(m.Params)
			if m.Method != mcp.NotifySubscriptionAccepted {
				t.Fatalf("first was %s", m.Append(nil))
			}
			acks[string(fieldsOf(f["_meta"])[mcp.MetaSubscriptionID])] = string(f["notifications"])
		}
		// Prompts are not declared here, so they are not agreed to.
		if acks[`"a"`] != `{"toolsListChanged":true}` || acks[`2`] != `{"resourcesListChanged":true,"resourceSubscriptions":["x:1","x:9"]}` {
			t.Fatal("acknowledged", acks)
		}
		s.registry.RemoveTool("hi")
		s.registry.RemoveResource("x:2")
		s.registry.ResourceUpdated("x:1")
		s.registry.ResourceUpdated("x:2")
		time.Sleep(time.Second)
		synctest.Wait()
		got := map[string]bool{}
		for len(p.sent) > 0 {
			m := p.get()
			got[string(fieldsOf(fieldsOf(m.Params)["_meta"])[mcp.MetaSubscriptionID])+" "+m.Method] = true
		}
		if len(got) != 3 || !got[`"a" notifications/tools/list_changed`] || !got[`2 notifications/resources/list_changed`] || !got[`2 notifications/resources/updated`] {
			t.Fatal("got", got)
		}
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		s.registry.ResourceUpdated("x:1")
		time.Sleep(time.Second)
		synctest.Wait()
		p.quiet()

		// A graceful end: the result, with the subscription's id.
		p.conn.Drain()
		synctest.Wait()
		if m := p.get(); m.Method != mcp.NotifyCancelled {
			t.Fatalf("got %s", m.Append(nil))
		}
		m := p.get()
		if m.ID != jsonrpc.StringID("a") || !strings.Contains(string(m.Result), `"`+mcp.MetaSubscriptionID+`":"a"`) || !strings.Contains(string(m.Result), `"resultType":"complete"`) {
			t.Fatalf("got %s", m.Append(nil))
		}
	})
}

func TestListenIsBounded(t *testing.T) {
	s := serve(t, Limits{ListensPerOwner: 1, Watched: 1}, nil)
	p, q := connect(t, s, "p"), connect(t, s, "q")
	try := func(p *peer, id int, filter string) *jsonrpc.Message {
		p.say(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{%s%s}}`, id, filter, meta(`{}`))
		return p.get()
	}
	for _, bad := range []string{``, `"notifications":7,`, `"notifications":{"resourceSubscriptions":["a","b"]},`} {
		if m := try(p, 1, bad); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: got %s", bad, m.Append(nil))
		}
	}
	if m := try(p, 1, `"notifications":{},`); m.Method != mcp.NotifySubscriptionAccepted {
		t.Fatalf("got %s", m.Append(nil))
	}
	if m := try(p, 2, `"notifications":{},`); m.Error == nil || !strings.Contains(string(m.Error.Data), "server_busy") {
		t.Fatalf("got %s", m.Append(nil))
	}
	if m := try(q, 2, `"notifications":{},`); m.Method != mcp.NotifySubscriptionAccepted {
		t.Fatalf("got %s", m.Append(nil))
	}
	p.initialize(`{}`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{}}}`)
	if m := p.get(); m.Error == nil || m.Error.Code != jsonrpc.CodeMethodNotFound {
		t.Fatalf("a legacy client got %s", m.Append(nil))
	}
}

// basic/patterns/progress: to who gave a token, only upwards, never after the end.
func TestProgress(t *testing.T) {
	release := make(chan struct{})
	late := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{"work": func(_ context.Context, call *Call) (any, error) {
		for _, n := range []float64{0, 5, 5, 3, 10} {
			call.Progress(n, 10, "")
		}
		go func() {
			<-release
			call.Progress(11, 0, "late")
			call.Log("error", "", "late")
			close(late)
		}()
		return "done", nil
	}})
	for _, token := range []string{`"t"`, `7`} {
		p := connect(t, s, "c"+token)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work",%s}}`, meta(`{}`, `"progressToken":`+token))
		for _, n := range []int{0, 5, 10} {
			x := <-p.sent
			if want := fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":10}`, token, n); x.m.Method != mcp.NotifyProgress || string(x.m.Params) != want || x.about != jsonrpc.IntID(1) {
				t.Errorf("got %s about %s, want %s", x.m.Append(nil), x.about, want)
			}
		}
		if got := text(p.get()); got != "done" {
			t.Error("got", got)
		}
		release <- struct{}{}
		<-late
		p.quiet()
		late = make(chan struct{})
	}
	p := connect(t, s, "without a token")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work",%s}}`, meta(`{}`))
	if got := text(p.get()); got != "done" {
		t.Error("got", got)
	}
	release <- struct{}{}
	<-late
}

// server/utilities/logging, in both eras.
func TestLogLevels(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"log": func(_ context.Context, call *Call) (any, error) {
		for _, l := range levels {
			call.Log(l, "x", string(l))
		}
		return "done", nil
	}})
	count := func(p *peer) (n int) {
		for ; ; n++ {
			m := p.get()
			if m.Method == "" {
				return n
			}
			if m.Method != mcp.NotifyMessage {
				t.Fatalf("got %s", m.Append(nil))
			}
		}
	}
	p := connect(t, s, "modern")
	for level, want := range map[string]int{"": 0, "debug": 8, "info": 7, "warning": 5, "emergency": 1} {
		more := []string{}
		if level != "" {
			more = append(more, fmt.Sprintf(`%q:%q`, mcp.MetaLogLevel, level))
		}
		p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log",%s}}`, meta(`{}`, more...))
		if got := count(p); got != want {
			t.Errorf("modern %q: %d messages, want %d", level, got, want)
		}
	}
	p = connect(t, s, "legacy")
	p.initialize(`{}`)
	for _, c := range []struct {
		level string
		want  int
	}{{"", 7}, {"debug", 8}, {"error", 4}, {"emergency", 1}} {
		if c.level != "" {
			p.say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":%q}}`, c.level)
			p.get()
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"log"}}`)
		if got := count(p); got != c.want {
			t.Errorf("legacy %q: %d messages, want %d", c.level, got, c.want)
		}
	}
}
