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
)

// waits is a legacy server that answers GET once open is closed.
func waits(t *testing.T, open <-chan struct{}) (string, *seenRequests) {
	seen := new(seenRequests)
	return handler(t, func(w http.ResponseWriter, r *http.Request, body string) {
		seen.add(r, body)
		switch {
		case r.Method == http.MethodGet:
			select {
			case <-open:
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			case <-r.Context().Done():
			}
		case r.Method == http.MethodDelete, strings.Contains(body, mcp.NotifyInitialized):
			w.WriteHeader(http.StatusAccepted)
		case strings.Contains(body, mcp.MethodInitialize):
			w.Header().Set(mcp.HeaderSession, "s1")
			writeJSON(w, reply(body, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`))
		default:
			writeJSON(w, reply(body, `{}`))
		}
	}), seen
}

func called(seen *seenRequests) bool {
	return slices.ContainsFunc(seen.all(), func(r fakeserver.Request) bool { return r.Method == mcp.MethodToolsCall })
}

// Some servers ask outside of the call's own stream, and what they ask before the
// standalone stream stands is lost.
func TestACallWaitsForTheStandaloneStream(t *testing.T) {
	open := make(chan struct{})
	url, seen := waits(t, open)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.shake()
	began := time.Now()
	listen(w)
	call := w.send(mcp.MethodToolsCall, `{"name":"ask"}`)
	for time.Since(began) < 300*time.Millisecond {
		w.call(mcp.MethodToolsList, `{}`) // nobody is asked about a list
	}
	early := called(seen)
	if early && time.Since(began) < time.Second { // after which it would be no longer early
		t.Error("the call came before the stream")
	}
	close(open)
	w.outcome(call)
}

// A server that never answers GET delays the first calls, and no others.
func TestACallDoesNotWaitLongForTheStandaloneStream(t *testing.T) {
	url, _ := waits(t, nil)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.shake()
	began := time.Now()
	listen(w)
	w.call(mcp.MethodToolsCall, `{"name":"ask"}`)
	if waited := time.Since(began); waited < time.Second {
		t.Errorf("it waited %v for the stream", waited)
	}
	began = time.Now()
	for range 20 {
		w.call(mcp.MethodToolsCall, `{"name":"ask"}`)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("twenty later calls took %v", took)
	}
}

// A call that waits for the stream can be cancelled, and never reaches the server.
func TestAWaitingCallIsCancelled(t *testing.T) {
	url, seen := waits(t, nil)
	w := openWeb(t, transport.HTTPConfig{URL: url})
	w.shake()
	began := time.Now()
	listen(w)
	call := w.send(mcp.MethodToolsCall, `{"name":"ask"}`)
	for time.Since(began) < 300*time.Millisecond {
		w.call(mcp.MethodToolsList, `{}`)
	}
	won := w.conn.Cancel(call)
	inTime := time.Since(began) < time.Second // else the wait was over before
	if inTime && !won {
		t.Fatal("the call had ended")
	}
	w.call(mcp.MethodToolsCall, `{"name":"another"}`) // by when the wait is over
	for _, r := range seen.all() {
		if inTime && strings.Contains(r.Body, `"ask"`) && r.Method == mcp.MethodToolsCall {
			t.Error("the cancelled call came")
		}
	}
}
