package breaker

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const key = "https://account.example:443"

func mustAllow(t *testing.T, table *Table) *Lease {
	t.Helper()
	l, err := table.Allow(key)
	if err != nil {
		t.Fatalf("refused: %v, state %+v", err, table.State(key))
	}
	return l
}

func mustRefuse(t *testing.T, table *Table, in time.Duration) {
	t.Helper()
	l, err := table.Allow(key)
	var open *OpenError
	if l != nil || !errors.Is(err, ErrOpen) || !errors.As(err, &open) {
		t.Fatalf("let through: %v, state %+v", err, table.State(key))
	}
	if got := time.Until(open.RetryAt); got != in {
		t.Errorf("retry in %v, want %v", got, in)
	}
	if strings.Contains(err.Error(), "account") {
		t.Errorf("the error names the key: %v", err)
	}
}

func wantState(t *testing.T, table *Table, p Phase, failures int) {
	t.Helper()
	if s := table.State(key); s.Phase != p || s.Failures != failures {
		t.Errorf("%v with %d failures, want %v with %d", s.Phase, s.Failures, p, failures)
	}
}

func fail(t *testing.T, table *Table, times int) {
	t.Helper()
	for range times {
		mustAllow(t, table).Failure()
	}
}

// Acceptance 175.
func TestStartsClosedWithNoFailures(t *testing.T) {
	table := NewTable(0, 0)
	if s := table.State(key); s != (State{}) || s.Phase != Closed {
		t.Errorf("%+v", s)
	}
	mustAllow(t, table)
	wantState(t, table, Closed, 0)
}

// Acceptance 176, 177, 178: five failures in a row.
func TestOpensAtTheThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(0, 0)
		fail(t, table, 4)
		wantState(t, table, Closed, 4)
		mustAllow(t, table).Success()
		wantState(t, table, Closed, 0)
		fail(t, table, 4)
		wantState(t, table, Closed, 4)
		fail(t, table, 1)
		wantState(t, table, Open, 5)
		mustRefuse(t, table, DefaultRecovery)
	})
}

// Acceptance 179.
func TestThresholdOfOneOpensAtOnce(t *testing.T) {
	table := NewTable(1, time.Minute)
	fail(t, table, 1)
	wantState(t, table, Open, 1)
}

// Acceptance 180: none is lost, neither before nor after the breaker opens.
func TestConcurrentFailuresCountExactly(t *testing.T) {
	for _, threshold := range []int{5, 1000} {
		table := NewTable(threshold, time.Hour)
		var leases []*Lease
		for range 200 {
			leases = append(leases, mustAllow(t, table))
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, l := range leases {
			wg.Go(func() {
				<-start
				l.Failure()
			})
		}
		close(start)
		wg.Wait()
		if got := table.State(key).Failures; got != 200 {
			t.Errorf("threshold %d: %d failures", threshold, got)
		}
	}
}

// Acceptance 181, 182, 183: refused for the recovery time, then half open; the
// probe's success closes and zeroes.
func TestProbeSuccessCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(2, time.Minute)
		fail(t, table, 2)
		mustRefuse(t, table, time.Minute)
		time.Sleep(time.Minute - 1)
		mustRefuse(t, table, 1)
		wantState(t, table, Open, 2)
		time.Sleep(time.Nanosecond)
		wantState(t, table, HalfOpen, 2) // shown before anybody asks
		if at := table.State(key).RetryAt; !at.IsZero() {
			t.Errorf("retry at %v, though one would be let through", at)
		}
		probe := mustAllow(t, table)
		wantState(t, table, HalfOpen, 2)
		mustRefuse(t, table, 2*time.Minute)
		probe.Success()
		wantState(t, table, Closed, 0)
		mustAllow(t, table)
		mustAllow(t, table)
	})
}

// Acceptance 184: one failure of the probe opens for a whole recovery time again.
func TestProbeFailureReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(3, time.Minute)
		fail(t, table, 3)
		time.Sleep(time.Minute)
		probe := mustAllow(t, table)
		time.Sleep(time.Second)
		probe.Failure()
		wantState(t, table, Open, 4)
		mustRefuse(t, table, time.Minute)
	})
}

// Acceptance 185.
func TestOneOfManyGetsTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(1, time.Minute)
		fail(t, table, 1)
		time.Sleep(time.Minute)
		var admitted atomic.Int32
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := table.Allow(key); err == nil {
					admitted.Add(1)
				}
			})
		}
		wg.Wait()
		if admitted.Load() != 1 {
			t.Errorf("%d admitted", admitted.Load())
		}
	})
}

// C8: a probe that nobody reports on cannot block for ever.
func TestLostProbeMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(1, time.Minute)
		fail(t, table, 1)
		time.Sleep(time.Minute)
		mustAllow(t, table) // lost
		time.Sleep(2*time.Minute - 1)
		mustRefuse(t, table, 1)
		time.Sleep(time.Nanosecond)
		second := mustAllow(t, table)
		mustRefuse(t, table, 2*time.Minute)
		second.Success()
		wantState(t, table, Closed, 0)
	})
}

// C8: a peer slower than the lease can still close its breaker, and the probe that
// took the place then says nothing more.
func TestOverdueProbeStillDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(1, time.Minute)
		fail(t, table, 1)
		time.Sleep(time.Minute)
		first := mustAllow(t, table)
		time.Sleep(2 * time.Minute)
		second := mustAllow(t, table)
		first.Success()
		wantState(t, table, Closed, 0)
		second.Failure()
		wantState(t, table, Closed, 0)
	})
}

// C8: size refusals, redirects and session rejections count as nothing; as the
// probe they pass it on.
func TestNothingCountsAsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(2, time.Minute)
		fail(t, table, 1)
		mustAllow(t, table).Nothing()
		wantState(t, table, Closed, 1)
		fail(t, table, 1)
		time.Sleep(time.Minute)
		overdue := mustAllow(t, table)
		time.Sleep(2 * time.Minute)
		probe := mustAllow(t, table)
		overdue.Nothing()
		mustRefuse(t, table, 2*time.Minute) // the newer probe is still out
		probe.Nothing()
		wantState(t, table, HalfOpen, 2)
		mustAllow(t, table).Failure()
		wantState(t, table, Open, 3)
	})
}

// A lease counts once, whatever is called on it; a nil one is harmless.
func TestFirstOutcomeOfALeaseCounts(t *testing.T) {
	table := NewTable(3, time.Minute)
	l := mustAllow(t, table)
	l.Failure()
	l.Failure()
	l.Success()
	l.Nothing()
	wantState(t, table, Closed, 1)
	l = mustAllow(t, table)
	l.Nothing()
	l.Failure()
	wantState(t, table, Closed, 1)
	l = mustAllow(t, table)
	l.Success()
	l.Failure()
	wantState(t, table, Closed, 0)

	var none *Lease
	none.Success()
	none.Failure()
	none.Nothing()
}

// What began before the breaker opened tells nothing of the time after.
func TestOldOutcomesDoNotMoveTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(1, time.Minute)
		var old []*Lease
		for range 6 {
			old = append(old, mustAllow(t, table))
		}
		fail(t, table, 1)
		time.Sleep(30 * time.Second)
		old[0].Success()
		wantState(t, table, Open, 1)
		old[1].Failure()
		wantState(t, table, Open, 2)
		mustRefuse(t, table, 30*time.Second) // not prolonged
		time.Sleep(30 * time.Second)
		probe := mustAllow(t, table)
		old[2].Success()
		old[3].Failure()
		old[4].Nothing()
		wantState(t, table, HalfOpen, 2)
		mustRefuse(t, table, 2*time.Minute)
		probe.Success()
		old[5].Failure()
		wantState(t, table, Closed, 0)
	})
}

// Acceptance 186: leases that are out at a reset say nothing any more.
func TestResetForgets(t *testing.T) {
	table := NewTable(1, time.Hour)
	old := mustAllow(t, table)
	fail(t, table, 1)
	other, err := table.Allow("other")
	if err != nil {
		t.Fatal(err)
	}
	other.Failure()
	table.Reset(key)
	wantState(t, table, Closed, 0)
	old.Failure()
	wantState(t, table, Closed, 0)
	mustAllow(t, table)
	if s := table.State("other"); s.Phase != Open {
		t.Errorf("the other key: %+v", s)
	}
	table.ResetAll()
	if s := table.State("other"); s != (State{}) {
		t.Errorf("after ResetAll: %+v", s)
	}
}

// Acceptance 187.
func TestKeysAreIndependent(t *testing.T) {
	table := NewTable(1, time.Hour)
	fail(t, table, 1)
	if _, err := table.Allow("https://account.example:8443"); err != nil {
		t.Errorf("another port is refused: %v", err)
	}
	wantState(t, table, Open, 1)
}

func TestPhaseHasAName(t *testing.T) {
	for p, want := range map[Phase]string{Closed: "closed", Open: "open", HalfOpen: "half open"} {
		if p.String() != want {
			t.Errorf("%d is %q, want %q", p, p, want)
		}
	}
}
