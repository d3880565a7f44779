package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/internal/fakeserver"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
	"github.com/drawbridge-mcp/drawbridge/core/transport/transporttest"
)

func listen(w *web) { w.conn.(interface{ ListenLegacy() }).ListenLegacy() }

// C5: what belongs to no request comes on no stream.
func TestStandaloneStream(t *testing.T) {
	srv := fakeserver.StartHTTP(t, fakeserver.HTTP{})
	w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
	w.shake()
	listen(w)
	eventually(t, "the stream", func() bool {
		srv.Notify(mcp.NotifyToolsChanged, nil)
		return slices.ContainsFunc(w.sink.Events(), func(e transporttest.Event) bool { return e.Msg != nil && e.Msg.Method == mcp.NotifyToolsChanged })
	})
	if e := w.sink.Noted(t, mcp.NotifyToolsChanged); e.ID != 0 {
		t.Errorf("it came on stream %d", e.ID)
	}
	w.call(mcp.MethodToolsList, `{}`)
	if n := srv.Count(http.MethodGet); n != 1 {
		t.Errorf("%d GETs", n)
	}
}

// Field case 33: these all mean that there is no stream, and the connection is fine.
func TestNoStandaloneStream(t *testing.T) {
	for name, a := range map[string]fakeserver.Answer{
		"405": fakeserver.Status(405), "404": fakeserver.Status(404), "406": fakeserver.Status(406), "501": fakeserver.Status(501),
		"400": {Status: 400, Body: "No sessionId"}, "text": {ContentType: "text/plain", Body: "MCP endpoint"}, "page": fakeserver.Page(200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := fakeserver.StartHTTP(t, fakeserver.HTTP{Answers: map[string]fakeserver.Answer{"GET": a}})
			w := openWeb(t, transport.HTTPConfig{URL: srv.URL})
			w.shake()
			listen(w)
			eventually(t, "the note", func() bool {
				return w.log.count("transport: the server has no stream for messages outside of requests") == 1
			})
			time.Sleep(1500 * time.Millisecond) // longer than the first wait, for what must not happen
			if n := srv.Count(http.MethodGet); n != 1 {
				t.Errorf("%d GETs", n)
			}
			w.call(mcp.MethodToolsList, `{}`)
		})
	}
}

// 2026-07-28 has no GET.
func TestModernServersGetNoGET(t *testing.T) {
	url, seen := recording(t)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	listen(w)
	w.conn.Adopt(mcp.V20260728)
	listen(w)
	w.call(mcp.MethodToolsList, "")
	w.conn.Close()
	listen(w)
	if reqs := seen.all(); len(reqs) != 1 {
		t.Errorf("requests %v", reqs)
	}
}

// Field case 33: a stream that ends is opened again, with the id it stopped at, and
// ever more slowly while nothing comes.
func TestStandaloneStreamComesBack(t *testing.T) {
	var at [3]time.Time
	var gets atomic.Int32
	var last [3]string
	url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method != http.MethodGet {
			w.Header().Set(mcp.HeaderSession, "s")
			writeJSON(w, reply(body, `{}`))
			return
		}
		n := int(gets.Add(1)) - 1
		if n >= len(at) {
			<-r.Context().Done()
			return
		}
		at[n], last[n] = time.Now(), r.Header.Get(mcp.HeaderLastEventID)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: e%d\ndata:\n\n", n)
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.shake()
	listen(w)
	eventually(t, "the fourth GET", func() bool { return gets.Load() == 4 })
	if want := [3]string{"", "e0", "e1"}; last != want {
		t.Errorf("resumed behind %q", last)
	}
	if first, second := at[1].Sub(at[0]), at[2].Sub(at[1]); first < 900*time.Millisecond || second < 1900*time.Millisecond {
		t.Errorf("the waits were %v and %v", first, second)
	}
}

// A new handshake brings a new session and the stream with it.
func TestStandaloneStreamFollowsTheSession(t *testing.T) {
	var seen seenRequests
	var serial atomic.Int32
	url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": open\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case strings.Contains(body, mcp.NotifyInitialized):
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set(mcp.HeaderSession, fmt.Sprintf("s%d", serial.Add(1)))
			writeJSON(w, reply(body, `{}`))
		}
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	gets := func() (sessions []string) {
		for _, r := range seen.all() {
			if r.HTTPMethod == http.MethodGet {
				sessions = append(sessions, r.Header.Get(mcp.HeaderSession))
			}
		}
		return sessions
	}
	w.shake()
	listen(w)
	eventually(t, "the first stream", func() bool { return len(gets()) == 1 })
	w.shake()
	eventually(t, "the second stream", func() bool { return len(gets()) == 2 })
	if got := gets(); !slices.Equal(got, []string{"s1", "s2"}) {
		t.Errorf("streams of %q", got)
	}
}

// The TypeScript SDK refuses a second stream of a session: only one is asked for,
// and only when the handshake is complete.
func TestStandaloneStreamIsAskedForOnce(t *testing.T) {
	release := make(chan struct{})
	var seen seenRequests
	url := handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case strings.Contains(body, mcp.NotifyInitialized):
			<-release
			w.WriteHeader(http.StatusAccepted)
		default:
			writeJSON(w, reply(body, `{}`))
		}
	})
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.call(mcp.MethodInitialize, `{}`)
	w.conn.Adopt(mcp.V20251125)
	id := w.issue(transport.Request{Method: mcp.NotifyInitialized, Notification: true})
	listen(w)
	eventually(t, "the notification", func() bool { return len(seen.all()) == 2 })
	close(release)
	w.outcome(id)
	w.sink.Noted(t, mcp.NotifyMessage)
	time.Sleep(50 * time.Millisecond) // for what must not happen
	if n := len(seen.all()); n != 3 {
		t.Errorf("requests %v", seen.all())
	}
}
