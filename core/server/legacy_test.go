package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// 2025-11-25 basic/transports "Session Management".
func TestSessionLifecycle(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{"hi": say("hi")}), nil)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	session := d.session("2025-11-25", `{}`)
	for _, c := range []struct {
		name, method, body string
		headers            []string
		want               int
	}{
		{"ping", "POST", ping, []string{session}, 200},
		{"with its version", "POST", ping, []string{session, "Mcp-Protocol-Version: 2025-11-25"}, 200},
		{"an unknown version", "POST", ping, []string{session, "Mcp-Protocol-Version: 1999-01-01"}, 400},
		{"no session", "POST", ping, nil, 400},
		{"no session, a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400},
		{"an unknown session", "POST", ping, []string{"Mcp-Session-Id: none"}, 404},
		{"a response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{session}, 202},
		{"an unknown method", "POST", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, []string{session}, 200},
		{"GET without a session", "GET", "", nil, 405},
		{"GET of an unknown session", "GET", "", []string{"Mcp-Session-Id: none"}, 404},
		{"GET of no stream", "GET", "", []string{session, "Accept: application/json"}, 406},
		{"GET resuming nothing", "GET", "", []string{session, "Last-Event-Id: 99-1"}, 404},
		{"GET resuming nonsense", "GET", "", []string{session, "Last-Event-Id: x"}, 404},
		{"PUT", "PUT", "", []string{session}, 405},
		{"DELETE without a session", "DELETE", "", nil, 405},
		{"DELETE of an unknown session", "DELETE", "", []string{"Mcp-Session-Id: none"}, 404},
		{"DELETE", "DELETE", "", []string{session}, 204},
		{"after DELETE", "POST", ping, []string{session}, 404},
	} {
		res := d.do(c.method, c.body, c.headers...)
		if res.StatusCode != c.want {
			t.Errorf("%s: %s", c.name, res.Status)
		}
		if c.want == 400 || c.want == 200 {
			decode(t, res)
		}
	}
	res := d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	id := res.Header.Get("Mcp-Session-Id")
	if m := decode(t, res); m.Error == nil {
		t.Errorf("got %s", m.Append(nil))
	}
	if res := d.do("POST", ping, "Mcp-Session-Id: "+id); res.StatusCode != 404 {
		t.Error("a refused initialize left a session:", res.Status)
	}
}

// S4, S7: a session is its client's only.
func TestSessionOfAnotherClient(t *testing.T) {
	d := open(t, serve(t, Limits{}, nil), func(o *HTTPOptions) { o.Authorization = password{} })
	res := d.do("POST", strings.TrimSpace(initLine), "Authorization: alice")
	decode(t, res)
	h := "Mcp-Session-Id: " + res.Header.Get("Mcp-Session-Id")
	for who, want := range map[string]int{"alice": 200, "bob": 404} {
		if res := d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, h, "Authorization: "+who); res.StatusCode != want {
			t.Errorf("%s: %s", who, res.Status)
		}
	}
}

// A server request goes out on the stream of the call it belongs to, and the answer
// comes as a POST of its own.
func TestLegacyElicitationOverHTTP(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{"name": elicitName}), nil)
	session := d.session("2025-06-18", `{"elicitation":{}}`)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"name"}}`
	e := readEvents(d.do("POST", call, session))
	ask, _ := e.message(t)
	if ask.Method != mcp.MethodElicit {
		t.Fatalf("got %s", ask.Append(nil))
	}
	if res := d.do("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"a":1}}}`, ask.ID), session); res.StatusCode != 202 {
		t.Fatal(res.Status)
	}
	if m, _ := e.message(t); text(m) != `accept{"a":1}` {
		t.Errorf("got %s", m.Append(nil))
	}
	// A client that takes no stream cannot be asked, and is told so at once.
	m := decode(t, d.do("POST", call, session, "Accept: application/json"))
	if got := text(m); !strings.HasPrefix(got, "!Error: "+ErrUnanswered.Error()) {
		t.Error("got", got)
	}
}

// Modern elicitation over HTTP: the retry is a request of its own.
func TestModernElicitationOverHTTP(t *testing.T) {
	d := open(t, serve(t, Limits{}, map[string]Handler{"twice": twice}), nil)
	more := ""
	for i, key := range []string{"one", "two", "two"} {
		m := decode(t, d.modern(fmt.Sprint(i), "tools/call", `"name":"twice"`+more))
		r := required(t, m)
		more = fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"n":%d}}}`, key, i) + state(r.State)
	}
	if got := text(decode(t, d.modern(`9`, "tools/call", `"name":"twice"`+more))); got != `{"n":0} {"n":1} {"n":2}` {
		t.Error("got", got)
	}
}

// 2025-11-25 "Resumability and Redelivery": a lost connection is no cancellation; the
// stream is resumed where it broke, with what came meanwhile, and no other stream's.
func TestResume(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, Limits{}, map[string]Handler{
		"work": func(ctx context.Context, call *Call) (any, error) {
			call.Progress(1, 3, "")
			select {
			case <-release:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			call.Progress(2, 3, "")
			return "done", nil
		},
		"hang up": func(ctx context.Context, call *Call) (any, error) {
			call.HangUp()
			<-release
			return "still here", nil
		},
	})
	d := open(t, s, nil)
	session := d.session("2025-11-25", `{}`)
	res := d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1}}}`, session)
	e := readEvents(res)
	first, _ := e.next()
	if first.data != "" || first.id == "" || first.retry == "" {
		t.Fatalf("the first event is %+v", first)
	}
	_, last := e.message(t)
	_ = res.Body.Close()
	release <- struct{}{}
	for range 2 { // twice: what was replayed can be replayed again
		e = readEvents(d.do("GET", "", session, "Last-Event-Id: "+last.id))
		if m, x := e.message(t); m.Method != mcp.NotifyProgress || !strings.Contains(string(m.Params), `"progress":2`) || x.id == last.id {
			t.Fatalf("got %s", m.Append(nil))
		}
		if m, _ := e.message(t); text(m) != "done" || m.ID != jsonrpc.IntID(1) {
			t.Fatalf("got %s", m.Append(nil))
		}
		if _, more := e.next(); more {
			t.Error("the stream goes on")
		}
	}
	e = readEvents(d.do("GET", "", session, "Last-Event-Id: "+first.id))
	if m, _ := e.message(t); !strings.Contains(string(m.Params), `"progress":1`) {
		t.Errorf("from the start: got %s", m.Append(nil))
	}

	// The server hangs up, with the time to wait; the client polls.
	res = d.do("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang up"}}`, session)
	e = readEvents(res)
	primed, _ := e.next()
	for more := true; more; {
		_, more = e.next()
	}
	close(release)
	e = readEvents(d.do("GET", "", session, "Last-Event-Id: "+primed.id))
	if m, _ := e.message(t); text(m) != "still here" {
		t.Errorf("got %s", m.Append(nil))
	}
}

// Before 2025-11-25 there is no empty first event: older clients parse every event.
func TestNoPrimingForOlderClients(t *testing.T) {
	for version, primed := range map[string]bool{"2025-03-26": false, "2025-06-18": false, "2025-11-25": true} {
		d := open(t, serve(t, Limits{}, map[string]Handler{"talk": func(_ context.Context, call *Call) (any, error) {
			call.Log("info", "", "x")
			return "x", nil
		}}), nil)
		session := d.session(version, `{}`)
		e := readEvents(d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talk"}}`, session))
		if x, _ := e.next(); (x.data == "") != primed || x.id == "" {
			t.Errorf("%s: the first event is %+v", version, x)
		}
	}
}

// Cancelling is explicit in the legacy era; the call's own POST ends without answer.
func TestLegacyCancelOverHTTP(t *testing.T) {
	ended := make(chan error, 1)
	d := open(t, serve(t, Limits{}, map[string]Handler{"hang": func(ctx context.Context, call *Call) (any, error) {
		call.Log("info", "", "started")
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}), nil)
	session := d.session("2025-11-25", `{}`)
	e := readEvents(d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`, session))
	e.message(t)
	d.do("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session)
	if err := <-ended; !errors.Is(err, ErrCancelled) {
		t.Error("the handler saw", err)
	}
	if x, more := e.next(); more {
		t.Error("got", x)
	}
	// DELETE ends calls too.
	e = readEvents(d.do("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`, session))
	e.message(t)
	d.do("DELETE", "", session)
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Error("the handler saw", err)
	}
	if x, more := e.next(); more {
		t.Error("got", x)
	}
}

// A message that waits for the session's own stream is there when it opens, once; and
// a second GET takes the stream over.
func TestOwnStream(t *testing.T) {
	s := serve(t, Limits{}, map[string]Handler{"hi": say("hi")})
	d := open(t, s, nil)
	session := d.session("2025-11-25", `{}`)
	addTool(t, s.registry, "t0", say(""))
	first := d.do("GET", "", session)
	m, x := readEvents(first).message(t)
	if m.Method != mcp.NotifyToolsChanged || x.id == "" {
		t.Fatalf("got %s", m.Append(nil))
	}
	second := readEvents(d.do("GET", "", session))
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Error("the first stream:", err)
	}
	s.registry.RemoveTool("t0")
	if m, y := second.message(t); m.Method != mcp.NotifyToolsChanged || y.id == x.id {
		t.Fatalf("got %s, id %s after %s", m.Append(nil), y.id, x.id)
	}
}

// S9's spirit for sessions: bounded, the one unused for the longest goes first.
func TestSessionsAreBounded(t *testing.T) {
	d := open(t, serve(t, Limits{}, nil), func(o *HTTPOptions) { o.MaxSessions = 2 })
	ping := func(h string) int {
		return d.do("POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, h).StatusCode
	}
	a := d.session("2025-11-25", `{}`)
	b := d.session("2025-11-25", `{}`)
	if ping(a) != 200 {
		t.Fatal("a is gone")
	}
	c := d.session("2025-11-25", `{}`) // b goes
	if ping(a) != 200 || ping(b) != 404 || ping(c) != 200 {
		t.Error("the wrong session went")
	}
	// Sessions in use stay; the newcomer waits.
	for _, h := range []string{a, c} {
		d.do("GET", "", h)
	}
	if res := d.do("POST", strings.TrimSpace(initLine)); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Error("got", res.Status)
	}
}

// What ended streams hold for resumption is bounded.
func TestKeptStreamsAreBounded(t *testing.T) {
	all := &sessions{}
	all.init(1, time.Hour)
	s := serve(t, Limits{}, nil)
	sess, ok := all.open(s, "c")
	if !ok {
		t.Fatal("no session")
	}
	big := []byte(`{"x":"` + strings.Repeat("x", 100<<10) + `"}`)
	for i := range 100 {
		id := jsonrpc.IntID(int64(i))
		if _, _, ok := sess.begin(id, false); !ok {
			t.Fatal("the id is in use")
		}
		_ = sess.Send(t.Context(), jsonrpc.Reply(id, big), id)
		sess.Ended(id)
	}
	if n := len(sess.kept); n == 0 || n > maxKeptStreams || all.kept > maxKeptBytes+len(big) {
		t.Errorf("%d streams with %d bytes are kept", n, all.kept)
	}
	all.closeAll(t.Context())
	if all.kept != 0 {
		t.Error("a closed session holds", all.kept)
	}
}
