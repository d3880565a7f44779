package breaker

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// C8 as invariants over any order of calls and times: a refusal always names a time
// in the future, at which a caller is let through; while half open at most one lease
// is current; State never disagrees with Allow.
func TestBreakerNeverWedges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Hidden in a struct, since a bubble forbids the Deadline that rapid asks for.
		rapid.Check(struct{ rapid.TB }{t}, func(r *rapid.T) {
			table := NewTable(rapid.IntRange(1, 3).Draw(r, "threshold"), 60*time.Millisecond)
			var leases []*Lease
			pick := func() *Lease {
				if len(leases) == 0 {
					return nil
				}
				return leases[rapid.IntRange(0, len(leases)-1).Draw(r, "lease")]
			}
			r.Repeat(map[string]func(*rapid.T){
				"allow": func(r *rapid.T) {
					before := table.State(key)
					l, err := table.Allow(key)
					if refused := before.Phase != Closed && !before.RetryAt.IsZero(); refused != (err != nil) {
						r.Fatalf("State gave %+v, Allow gave %v", before, err)
					}
					if err == nil {
						leases = append(leases, l)
					}
				},
				"success": func(*rapid.T) { pick().Success() },
				"failure": func(*rapid.T) { pick().Failure() },
				"nothing": func(*rapid.T) { pick().Nothing() },
				"sleep": func(r *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 150).Draw(r, "ms")) * time.Millisecond)
				},
				"wait": func(r *rapid.T) {
					s := table.State(key)
					if s.RetryAt.IsZero() {
						return
					}
					time.Sleep(time.Until(s.RetryAt))
					l, err := table.Allow(key)
					if err != nil {
						r.Fatalf("refused at the time that was named: %v", err)
					}
					leases = append(leases, l)
				},
				"": func(r *rapid.T) {
					s := table.State(key)
					if !s.RetryAt.IsZero() && !s.RetryAt.After(time.Now()) {
						r.Fatalf("retry at a time that is past: %+v", s)
					}
					if s.Phase == Closed && !s.RetryAt.IsZero() {
						r.Fatalf("closed, and yet %+v", s)
					}
					if s.Phase == Closed && s.Failures >= table.threshold {
						r.Fatalf("closed with %d failures of %d", s.Failures, table.threshold)
					}
				},
			})
		})
	})
}
