package transporttest

import (
	"sync"
	"testing"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

func blockingSinkLosesNothing(t *testing.T, b Binding) {
	gate := make(chan struct{})
	first := make(chan struct{}, 1)
	r := Recorder{}
	r.Hook = func(e Event) {
		if e.Kind == Message {
			select {
			case first <- struct{}{}:
			default:
			}
			<-gate
		}
	}
	conn := connect(t, b, &r)
	var once sync.Once
	open := func() { once.Do(func() { close(gate) }) }
	t.Cleanup(open)
	const n = 2000 // with the padding, far more than pipes and sockets buffer
	send(t, conn, 1, MethodFlood, flood(n, 1000))
	<-first
	// What goes out does not wait for what comes in.
	if err := conn.Send(2, transport.Request{Method: "notifications/x", Notification: true}); err != nil {
		t.Fatal(err)
	}
	if e := r.Outcome(t, 2); e.Kind != Settled {
		t.Errorf("notification ended with %v", e)
	}
	if got := len(r.Events()); got != 2 {
		t.Errorf("%d events came through a blocked sink", got)
	}
	open()
	r.Outcome(t, 1)
	stream := int64(0)
	if b.Streams {
		stream = 1
	}
	inOrder(t, r.Events(), stream, n)
	exactlyOne(t, &r, 1)
}

func sinkCallsBack(t *testing.T, b Binding) {
	ready := make(chan struct{})
	var conn transport.Conn
	r := Recorder{}
	errs := make(chan error, 10)
	r.Hook = func(e Event) {
		<-ready
		switch {
		case e.Kind == Message && e.Msg.Method == NoteHolding:
			errs <- conn.Send(10, transport.Request{Method: MethodEcho})
			errs <- conn.Send(11, transport.Request{Method: "notifications/x", Notification: true})
			errs <- conn.Respond("ping", jsonrpc.Reply(jsonrpc.StringID("unknown"), []byte(`{}`)))
			conn.Adopt(b.Version)
			if !conn.Cancel(1) {
				t.Error("cancel from the sink did not win")
			}
		case e.Ends(11):
			errs <- conn.Send(12, transport.Request{Method: MethodEcho})
		}
	}
	conn = connect(t, b, &r)
	close(ready)
	send(t, conn, 1, MethodHold, "")
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, id := range []int64{10, 12} {
		r.Outcome(t, id)
		exactlyOne(t, &r, id)
	}
}
