package transport_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// E6, field cases 31 and 32: what says that the session is gone, and what does not.
func TestSessionRejected(t *testing.T) {
	for name, c := range map[string]struct {
		lost     fakeserver.Answer
		rejected bool
	}{
		"404 with an error":       {fakeserver.RPCError(404, -32001, "Session not found", false), true},
		"404 alone":               {fakeserver.Status(404), true},
		"404 page":                {fakeserver.Page(404), true},
		"404, method not found":   {fakeserver.RPCError(404, -32601, "Method not found", true), false},
		"400 by name":             {fakeserver.RPCError(400, -32000, "Bad Request: No valid session ID provided", false), true},
		"400, not initialized":    {fakeserver.ServerNotInitialized(), true},
		"400 about another thing": {fakeserver.RPCError(400, -32602, "Invalid params", true), false},
		"400 alone":               {fakeserver.Status(400), false},
		"503 by name":             {fakeserver.RPCError(503, -32000, "session expired", false), true},
		"503 alone":               {fakeserver.Status(503), false},
		"401 by name":             {fakeserver.RPCError(401, -32000, "session expired", false), false},
		"200 by name, id null":    {fakeserver.RPCError(200, -32600, "Unknown session", false), true},
		"200 unnamed, id null":    {fakeserver.RPCError(200, -32600, "Invalid Request", false), false},
		"200, a tool's own words": {fakeserver.RPCError(200, -32000, "browser session not found", true), false},
		"405":                     {fakeserver.Status(405), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Lost: c.lost})
			w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
			w.shake()
			srv.DropSessions()
			e := w.outcome(w.send(mcp.MethodToolsCall, `{"name":"echo"}`))
			if got := transport.CodeOf(e.Err) == transport.SessionRejected; got != c.rejected {
				t.Fatalf("outcome %v", e)
			}
			// A request that carried no session id cannot have lost one.
			if e := w.outcome(w.send(mcp.MethodDiscover, `{`+modernMeta+`}`)); transport.CodeOf(e.Err) == transport.SessionRejected {
				t.Errorf("the probe ended with %v", e)
			}
			w.shake()
			w.call(mcp.MethodToolsList, `{}`)
		})
	}
}

// 2025-11-25 "Session Management": the session is given back, once, and Close does
// not wait for a server that hangs over it.
func TestCloseEndsSession(t *testing.T) {
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL, Headers: []transport.Header{{Name: "Authorization", Value: "Bearer x"}}})
	w.shake()
	w.conn.Close()
	w.conn.Close()
	if n := srv.Count(http.MethodDelete); n != 1 {
		t.Fatalf("%d DELETEs", n)
	}
	for _, r := range srv.Requests() {
		if r.HTTPMethod != http.MethodDelete {
			continue
		}
		if r.Header.Get(mcp.HeaderSession) != "session-1" || r.Header.Get(mcp.HeaderVersion) != "2025-11-25" || r.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("the DELETE carries %v", r.Header)
		}
		noHeader(t, r, "Content-Type")
	}

	srv = fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"DELETE": {Hang: true}}})
	w = openWeb(t, transport.HTTPConfig{URL: srv.URL})
	w.shake()
	begin := time.Now()
	w.conn.Close()
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("close took %v", took)
	}
}

// Without a session, and to a modern server, there is nothing to end.
func TestCloseWithoutSession(t *testing.T) {
	for name, h := range map[string]fakeserver.HTTP{"stateless": {Stateless: true}, "modern": {Script: fakeserver.Script{Era: fakeserver.Modern}}} {
		srv := fakeserver.StartHTTP(t, h)
		w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
		if name == "stateless" {
			w.shake()
		} else {
			w.call(mcp.MethodDiscover, `{`+modernMeta+`}`)
			w.conn.Adopt(mcp.V20260728)
		}
		w.conn.Close()
		if n := srv.Count(http.MethodDelete); n != 0 {
			t.Errorf("%s: %d DELETEs", name, n)
		}
	}
}

// T10: legacy servers are told, except about initialize; a modern one sees the
// stream close.
func TestCancelOverHTTP(t *testing.T) {
	for _, v := range []mcp.Version{mcp.V20251125, mcp.V20260728} {
		t.Run(string(v), func(t *testing.T) {
			var seen seenRequests
			closed := make(chan string, 4)
			url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
				seen.add(r, body)
				if !strings.Contains(body, `"id"`) {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				closed <- "closed"
			})
			w := openWeb(t, transport.HTTPConfig{URL: url})
			w.conn.Adopt(v)
			for _, method := range []string{mcp.MethodToolsCall, mcp.MethodInitialize} {
				id := w.send(method, `{}`)
				w.sink.First(t, "sign of life", func(e transporttest.Event) bool { return e.Kind == transporttest.Alive && e.ID == id })
				if !w.conn.Cancel(id) || w.conn.Cancel(id) {
					t.Errorf("%s: cancel must win once", method)
				}
				<-closed
			}
			if v.Legacy() {
				eventually(t, "the cancellation", func() bool { return len(seen.all()) == 3 })
			}
			w.conn.Close()
			var told []string
			for _, r := range seen.all() {
				if r.Method == mcp.NotifyCancelled {
					told = append(told, r.Body)
					noHeader(t, r, mcp.HeaderMethod)
				}
			}
			want := []string{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"cancelled by the client"}}`}
			if v.Modern() {
				want = nil
			}
			if !slices.Equal(told, want) {
				t.Errorf("told %q", told)
			}
			if events := w.sink.Events(); len(events) != 0 {
				t.Errorf("events %v", events)
			}
		})
	}
}

// Requests do not overtake notifications/initialized, though each is a POST of its
// own.
func TestHandshakeIsNotOvertaken(t *testing.T) {
	release := make(chan struct{})
	var seen seenRequests
	url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		if strings.Contains(body, mcp.NotifyInitialized) {
			<-release
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeJSON(w, reply(body, `{}`))
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.call(mcp.MethodInitialize, `{}`)
	w.conn.Adopt(mcp.V20251125)
	w.issue(transport.Request{Method: mcp.NotifyInitialized, Notification: true})
	id := w.send(mcp.MethodToolsList, "")
	eventually(t, "the notification", func() bool { return len(seen.all()) == 2 })
	time.Sleep(20 * time.Millisecond) // for what must not happen
	if n := len(seen.all()); n != 2 {
		t.Errorf("%d requests came before the handshake was complete", n-2)
	}
	close(release)
	w.outcome(id)
}

// A renewal drops the old session even if it fails.
func TestFailedRenewalLeavesNoSession(t *testing.T) {
	var seen seenRequests
	url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		if len(seen.all()) > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set(mcp.HeaderSession, "old")
		writeJSON(w, reply(body, `{}`))
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.call(mcp.MethodInitialize, `{}`)
	w.conn.Adopt(mcp.V20251125)
	w.fails(mcp.MethodToolsList, `{}`)
	w.fails(mcp.MethodInitialize, `{}`)
	w.fails(mcp.MethodToolsList, `{}`)
	var sessions []string
	for _, r := range seen.all() {
		sessions = append(sessions, r.Header.Get(mcp.HeaderSession))
	}
	if want := []string{"", "old", "", ""}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q, want %q", sessions, want)
	}
}
