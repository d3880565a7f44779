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
		token := table.Mint(1, nil)
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
	a, b := table.Mint(1, nil), table.Mint(1, nil)
	if table.Take(a, 1) == nil {
		t.Error("a fresh handle is refused")
	}
	if table.Take(a, 1) != nil {
		t.Error("a spent handle is taken")
	}
	if table.Take(b, 1) == nil {
		t.Error("spending one spent another")
	}
}

// Acceptance 38 and 39: no handle, or an invented one.
func TestUnknownHandleIsRefused(t *testing.T) {
	table := NewTable(0)
	token := table.Mint(1, nil)
	for _, bad := range []string{"", "invented", token + "A", token[1:], token + "=", " " + token} {
		if table.Take(bad, 1) != nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if NewTable(0).Take(token, 1) != nil {
		t.Error("another table's handle is taken")
	}
	if table.Take(token, 1) == nil {
		t.Error("the real one is refused afterwards")
	}
}

// A6: what was reserved is what is charged; the attempt frees it.
func TestHandleOfAnotherPriceIsRefused(t *testing.T) {
	table := NewTable(0)
	var ended []Outcome
	token := table.Mint(1, func(o Outcome) { ended = append(ended, o) })
	if table.Take(token, 2) != nil || table.Take(token, 1) != nil {
		t.Error("taken")
	}
	if len(ended) != 1 || ended[0] != Released {
		t.Errorf("ended as %v", ended)
	}
}

// A6: 120 s, then it is swept without anybody's doing.
func TestHandleExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable(0)
		var ended []Outcome
		early, late := table.Mint(1, nil), table.Mint(1, func(o Outcome) { ended = append(ended, o) })
		time.Sleep(DefaultTTL - 1)
		if table.Take(early, 1) == nil {
			t.Error("refused before its end")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if table.Len() != 0 || len(ended) != 1 || ended[0] != Released {
			t.Errorf("%d left, ended as %v", table.Len(), ended)
		}
		if table.Take(late, 1) != nil {
			t.Error("taken at its end")
		}
	})
}

// A6: of many who hold the same handle one gets through.
func TestConcurrentTakesSpendOnce(t *testing.T) {
	table := NewTable(0)
	for range 50 {
		var taken, ended atomic.Int32
		token := table.Mint(1, func(Outcome) { ended.Add(1) })
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if h := table.Take(token, 1); h != nil {
					taken.Add(1)
					h.Settle()
					h.Release()
				}
			})
		}
		wg.Wait()
		if taken.Load() != 1 || ended.Load() != 1 {
			t.Fatalf("taken %d times, ended %d times", taken.Load(), ended.Load())
		}
	}
}
