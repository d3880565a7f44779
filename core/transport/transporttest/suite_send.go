package transporttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// T1.
func oneOutcomeEach(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	const n = 50
	var wg sync.WaitGroup
	for id := int64(1); id <= n; id++ {
		wg.Go(func() { send(t, conn, id, MethodEcho, fmt.Sprintf(`{"id":%d}`, id)) })
	}
	wg.Wait()
	for id := int64(1); id <= n; id++ {
		if e := r.Outcome(t, id); e.Kind != Message || string(e.Msg.Result) != fmt.Sprintf(`{"id":%d}`, id) {
			t.Errorf("request %d ended with %v", id, e)
		}
	}
	call(t, conn, &r, n+1, MethodEcho, `{}`)
	for id := int64(1); id <= n+1; id++ {
		exactlyOne(t, &r, id)
	}
}

// A4: unusual spacing, big numbers and escapes survive both ways.
func bytesPass(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	params := `{"n": 9007199254740993, "f":1.0,"s":"\u00e9é<>&` + "\u2028" + `", "deep":[{},[ ],null], "_meta":{}}`
	if got := call(t, conn, &r, 1, MethodEcho, params); string(got) != params {
		t.Errorf("got  %s\nwant %s", got, params)
	}
}

func secondAnswerIsDropped(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	call(t, conn, &r, 1, MethodTwice, `{}`)
	call(t, conn, &r, 2, MethodEcho, `{}`)
	call(t, conn, &r, 3, MethodEcho, `{}`)
	exactlyOne(t, &r, 1)
}

func idsAreNotReused(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodHold, "")
	for _, id := range []int64{1, 0, -1} {
		if err := conn.Send(id, transport.Request{Method: MethodEcho}); err == nil {
			t.Errorf("id %d was accepted", id)
		}
	}
	call(t, conn, &r, 2, MethodEcho, `{}`)
	if got := r.Outcomes(1); len(got) != 0 {
		t.Errorf("the refused send had an outcome: %v", got)
	}
}

// T2.
func notificationIsSettled(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	const n = 5
	for id := int64(1); id <= n; id++ {
		method := fmt.Sprintf("notifications/n%d", id)
		if err := conn.Send(id, transport.Request{Method: method, Notification: true}); err != nil {
			t.Fatal(err)
		}
		if e := r.Outcome(t, id); e.Kind != Settled {
			t.Fatalf("notification %d ended with %v", id, e)
		}
	}
	got := seen(t, conn, &r, n+1).Notified
	if want := []string{"notifications/n1", "notifications/n2", "notifications/n3", "notifications/n4", "notifications/n5"}; !slices.Equal(got, want) {
		t.Errorf("the server got %v", got)
	}
	for id := int64(1); id <= n; id++ {
		if got := r.Outcomes(id); len(got) != 1 {
			t.Errorf("notification %d has outcomes %v", id, got)
		}
	}
}

// inOrder checks the NoteSeq events of one stream, or of a connection's only one.
func inOrder(t *testing.T, events []Event, stream int64, want int) {
	t.Helper()
	next := 0
	for _, e := range events {
		if e.Kind != Message || e.ID != stream || e.Msg.Method != NoteSeq {
			continue
		}
		if got := string(jsonrpc.Get(e.Msg.Params, "seq")); got != fmt.Sprint(next) {
			t.Fatalf("message %s came in place of %d", got, next)
		}
		next++
	}
	if next != want {
		t.Errorf("%d of %d messages came", next, want)
	}
}

func orderIsKept(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	const n = 300
	stream := int64(0)
	if b.Streams {
		stream = 1
	}
	call(t, conn, &r, 1, MethodFlood, flood(n, 100))
	events := r.Events()
	inOrder(t, events, stream, n)
	if last := events[len(events)-1]; !last.Ends(1) {
		t.Errorf("%v came after the response", last)
	}
}

// G4.
func streamsAreNamed(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	const calls = 4
	for id := int64(1); id <= calls; id++ {
		send(t, conn, id, MethodFlood, flood(20, 0))
	}
	for id := int64(1); id <= calls; id++ {
		r.Outcome(t, id)
	}
	count := map[int64]int{}
	for _, e := range r.Events() {
		if e.Msg.Method == NoteSeq {
			count[e.ID]++
		}
	}
	for id := int64(1); id <= calls; id++ {
		if b.Streams && count[id] != 20 {
			t.Errorf("stream %d carried %d messages, want 20", id, count[id])
		}
	}
	if !b.Streams && count[0] != calls*20 {
		t.Errorf("%v messages by stream, want all on 0", count)
	}
}

// T2, T5.
func respondArrives(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodAsk, "")
	ask := r.Noted(t, mcp.MethodRootsList)
	if want := int64(1); b.Streams && ask.ID != want {
		t.Errorf("the request came on stream %d, want %d", ask.ID, want)
	}
	reply := jsonrpc.Reply(ask.Msg.ID, json.RawMessage(`{"roots":[{"uri":"file:///a"}]}`))
	if err := conn.Respond(mcp.MethodRootsList, reply); err != nil {
		t.Fatal(err)
	}
	if e := r.Outcome(t, 1); e.Kind != Message || string(e.Msg.Result) != string(reply.Result) {
		t.Errorf("outcome %v", e)
	}
}

// T4, T8.
func failureIsAlone(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodHold, "")
	r.Noted(t, NoteHolding)
	send(t, conn, 2, MethodFail, "")
	e := r.Outcome(t, 2)
	if e.Kind != Failed {
		t.Fatalf("outcome %v", e)
	}
	if transport.CodeOf(e.Err) == "" {
		t.Errorf("failed with %#v, which is no *transport.Error", e.Err)
	}
	call(t, conn, &r, 3, MethodEcho, `{}`)
	if got := r.Outcomes(1); len(got) != 0 {
		t.Errorf("the other request ended with %v", got)
	}
	if got := r.Outcomes(2); len(got) != 1 {
		t.Errorf("the failed request has outcomes %v", got)
	}
}
