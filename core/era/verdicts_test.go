package era

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

func mustKey(t *testing.T, raw string) Key {
	t.Helper()
	k, err := URLKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func modern() Verdict {
	return Verdict{Era: Modern, Version: mcp.V20260728, DecidedAt: time.Now(), TTL: DefaultTTL, Record: Record{Method: mcp.MethodDiscover, Status: 200, Summary: ModernVersions}}
}

func legacy() Verdict {
	return Verdict{Era: Legacy, Version: mcp.V20251125, DecidedAt: time.Now(), TTL: DefaultTTL}
}

// Acceptance 6, 15, E9: what one session put, the next finds, evidence included.
func TestVerdictIsFoundAfterItWasPut(t *testing.T) {
	table := NewVerdicts()
	k := mustKey(t, "https://example.com/mcp")
	if v, ok := table.Get(k, DefaultTTL); ok {
		t.Fatalf("hit before Put: %+v", v)
	}
	want := modern()
	table.Put(k, want)
	got, ok := table.Get(mustKey(t, "https://u:p@EXAMPLE.com:443/mcp?x#y"), DefaultTTL)
	if !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
}

// Acceptance 7: two endpoints under one origin hold independent verdicts.
func TestPathsOfOneOriginAreIndependent(t *testing.T) {
	table := NewVerdicts()
	a, b := mustKey(t, "https://example.com/a"), mustKey(t, "https://example.com/b")
	table.Put(a, modern())
	table.Put(b, legacy())
	table.Forget(mustKey(t, "https://example.com/c"))
	va, _ := table.Get(a, DefaultTTL)
	vb, _ := table.Get(b, DefaultTTL)
	if va.Era != Modern || vb.Era != Legacy {
		t.Errorf("a %v, b %v", va.Era, vb.Era)
	}
}

// Acceptance 8 and 18, E4: a TTL of 0 always misses, and the read deletes the row.
func TestZeroTTLMissesAndDeletes(t *testing.T) {
	table := NewVerdicts()
	k := mustKey(t, "https://example.com/")
	table.Put(k, modern())
	if _, ok := table.Get(k, 0); ok {
		t.Error("hit with a TTL of 0")
	}
	if len(table.rows) != 0 {
		t.Error("the row is still there")
	}
}

// Acceptance 9, E6.
func TestForgetMakesTheNextReadMiss(t *testing.T) {
	table := NewVerdicts()
	k := mustKey(t, "https://example.com/")
	table.Put(k, modern())
	table.Forget(k)
	if _, ok := table.Get(k, DefaultTTL); ok {
		t.Error("hit after Forget")
	}
}

// E4: a verdict holds for less than its TTL, and the read that finds it expired
// deletes it.
func TestVerdictExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewVerdicts()
		k := mustKey(t, "https://example.com/")
		table.Put(k, modern())
		time.Sleep(DefaultTTL - 1)
		if _, ok := table.Get(k, DefaultTTL); !ok {
			t.Error("missed just before the end")
		}
		time.Sleep(time.Nanosecond)
		if _, ok := table.Get(k, DefaultTTL); ok {
			t.Error("hit at the end")
		}
		if len(table.rows) != 0 {
			t.Error("the row is still there")
		}
	})
}

// E4: the reader's override counts, and shows.
func TestReaderDecidesTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewVerdicts()
		k := mustKey(t, "https://example.com/")
		put := modern()
		table.Put(k, put)
		time.Sleep(time.Hour)
		v, ok := table.Get(k, 2*time.Hour)
		if !ok || !v.Until().Equal(put.DecidedAt.Add(2*time.Hour)) {
			t.Errorf("%v, until %v", ok, v.Until())
		}
		if _, ok := table.Get(k, time.Minute); ok {
			t.Error("hit after the shorter TTL")
		}
	})
}

// E5: a stdio verdict does not expire unless its spec asks for it.
func TestNegativeTTLNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewVerdicts()
		k := SpecKey("sha256-abc")
		table.Put(k, legacy())
		time.Sleep(10 * 365 * 24 * time.Hour)
		v, ok := table.Get(k, NoExpiry)
		if !ok || !v.Until().IsZero() {
			t.Errorf("%v, until %v", ok, v.Until())
		}
	})
}

func TestUntil(t *testing.T) {
	at := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for ttl, want := range map[time.Duration]time.Time{time.Hour: at.Add(time.Hour), 0: at, NoExpiry: {}} {
		if got := (Verdict{DecidedAt: at, TTL: ttl}).Until(); !got.Equal(want) {
			t.Errorf("TTL %v: %v, want %v", ttl, got, want)
		}
	}
}

// A clock set back since a former run must not make a verdict hold for ever.
func TestVerdictOfTheFutureIsNone(t *testing.T) {
	table := NewVerdicts()
	v := modern()
	v.DecidedAt = time.Now().Add(time.Hour).UTC().Round(0)
	table.Put(SpecKey("a"), v)
	if _, ok := table.Get(SpecKey("a"), DefaultTTL); ok {
		t.Error("hit")
	}
}

// E3: nothing is kept without an era; a verdict without a time is of now.
func TestOnlyAnEraIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewVerdicts()
		k := mustKey(t, "https://example.com/")
		table.Put(k, Verdict{Era: Legacy, Version: mcp.V20250618})
		table.Put(k, Verdict{Era: Unknown, DecidedAt: time.Now()})
		v, ok := table.Get(k, DefaultTTL)
		if !ok || v.Era != Legacy || !v.DecidedAt.Equal(time.Now()) {
			t.Errorf("%+v, %v", v, ok)
		}
	})
}

// E6: concurrent rejections make one probe, per key; a successful round trip arms
// it again.
func TestBurstOfRejectionsMakesOneReprobe(t *testing.T) {
	table := NewVerdicts()
	a, b := mustKey(t, "https://example.com/a"), mustKey(t, "https://example.com/b")
	for round := range 3 {
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if table.TryReprobe(a) {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d re-probes", round, won.Load())
		}
		if round == 0 && !table.TryReprobe(b) {
			t.Error("one key's re-probe used up another's")
		}
		table.Forget(a)
		table.Put(a, modern()) // the probe's own success does not arm
		if table.TryReprobe(a) {
			t.Error("armed by a verdict")
		}
		table.Arm(a)
	}
}

// E7: one table, all sessions at once.
func TestVerdictsUnderConcurrency(t *testing.T) {
	table := NewVerdicts()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			k := mustKey(t, fmt.Sprintf("https://example.com/%d", i%4))
			for range 200 {
				table.Put(k, modern())
				if v, ok := table.Get(k, DefaultTTL); ok && v.Era != Modern {
					t.Errorf("got %+v", v)
				}
				table.Forget(k)
				table.TryReprobe(k)
				table.Arm(k)
			}
		})
	}
	wg.Wait()
}
