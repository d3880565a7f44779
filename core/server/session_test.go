package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// An unused session ends by itself; use keeps it.
func TestIdleSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &sessions{}
		all.init(10, time.Minute)
		sess, _ := all.open(serve(t, Limits{}, nil), "c")
		time.Sleep(5 * time.Minute) // in use by its initialize
		all.leave(sess)
		for range 5 {
			time.Sleep(50 * time.Second)
			if _, ok := all.enter(sess.id, "c"); !ok {
				t.Fatal("gone while in use")
			}
			all.leave(sess)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if _, ok := all.enter(sess.id, "c"); ok {
			t.Error("an idle session stayed")
		}
		if sess.conn.ctx.Err() == nil {
			t.Error("its connection stayed open")
		}
	})
}

// A client that does not read loses notifications, never a response.
func TestUnreadStreamIsBounded(t *testing.T) {
	st := newStream(false)
	for range 10 * maxEvents {
		st.append(note("x"))
	}
	st.append(reply())
	w, _ := st.attach()
	events, ended, _ := st.after(w, 0)
	if !ended || len(events) > maxEvents || !events[len(events)-1].last {
		t.Errorf("%d events, ended %v", len(events), ended)
	}
}

// A stream that may have no reader for long holds the same notification once.
func TestUnreadOwnStreamHoldsOneOfEach(t *testing.T) {
	st := newStream(true)
	st.once = true
	for range 3 {
		st.append(note("a"))
		st.append(note("b"))
	}
	w, _ := st.attach()
	events, _, _ := st.after(w, 0)
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	st.append(note("a"))
	if events, _, _ := st.after(w, 2); len(events) != 1 {
		t.Fatalf("%d events after both were read", len(events))
	}
	next, read := st.attach()
	st.append(note("a"))
	if events, _, _ := st.after(w, 0); events != nil {
		t.Fatal("the writer before got an event")
	}
	if events, _, _ := st.after(next, read); len(events) != 1 {
		t.Fatalf("the next writer got %d events", len(events))
	}
}
