package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

// Field cases 24 and 26: every dialect of the fake server carries a session.
func TestStreamDialects(t *testing.T) {
	for name, s := range map[string]fakeserver.Stream{
		"plain": {}, "CRLF": {EOL: "\r\n"}, "CR": {EOL: "\r"},
		"everything": {EOL: "\r\n", BOM: true, Priming: true, IDs: true, Retry: 50, Comments: true, Foreign: true, Folded: true, NoSpace: true},
		"unclosed":   {Ending: fakeserver.EndsUnclosed},
		"inside":     {Ending: fakeserver.EndsInside},
		"charset":    {ContentType: "text/event-stream;charset=UTF-8"},
		"ticking":    {Every: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWeb(t, transport.HTTPConfig{URL: fakeserver.StartHTTP(t, fakeserver.HTTP{Stream: s}).URL})
			w.shake()
			if got := w.call(mcp.MethodToolsList, `{}`); !strings.Contains(got, "echo") {
				t.Errorf("tools %s", got)
			}
			w.call(mcp.MethodToolsCall, `{"name":"echo","arguments":{"text":"hi"}}`)
		})
	}
}

// Field case 37: the request fails at once.
func TestStreamEndsWithoutAnswer(t *testing.T) {
	const progress = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
	for name, c := range map[string]struct {
		answer fakeserver.Answer
		reason string
	}{
		"cleanly":          {fakeserver.Answer{ContentType: "text/event-stream", Body: progress}, "no_answer"},
		"by a cut":         {fakeserver.Answer{ContentType: "text/event-stream", Body: progress, Cut: true}, "eof"},
		"inside its event": {fakeserver.Answer{ContentType: "text/event-stream", Body: progress + "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"res", Cut: true}, "eof"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []mcp.Version{mcp.V20260728, mcp.V20251125} {
				w := openWeb(t, transport.HTTPConfig{URL: answering(t, c.answer)})
				w.conn.Adopt(v)
				begin := time.Now()
				if e := w.fails("tools/call", `{}`); e.Code != transport.Broken || e.Reason != c.reason {
					t.Errorf("failed with %v, want %s", e, c.reason)
				}
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("it took %v", took)
				}
				if e := w.sink.Noted(t, mcp.NotifyProgress); e.ID != 1 {
					t.Errorf("progress came on stream %d", e.ID)
				}
			}
		})
	}
}

// T2: a stream that is meant to stay open may end with nothing to deliver.
func TestListenStreamEnds(t *testing.T) {
	w := openWeb(t, transport.HTTPConfig{URL: answering(t, fakeserver.Answer{ContentType: "text/event-stream", Body: ": bye\n\n"})})
	w.conn.Adopt(mcp.V20260728)
	if e := w.outcome(w.issue(transport.Request{Method: mcp.MethodListen, Listen: true})); e.Kind != transporttest.Settled {
		t.Errorf("outcome %v", e)
	}
}

// T8: headers, comments and bytes are signs of life.
func TestSignsOfLife(t *testing.T) {
	step := make(chan string)
	url := handler(t, func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for s := range step {
			_, _ = io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "data: "+reply(body, `{}`)+"\n\n")
	})
	alive := make(chan struct{}, 100)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.sink.Hook = func(e transporttest.Event) {
		if e.Kind == transporttest.Alive {
			alive <- struct{}{}
		}
	}
	id := w.send("m", "")
	<-alive // the headers
	for _, s := range []string{": a comment\n", "da", "ta: {}\n\n"} {
		step <- s
		<-alive
	}
	close(step)
	w.outcome(id)
}

// A server's requests and notifications come in order, on the stream of the call
// (T5, G4).
func TestServerAsksOnTheStream(t *testing.T) {
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"tools/call": {ContentType: "text/event-stream", Body: "" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n" + goodEvent}}})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
	w.shake()
	before := len(w.sink.Events())
	id := w.send(mcp.MethodToolsCall, `{}`)
	w.outcome(id)
	var got []string
	for _, e := range w.sink.Events()[before:] {
		got = append(got, fmt.Sprint(e.ID == id, " ", e.Msg.Method))
	}
	if want := []string{"true notifications/progress", "true elicitation/create", "true notifications/message", "true "}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// script answers the GETs of a session one after the other.
type script struct {
	seenRequests
	post string   // the stream that answers tools/call
	gets []string // the streams of the GETs; one that is a number is a status
}

func (s *script) serve(w http.ResponseWriter, r *http.Request, body string) {
	s.add(r, body)
	text := s.post
	switch {
	case r.Method == http.MethodDelete:
		return
	case r.Method == http.MethodGet:
		s.mu.Lock()
		text = "405"
		if len(s.gets) > 0 {
			text, s.gets = s.gets[0], s.gets[1:]
		}
		s.mu.Unlock()
	case strings.Contains(body, `"initialize"`):
		w.Header().Set(mcp.HeaderSession, "s1")
		writeJSON(w, reply(body, `{"protocolVersion":"2025-11-25"}`))
		return
	case !strings.Contains(body, `"id"`):
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if status := 0; text != "" {
		if n, _ := fmt.Sscan(text, &status); n == 1 {
			w.WriteHeader(status)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
}

func (s *script) lastIDs() (ids []string) {
	for _, r := range s.all() {
		if r.HTTPMethod == http.MethodGet {
			ids = append(ids, r.Header.Get(mcp.HeaderLastEventID))
		}
	}
	return ids
}

// T11, field case 37: a legacy stream with event ids is resumed where it broke, after
// the time that the server asked for; a modern one never is.
func TestResume(t *testing.T) {
	const answer = "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"ok\":true}}\n\n"
	const note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
	for name, c := range map[string]struct {
		post    string
		gets    []string
		modern  bool
		ok      bool
		lastIDs []string
	}{
		"once":                       {"id: a\nretry: 20\ndata:\n\n", []string{answer}, false, true, []string{"a"}},
		"twice":                      {"retry: 20\nid: a\n" + note, []string{"id: b\n" + note, answer}, false, true, []string{"a", "b"}},
		"an id in a cut event":       {"retry: 20\nid: a\n" + note + "id: b\ndata: {\"js", []string{answer}, false, true, []string{"a"}},
		"a failing attempt":          {"retry: 20\nid: a\n" + note, []string{"", answer}, false, true, []string{"a", "a"}},
		"no progress":                {"retry: 5\nid: a\n" + note, make([]string, 20), false, false, slices.Repeat([]string{"a"}, 5)},
		"refused":                    {"retry: 5\nid: a\n" + note, []string{"405"}, false, false, []string{"a"}},
		"no ids":                     {note, nil, false, false, nil},
		"modern":                     {"retry: 5\nid: a\n" + note, []string{answer}, true, false, nil},
		"polling with new ids longs": {"retry: 5\nid: 0\ndata:\n\n", append(polls(12), answer), false, true, count(13)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{post: c.post, gets: c.gets}
			w := openWeb(t, transport.HTTPConfig{URL: handler(t, s.serve)})
			w.shake()
			if c.modern {
				w.conn.Adopt(mcp.V20260728)
			}
			id := w.send(mcp.MethodToolsCall, `{}`)
			if c.ok {
				if e := w.outcome(id); e.Kind != transporttest.Message || string(e.Msg.Result) != `{"ok":true}` {
					t.Errorf("outcome %v", e)
				}
			} else if e := w.failed(id); e.Code != transport.Broken || e.Reason != "no_answer" {
				t.Errorf("failed with %v", e)
			}
			if got := s.lastIDs(); !slices.Equal(got, c.lastIDs) {
				t.Errorf("resumed behind %q, want %q", got, c.lastIDs)
			}
			for _, r := range s.all() {
				if r.HTTPMethod == http.MethodGet && (r.Header.Get(mcp.HeaderSession) != "s1" || r.Header.Get("Accept") != "text/event-stream") {
					t.Errorf("the GET carries %v", r.Header)
				}
			}
			calls := slices.DeleteFunc(s.all(), func(r fakeserver.Request) bool { return r.Method != mcp.MethodToolsCall })
			if len(calls) != 1 {
				t.Errorf("the call was sent %d times", len(calls))
			}
		})
	}
}

func polls(n int) (streams []string) {
	for i := range n {
		streams = append(streams, fmt.Sprintf("id: %d\ndata:\n\n", i+1))
	}
	return streams
}

func count(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
	}
	return ids
}

// The wait is the server's own, not shorter.
func TestResumeWaits(t *testing.T) {
	s := &script{post: "id: a\nretry: 400\ndata:\n\n", gets: []string{"data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n\n"}}
	w := openWeb(t, transport.HTTPConfig{URL: handler(t, s.serve)})
	w.shake()
	begin := time.Now()
	w.call(mcp.MethodToolsCall, `{}`)
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("resumed after %v", took)
	}
}

// A waiting resumption ends with its request.
func TestCancelEndsResumption(t *testing.T) {
	s := &script{post: "id: a\nretry: 60000\ndata:\n\n"}
	w := openWeb(t, transport.HTTPConfig{URL: handler(t, s.serve)})
	w.shake()
	id := w.send(mcp.MethodToolsCall, `{}`)
	w.sink.First(t, "sign of life", func(e transporttest.Event) bool { return e.Kind == transporttest.Alive && e.ID == id })
	if !w.conn.Cancel(id) {
		t.Error("cancel lost")
	}
	begin := time.Now()
	w.conn.Close()
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("close took %v", took)
	}
}

// Retry waits are read with care.
func TestRetryDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "250": 250 * time.Millisecond, "0001000": time.Second, "999999999999999999999": time.Minute, "120000": time.Minute,
		"": 7, "1s": 7, "-1": 7, " 1": 7, "1.5": 7,
	} {
		if got := transport.RetryDelayForTest(text, 7); got != want {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
}

// Field case 36.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for text, want := range map[string]time.Duration{
			"": 0, "2": 2 * time.Second, " 2 ": 2 * time.Second, "99999999999": 5 * time.Minute, "-1": 0, "soon": 0, "99999999999999999999999": 0,
			now.Add(time.Minute).UTC().Format(http.TimeFormat): time.Minute,
			now.Add(time.Hour).UTC().Format(http.TimeFormat):   5 * time.Minute,
			now.Add(-time.Hour).UTC().Format(http.TimeFormat):  0,
		} {
			if got := transport.RetryAfterForTest(text); got != want {
				t.Errorf("%q gives %v, want %v", text, got, want)
			}
		}
	})
}
