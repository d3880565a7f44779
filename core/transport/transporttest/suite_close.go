package transporttest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// closeBudget is T9's.
const closeBudget = 3 * time.Second

func closeSilences(t *testing.T, b Binding) {
	var returned atomic.Bool
	r := Recorder{}
	r.Hook = func(e Event) {
		if returned.Load() {
			t.Errorf("%v came after Close had returned", e)
		}
	}
	conn := connect(t, b, &r)
	for id := int64(1); id <= 4; id++ {
		send(t, conn, id, MethodFlood, flood(5000, 100))
	}
	r.Noted(t, NoteSeq)
	conn.Close()
	returned.Store(true)
	before := len(r.Events())
	conn.Close()
	if after := len(r.Events()); after != before {
		t.Errorf("%d events came after Close", after-before)
	}
}

func closeManyTimes(t *testing.T, b Binding) {
	var ended atomic.Bool
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodHold, "")
	r.Noted(t, NoteHolding)
	begin := time.Now()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			conn.Close()
			ended.Store(true)
			if conn.Cancel(1) {
				t.Error("a request survived Close")
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took > closeBudget+time.Second {
		t.Errorf("Close took %v", took)
	}
	conn.Close()
}

func closeReportsNothing(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodHold, "")
	r.Noted(t, NoteHolding)
	conn.Close()
	for _, e := range r.Events() {
		if e.Kind == Closed || e.Kind == Failed {
			t.Errorf("Close reported %v", e)
		}
	}
}

func closeWithBlockedSink(t *testing.T, b Binding) {
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	r := Recorder{}
	r.Hook = func(e Event) {
		if e.Kind == Message { // a sign of life may come before it
			<-gate
		}
	}
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodFlood, flood(2000, 1000))
	r.Noted(t, NoteSeq)
	begin := time.Now()
	conn.Close()
	if took := time.Since(begin); took > closeBudget+time.Second {
		t.Errorf("Close took %v", took)
	}
	before := len(r.Events())
	open()
	time.Sleep(20 * time.Millisecond) // for what must not happen
	if after := len(r.Events()); after != before {
		t.Errorf("%d events came when the sink was free again", after-before)
	}
}

func sinkCloses(t *testing.T, b Binding) {
	ready := make(chan struct{})
	done := make(chan struct{})
	var conn transport.Conn
	r := Recorder{}
	r.Hook = func(e Event) {
		<-ready
		if e.Kind == Message && e.Msg.Method == NoteSeq && string(jsonrpc.Get(e.Msg.Params, "seq")) == "3" {
			conn.Close()
			close(done)
		}
	}
	conn = connect(t, b, &r)
	close(ready)
	send(t, conn, 1, MethodFlood, flood(2000, 100))
	select {
	case <-done:
	case <-time.After(Patience):
		t.Fatal("Close did not return inside the sink")
	}
	conn.Close()
	inOrder(t, r.Events(), r.Events()[0].ID, 4)
}

func closedRefuses(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	call(t, conn, &r, 1, MethodEcho, `{}`)
	conn.Close()
	err := conn.Send(2, transport.Request{Method: MethodEcho})
	if transport.CodeOf(err) != transport.Broken {
		t.Errorf("send gave %v, want a %s error", err, transport.Broken)
	}
	if conn.Cancel(2) || conn.Cancel(1) {
		t.Error("cancel reports true")
	}
	if conn.Respond("ping", jsonrpc.Reply(jsonrpc.IntID(1), []byte(`{}`))) == nil {
		t.Error("respond was accepted")
	}
	conn.Adopt(b.Version)
	if got := r.Events(); len(got) != 1 {
		t.Errorf("events: %v", got)
	}
}

// T4.
func deathEndsAll(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	for id := int64(1); id <= 3; id++ {
		send(t, conn, id, MethodHold, "")
	}
	held := 0
	r.First(t, "three holds", func(e Event) bool {
		if e.Kind == Message && e.Msg.Method == NoteHolding {
			held++
		}
		return held == 3
	})
	send(t, conn, 4, MethodDie, "")
	if b.DeathEnds == "" {
		for id := int64(1); id <= 4; id++ {
			if e := r.Outcome(t, id); e.Kind != Failed || transport.CodeOf(e.Err) == "" {
				t.Errorf("request %d ended with %v", id, e)
			}
		}
		return
	}
	e := r.First(t, "closed", func(e Event) bool { return e.Kind == Closed })
	if transport.CodeOf(e.Err) != b.DeathEnds {
		t.Errorf("closed with %v, want %s", e.Err, b.DeathEnds)
	}
	if conn.Send(5, transport.Request{Method: MethodEcho}) == nil {
		t.Error("a dead connection accepted a request")
	}
	if conn.Cancel(1) {
		t.Error("a request outlived its connection")
	}
	conn.Close()
	events := r.Events()
	if last := events[len(events)-1]; last.Kind != Closed {
		t.Errorf("%v came after Closed", last)
	}
	for id := int64(1); id <= 4; id++ {
		if got := r.Outcomes(id); len(got) != 0 {
			t.Errorf("request %d ended with %v besides Closed", id, got)
		}
	}
}
