package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/breaker"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// The seam's sentences over HTTP+SSE.
func TestSSESeam(t *testing.T) {
	transporttest.Run(t, transporttest.Binding{
		Dialer: func(t *testing.T, gate transport.Gate) transport.Dialer {
			return newHTTP(t, transport.HTTPConfig{URL: serveMail(t, new(mailServer)).URL + "/sse", Gate: gate, SSE: true})
		},
		Version:   mcp.V20251125,
		DeathEnds: transport.Broken,
	})
}

// T12: initialize by POST was refused, and the stream says where messages go.
func TestOlderServerIsFoundOut(t *testing.T) {
	for name, s := range map[string]*mailServer{
		"405, relative": {endpoint: "messages?id=a%20b&stream="},
		"404, a path":   {refuse: func(w http.ResponseWriter) { http.NotFound(w, nil) }},
		"400, absolute": {endpoint: "%s/messages?stream=", refuse: func(w http.ResponseWriter) { w.WriteHeader(400) }},
		"400, another error": {refuse: func(w http.ResponseWriter) {
			w.WriteHeader(400)
			writeJSON(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveMail(t, s)
			w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse"})
			w.shake()
			listen(w)
			if got := w.call(transporttest.MethodEcho, `{"a":1}`); got != `{"a":1}` {
				t.Errorf("got %s", got)
			}
			var wire []string
			for _, r := range s.all() {
				path, _, _ := strings.Cut(r.Path, "?")
				wire = append(wire, r.HTTPMethod+" "+path+" "+r.Method)
			}
			want := []string{"POST /sse initialize", "GET /sse ", "POST /messages initialize", "POST /messages notifications/initialized", "POST /messages test/echo"}
			if !slices.Equal(wire, want) {
				t.Errorf("the server got %q", wire)
			}
		})
	}
}

// T12: an error that names the session or the version is from a newer server, and
// other statuses are about something else.
func TestNewerServerIsNotAskedForSSE(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter){
		"the session": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			writeJSON(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)
		},
		"the version": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			writeJSON(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Unsupported protocol version"}}`)
		},
		"a modern error": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			writeJSON(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`)
		},
		"401": func(w http.ResponseWriter) { w.WriteHeader(401) },
		"500": func(w http.ResponseWriter) { w.WriteHeader(500) },
	} {
		t.Run(name, func(t *testing.T) {
			s := serveMail(t, &mailServer{refuse: refuse})
			w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse"})
			if e := w.fails(mcp.MethodInitialize, `{}`); e.Code != transport.HTTPStatus {
				t.Errorf("got %v", e)
			}
			if got := s.all(); len(got) != 1 {
				t.Errorf("the server got %v", got)
			}
		})
	}
}

// Field case 41: the fallback's error does not hide the first one.
func TestBothErrorsAreShown(t *testing.T) {
	foreign := serveMail(t, new(mailServer))
	for name, c := range map[string]struct {
		server *mailServer
		words  string
	}{
		"4xx on GET": {&mailServer{open: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }}, "http (HTTP 403)"},
		"a redirect": {&mailServer{open: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, foreign.URL+"/sse", http.StatusTemporaryRedirect)
		}}, "redirect_refused (HTTP 307)"},
		"no stream": {&mailServer{open: func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, `{}`) }}, "not_mcp (other_json, HTTP 200)"},
		"no endpoint event in time": {&mailServer{open: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}}, "timeout (endpoint)"},
		"a stream that ends": {&mailServer{open: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
		}}, "transport (eof)"},
		"no answer": {&mailServer{open: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}, "timeout (endpoint)"},
		"a foreign endpoint": {
			&mailServer{endpoint: foreign.URL + "/messages"}, "blocked (endpoint)",
		},
		"an endpoint on another scheme": {&mailServer{endpoint: "file:///etc/passwd"}, "blocked (endpoint)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveMail(t, c.server)
			w := openDialer(t, transport.HTTPConfig{URL: s.URL + "/sse"}, func(d *transport.HTTPDialer) {
				if strings.HasPrefix(c.words, "timeout") {
					d.WaitForTest(300 * time.Millisecond)
				}
			})
			e := w.fails(mcp.MethodInitialize, `{}`)
			if e.Code != transport.HTTPStatus || e.Status != 405 {
				t.Errorf("the first error is lost: %v", e)
			}
			if want := "then, by HTTP+SSE: " + c.words; len(e.Words) == 0 || e.Words[len(e.Words)-1] != want {
				t.Errorf("words %q, want %q last", e.Words, want)
			}
		})
	}
	if got := foreign.all(); len(got) != 0 {
		t.Errorf("a foreign origin got %v", got)
	}
}

// T12: where the spec says so, nothing is POSTed to the URL, and no probe at all.
func TestConfiguredSSEGoesStraight(t *testing.T) {
	s := serveMail(t, new(mailServer))
	w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse", SSE: true, Headers: []transport.Header{{Name: "X-Key", Value: "k"}}})
	if e := w.outcome(w.send(mcp.MethodDiscover, `{}`)); e.Kind != transporttest.Message || e.Msg.Error == nil || e.Msg.Error.Code != -32601 {
		t.Errorf("probe: %v", e)
	}
	if got := s.all(); len(got) != 0 {
		t.Errorf("the probe was sent: %v", got)
	}
	w.shake()
	got := s.all()
	if len(got) == 0 || got[0].HTTPMethod != "GET" || got[0].Header.Get("Accept") != "text/event-stream" {
		t.Errorf("the server got %v", got)
	}
	for _, r := range got {
		if r.Header.Get("X-Key") != "k" || r.Header.Get("Mcp-Method") != "" {
			t.Errorf("headers of %s %s: %v", r.HTTPMethod, r.Path, r.Header)
		}
	}
}

// T10: the server is told by a notification.
func TestCancelOverSSE(t *testing.T) {
	s := serveMail(t, new(mailServer))
	w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse"})
	w.shake()
	id := w.send(transporttest.MethodHold, "")
	w.sink.Noted(t, transporttest.NoteHolding)
	if !w.conn.Cancel(id) {
		t.Fatal("cancel did not win")
	}
	deadline := time.Now().Add(transporttest.Patience)
	for {
		var seen transporttest.Seen
		if err := json.Unmarshal([]byte(w.call(transporttest.MethodSeen, "")), &seen); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(seen.Notified, mcp.NotifyCancelled) && len(seen.Cancelled) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server was not told: %+v", seen)
		}
	}
}

// An endpoint that is gone ends the connection, so that the session starts over.
func TestLostEndpointEndsTheConnection(t *testing.T) {
	s := serveMail(t, &mailServer{post: func(w http.ResponseWriter, _ *http.Request, body string) bool {
		if strings.Contains(body, transporttest.MethodEcho) {
			http.NotFound(w, nil)
			return true
		}
		return false
	}})
	w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse"})
	w.shake()
	w.send(transporttest.MethodEcho, "")
	e := w.sink.First(t, "closed", func(e transporttest.Event) bool { return e.Kind == transporttest.Closed })
	if transport.CodeOf(e.Err) != transport.SessionRejected {
		t.Errorf("closed with %v", e.Err)
	}
}

// T8: an event over the limit ends the stream, which carries no way to skip it.
func TestTooLargeEventOverSSE(t *testing.T) {
	s := serveMail(t, new(mailServer))
	w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse", Limits: transport.Limits{MaxBytes: 1000}})
	w.shake()
	w.send(transporttest.MethodEcho, `{"pad":"`+strings.Repeat("x", 2000)+`"}`)
	e := w.sink.First(t, "closed", func(e transporttest.Event) bool { return e.Kind == transporttest.Closed })
	if transport.CodeOf(e.Err) != transport.TooLarge {
		t.Errorf("closed with %v", e.Err)
	}
}

// T9: Close is bounded while the endpoint is waited for.
func TestCloseWhileTheEndpointIsAwaited(t *testing.T) {
	asked := make(chan struct{})
	s := serveMail(t, &mailServer{open: func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}})
	w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse"})
	w.send(mcp.MethodInitialize, `{}`)
	<-asked
	begin := time.Now()
	w.conn.Close()
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// C8: the answer to initialize decides, whichever way it came. The table starts with
// one failure, as in TestBreakerVotes.
func TestSSEVotes(t *testing.T) {
	const success, nothing, failure = 0, 1, 2
	answer := func(status int) *mailServer {
		return &mailServer{post: func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.WriteHeader(status)
			return true
		}}
	}
	for name, c := range map[string]struct {
		server *mailServer
		method string
		want   int
	}{
		"initialize, result":    {new(mailServer), mcp.MethodInitialize, success},
		"initialize, no stream": {&mailServer{open: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }}, mcp.MethodInitialize, failure},
		"initialize, 503":       {answer(503), mcp.MethodInitialize, failure},
		"the probe, not sent":   {new(mailServer), mcp.MethodDiscover, nothing},
		"ordinary, 202":         {new(mailServer), transporttest.MethodEcho, success},
		"ordinary, 503":         {answer(503), transporttest.MethodEcho, failure},
		"ordinary, 422":         {answer(422), transporttest.MethodEcho, success},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveMail(t, c.server)
			table := breaker.NewTable(9, time.Hour)
			w := openWeb(t, transport.HTTPConfig{URL: s.URL + "/sse", Breakers: table, SSE: true})
			lease, err := table.Allow(w.origin)
			if err != nil {
				t.Fatal(err)
			}
			lease.Failure()
			w.outcome(w.send(c.method, `{}`))
			eventually(t, "the vote", func() bool { return table.State(w.origin).Failures == c.want })
		})
	}
}
