package ledger

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestIDs(t *testing.T) {
	var l Ledger
	for _, id := range []int64{0, -1} {
		if err := l.Add(id, "m"); !errors.Is(err, ErrID) {
			t.Errorf("add %d gave %v", id, err)
		}
	}
	if err := l.Add(1, "m"); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(1, "n"); !errors.Is(err, ErrID) {
		t.Errorf("a second add gave %v", err)
	}
	if method, ok := l.Take(1); !ok || method != "m" {
		t.Errorf("take gave %q, %v", method, ok)
	}
	if _, ok := l.Take(1); ok {
		t.Error("an id was taken twice")
	}
	if err := l.Add(2, "m"); err != nil {
		t.Fatal(err)
	}
	l.End()
	if err := l.Add(3, "m"); !errors.Is(err, ErrEnded) || !l.Ended() {
		t.Errorf("add after the end gave %v", err)
	}
	if _, ok := l.Take(2); !ok {
		t.Error("the end took an id in flight")
	}

	var all Ledger
	if err := all.Add(1, "m"); err != nil {
		t.Fatal(err)
	}
	all.TakeAll()
	if _, ok := all.Take(1); ok {
		t.Error("an id outlived TakeAll")
	}
}

func TestOneOfManyTakes(t *testing.T) {
	var l Ledger
	for id := int64(1); id <= 100; id++ {
		if err := l.Add(id, "m"); err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, ok := l.Take(id); ok {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d took %d", won.Load(), id)
		}
	}
}

// Silence waits for reports that have begun, and lets none begin.
func TestSilenceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Ledger
		begin := time.Now()
		for _, d := range []time.Duration{time.Second, 2 * time.Second} {
			go l.Report(func() { time.Sleep(d) })
		}
		synctest.Wait()
		go l.Silence(time.Minute)
		l.Silence(time.Minute)
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("silence took %v", took)
		}
		if l.Report(func() { t.Error("reported") }) {
			t.Error("report says that it ran")
		}
	})
}

// A report that does not end, such as the caller's own, is waited for so long and
// not longer.
func TestSilenceFromWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Ledger
		begin := time.Now()
		l.Report(func() { l.Silence(time.Second) })
		if took := time.Since(begin); took != time.Second {
			t.Errorf("silence took %v", took)
		}
	})
}
