package transporttest

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// T10.
func cancelSilences(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	send(t, conn, 1, MethodHold, "")
	r.Noted(t, NoteHolding)
	if !conn.Cancel(1) {
		t.Fatal("cancel of a request in flight reports false")
	}
	if conn.Cancel(1) {
		t.Error("a second cancel reports true")
	}
	deadline := time.Now().Add(Patience)
	id := int64(2)
	for ; !slices.Contains(seen(t, conn, &r, id).Cancelled, "1"); id++ {
		if time.Now().After(deadline) {
			t.Fatal("the server was not told")
		}
	}
	if got := r.Outcomes(1); len(got) != 0 {
		t.Errorf("the cancelled request ended with %v", got)
	}
}

func cancelOfNothing(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	call(t, conn, &r, 1, MethodEcho, `{}`)
	for _, id := range []int64{1, 2, 0, -1} {
		if conn.Cancel(id) {
			t.Errorf("cancel of %d reports true", id)
		}
	}
	call(t, conn, &r, 2, MethodEcho, `{}`)
}

// T1: an outcome is reported at most once, never after cancel.
func cancelRaces(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	const n = 40
	var wg sync.WaitGroup
	won := make([]bool, n+1)
	for id := int64(1); id <= n; id++ {
		wg.Go(func() {
			send(t, conn, id, MethodFlood, flood(int(id%4), 0))
			time.Sleep(time.Duration(id%8) * 100 * time.Microsecond) // spreads the race over the exchange
			won[id] = conn.Cancel(id)
		})
	}
	wg.Wait()
	for id := int64(1); id <= n; id++ {
		if !won[id] {
			r.Outcome(t, id)
		}
	}
	for id := int64(n + 1); id <= n+3; id++ {
		call(t, conn, &r, id, MethodEcho, `{}`)
	}
	for id := int64(1); id <= n; id++ {
		if got := len(r.Outcomes(id)); won[id] && got != 0 || !won[id] && got != 1 {
			t.Errorf("request %s: cancel reported %v and there are %d outcomes", strconv.FormatInt(id, 10), won[id], got)
		}
	}
}

// Every method from many goroutines; the race detector and the promises judge.
func everythingAtOnce(t *testing.T, b Binding) {
	var r Recorder
	conn := connect(t, b, &r)
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		next   int64
		won    = map[int64]bool{}
		issued = map[int64]bool{}
	)
	id := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next
	}
	methods := []transport.Request{
		{Method: MethodEcho},
		{Method: MethodHold},
		{Method: MethodFlood, Params: []byte(flood(3, 50))},
		{Method: MethodTwice},
		{Method: MethodFail},
		{Method: "notifications/x", Notification: true},
	}
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				n := id()
				if conn.Send(n, methods[(w+i)%len(methods)]) != nil {
					continue
				}
				cancelled := (w+i)%3 == 0 && conn.Cancel(n)
				mu.Lock()
				issued[n], won[n] = true, cancelled
				mu.Unlock()
				conn.Adopt(b.Version)
			}
		})
	}
	wg.Go(func() {
		r.First(t, "events", func(e Event) bool { return e.Kind == Message })
		conn.Close()
	})
	wg.Wait()
	conn.Close()
	for n := range issued {
		if got := len(r.Outcomes(n)); got > 1 || won[n] && got != 0 {
			t.Errorf("request %d: cancel reported %v and there are %d outcomes", n, won[n], got)
		}
	}
}
