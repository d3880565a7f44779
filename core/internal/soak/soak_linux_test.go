package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A run is a number of sessions and a time.
const (
	longSessions  = 200
	shortSessions = 24
	shortTime     = 5 * time.Second
)

// slackHeap is how far the heap, in bytes, may be from what it was: that of a loaded
// fleet depends on what is on its way at that moment.
const slackHeap = 8 << 20

// C1, T4, T9, E6: sessions live through the deaths of their servers. Every call is
// answered once and reaches its tool once at most, each session works again, and
// nothing of all that stays.
func TestSoak(t *testing.T) {
	sessions, lasts, seed := settings(t)
	t.Logf("%d sessions for %v, DRAWBRIDGE_SOAK_SEED=%d", sessions, lasts, seed)
	before := measure(t)
	t.Logf("before:  %v", before)

	f := newFleet(t, sessions, seed)
	f.recover(t) // that is, they start
	phase := func(d time.Duration) reading {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		f.live(ctx, t)
		f.recover(t)
		return measure(t)
	}
	early := phase(lasts / 5)
	t.Logf("early:   %v", early)
	late := phase(lasts - lasts/5)
	t.Logf("late:    %v", late)
	f.close()
	checkCalls(t, f)

	f.sessions, f.callers = nil, nil
	if err := goleak.Find(goleak.IgnoreCurrent()); err != nil {
		t.Error(err)
	}
	after := measure(t)
	t.Logf("after:   %v", after)

	if late.heap > early.heap+slackHeap {
		t.Errorf("the heap grew from %d to %d bytes under load", early.heap, late.heap)
	}
	if after.heap > before.heap+slackHeap {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
	if after.goroutines > before.goroutines || after.files > before.files || after.children > before.children {
		t.Errorf("left: %v; before: %v", after, before)
	}
}

// settings reads the environment.
func settings(t *testing.T) (sessions int, lasts time.Duration, seed uint64) {
	sessions, lasts, seed = shortSessions, shortTime, rand.Uint64()
	var err error
	if text := os.Getenv("DRAWBRIDGE_SOAK"); text != "" {
		sessions = longSessions
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("-short")
	}
	if text := os.Getenv("DRAWBRIDGE_SOAK_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return sessions, lasts, seed
}

// checkCalls compares how calls ended with what the servers saw.
func checkCalls(t *testing.T, f *fleet) {
	calls, codes := 0, map[string]int{}
	times := ran(t, f.journals)
	for _, c := range f.callers {
		for n, outcome := range c.outcomes {
			got := times[[2]int{c.n, n}]
			if wrong := got > 1 || got < 0 || outcome == succeeded && got != 1 || outcome == unsent && got != 0; wrong {
				t.Errorf("call c%d-%d, of outcome %d, reached a tool %d times", c.n, n, outcome, got)
			}
		}
		calls += len(c.outcomes)
		for code, n := range c.codes {
			codes[code] += n
		}
	}
	t.Logf("%d calls told apart; all outcomes: %v", calls, codes)
	t.Logf("%d processes killed, %d reconnects asked for", f.killed.Load(), f.raised.Load())
	if codes["ok"] == 0 || f.killed.Load() == 0 {
		t.Error("nothing happened")
	}
}
