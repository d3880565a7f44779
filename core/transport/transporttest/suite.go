package transporttest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// Binding is one binding under test.
type Binding struct {
	// Dialer starts a server that hosts a fresh [Server] and returns a dialer for
	// it, which asks gate. What it starts ends with the test.
	Dialer func(t *testing.T, gate transport.Gate) transport.Dialer
	// Version is adopted on each connection before its first request.
	Version mcp.Version
	// Streams says that every request has a response stream of its own; otherwise
	// all messages come on one and keep the order of the requests too.
	Streams bool
	// NoAsks says that the server cannot make requests (modern HTTP).
	NoAsks bool
	// DeathEnds says that the death of the server ends the connection with
	// Sink.Closed and this code (stdio, T4). "" means that it fails the requests
	// in flight, each alone.
	DeathEnds transport.Code
}

// Run proves the seam's sentences over b.
func Run(t *testing.T, b Binding) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Binding)
		skip bool
	}{
		{"the gate is asked before anything else", gateIsAsked, false},
		{"every connect gives a fresh connection", connectsAreIndependent, false},
		{"a done context ends connect", connectHeedsItsContext, false},
		{"concurrent requests get one outcome each", oneOutcomeEach, false},
		{"params and results are byte for byte", bytesPass, false},
		{"a second answer is dropped", secondAnswerIsDropped, false},
		{"an id in flight is refused", idsAreNotReused, false},
		{"a notification is settled once", notificationIsSettled, false},
		{"messages of a stream keep their order", orderIsKept, false},
		{"messages name their stream", streamsAreNamed, false},
		{"a blocking sink slows and loses nothing", blockingSinkLosesNothing, false},
		{"a sink may call back", sinkCallsBack, false},
		{"a response reaches the server", respondArrives, b.NoAsks},
		{"the failure of one request leaves the others", failureIsAlone, false},
		{"a cancelled request stays silent", cancelSilences, false},
		{"cancel of nothing reports false", cancelOfNothing, false},
		{"cancel and outcome exclude each other", cancelRaces, false},
		{"nothing comes after close", closeSilences, false},
		{"close is idempotent and concurrent", closeManyTimes, false},
		{"close reports nothing itself", closeReportsNothing, false},
		{"close does not wait for a blocked sink", closeWithBlockedSink, false},
		{"a sink may close", sinkCloses, false},
		{"a closed connection refuses", closedRefuses, false},
		{"death of the server ends every request", deathEndsAll, false},
		{"everything at once", everythingAtOnce, false},
	} {
		if c.skip {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, b)
		})
	}
}

// connect opens a connection that ends with the test.
func connect(t *testing.T, b Binding, sink transport.Sink) transport.Conn {
	t.Helper()
	return dial(t, b, b.Dialer(t, allow), sink)
}

func dial(t *testing.T, b Binding, d transport.Dialer, sink transport.Sink) transport.Conn {
	t.Helper()
	conn, err := d.Connect(t.Context(), sink)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(conn.Close)
	conn.Adopt(b.Version)
	return conn
}

func allow() error { return nil }

// send sends a request and fails the test if it is refused.
func send(t testing.TB, c transport.Conn, id int64, method, params string) {
	t.Helper()
	req := transport.Request{Method: method}
	if params != "" {
		req.Params = json.RawMessage(params)
	}
	if err := c.Send(id, req); err != nil {
		t.Fatalf("send %s: %v", method, err)
	}
}

// call sends a request and waits for its result.
func call(t testing.TB, c transport.Conn, r *Recorder, id int64, method, params string) json.RawMessage {
	t.Helper()
	send(t, c, id, method, params)
	e := r.Outcome(t, id)
	if e.Kind != Message || e.Msg.Result == nil {
		t.Fatalf("%s: outcome %v", method, e)
	}
	return e.Msg.Result
}

// exactlyOne fails the test unless id has one outcome and it is a result.
func exactlyOne(t testing.TB, r *Recorder, id int64) {
	t.Helper()
	if got := r.Outcomes(id); len(got) != 1 || got[0].Kind != Message {
		t.Errorf("request %d has outcomes %v", id, got)
	}
}

// seen asks the server what it noticed.
func seen(t testing.TB, c transport.Conn, r *Recorder, id int64) (s Seen) {
	t.Helper()
	if err := json.Unmarshal(call(t, c, r, id, MethodSeen, ""), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func flood(n, pad int) string { return fmt.Sprintf(`{"n":%d,"pad":%d}`, n, pad) }
