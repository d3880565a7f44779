package reservation

import (
	"encoding/base64"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A6, reference 2.7: 18 random bytes, base64url without padding, never the same.
func TestHandleIsEighteenRandomBytes(t *testing.T) {
	table := NewTable(0)
	seen := make(map[string]bool)
	for range 1000 {
		token := table.Mint()
		b, err := base64.RawURLEncoding.Strict().DecodeString(token)
		if err != nil || len(b) != 18 || seen[token] {
			t.Fatalf("%q: %d bytes, %v, seen %v", token, len(b), err, seen[token])
		}
		seen[token] = true
	}
}

// Acceptance 40: once.
func TestHandleIsSpentOnce(t *testing.T) {
	table := NewTable(0)
	a, b := table.Mint(), table.Mint()
	if !table.Take(a) {
		t.Error("a fresh handle is refused")
	}
	if table.Take(a) {
		t.Error("a spent handle is taken")
	}
	if !table.Take(b) {
		t.Error("spending one spent another")
	}
}

// Acceptance 38 and 39: no handle, or an invented one.
func TestUnknownHandleIsRefused(t *testing.T) {
	table := NewTable(0)
	token := table.Mint()
	for _, bad := range []string{"", "invented", token + "A", token[1:], token + "=", " " + token} {
		if table.Take(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
	if NewTable(0).Take(token) {
		t.Error("another table's handle is taken")
	}
	if !table.Take(token) {
		t.Error("the real one is refused afterwards")
	}
}

// A6: 120 s, and the attempt removes it.
func TestHandleExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(0)
		early, late := table.Mint(), table.Mint()
		time.Sleep(DefaultTTL - 1)
		if !table.Take(early) {
			t.Error("refused before its end")
		}
		time.Sleep(time.Nanosecond)
		if table.Take(late) {
			t.Error("taken at its end")
		}
		if len(table.minted) != 0 {
			t.Errorf("%d left", len(table.minted))
		}
	})
}

// Reference 2.7: each mint sweeps, so that unspent handles do not pile up.
func TestMintSweepsTheExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(time.Minute)
		for range 10 {
			table.Mint()
		}
		time.Sleep(30 * time.Second)
		kept := table.Mint()
		time.Sleep(30 * time.Second)
		table.Mint()
		if len(table.minted) != 2 || !table.Take(kept) {
			t.Errorf("%d left", len(table.minted))
		}
	})
}

// A6: of many who hold the same handle one gets through.
func TestConcurrentTakesSpendOnce(t *testing.T) {
	table := NewTable(0)
	for range 50 {
		token := table.Mint()
		var taken atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				table.Mint()
				if table.Take(token) {
					taken.Add(1)
				}
			})
		}
		wg.Wait()
		if taken.Load() != 1 {
			t.Fatalf("taken %d times", taken.Load())
		}
	}
}
