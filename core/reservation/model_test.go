package reservation

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A6 as a model: whatever is done to them and in whatever order, each reservation
// ends exactly once, as its first end says, and no money is lost or made.
func TestEveryReservationEndsOnce(t *testing.T) {
	const budget = 1000
	synctest.Test(t, func(t *testing.T) {
		// Hidden in a struct, since a bubble forbids the Deadline that rapid asks for.
		rapid.Check(struct{ rapid.TB }{t}, func(rt *rapid.T) {
			type row struct {
				token string
				price int64
				at    time.Time
				hold  *Hold
				want  Outcome // "" while it is out
				ended []Outcome
			}
			var mu sync.Mutex // two that expire at once end side by side
			table := NewTable(time.Minute)
			var rows []*row
			var free, reserved, spent int64 = budget, 0, 0
			pick := func(rt *rapid.T) *row {
				if len(rows) == 0 {
					rt.Skip("none yet")
				}
				return rapid.SampledFrom(rows).Draw(rt, "row")
			}
			check := func(rt *rapid.T) {
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				waiting := 0
				for i, r := range rows {
					if r.want == "" && r.hold == nil && time.Since(r.at) >= time.Minute {
						r.want = Released
					}
					if r.want == "" && r.hold == nil {
						waiting++
					}
					if r.want == "" && len(r.ended) != 0 || r.want != "" && (len(r.ended) != 1 || r.ended[0] != r.want) {
						rt.Fatalf("%d ended as %v, want %q", i, r.ended, r.want)
					}
				}
				if table.Len() != waiting {
					rt.Fatalf("%d handles wait, want %d", table.Len(), waiting)
				}
				if free+reserved+spent != budget || min(free, reserved, spent) < 0 {
					rt.Fatalf("free %d, reserved %d, spent %d", free, reserved, spent)
				}
			}
			end := func(r *row, o Outcome) {
				if r.hold != nil && r.want == "" {
					r.want = o
				}
			}
			rt.Repeat(map[string]func(*rapid.T){
				"": check,
				"mint": func(rt *rapid.T) {
					r := &row{price: rapid.Int64Range(1, 9).Draw(rt, "price"), at: time.Now()}
					mu.Lock()
					if r.price > free {
						mu.Unlock()
						rt.Skip("no budget")
					}
					free, reserved = free-r.price, reserved+r.price
					mu.Unlock()
					r.token = table.Mint(r.price, func(o Outcome) {
						mu.Lock()
						defer mu.Unlock()
						r.ended = append(r.ended, o)
						reserved -= r.price
						if o == Settled {
							spent += r.price
						} else {
							free += r.price
						}
					})
					rows = append(rows, r)
				},
				"take": func(rt *rapid.T) {
					r := pick(rt)
					price := r.price + rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(rt, "more")
					h := table.Take(r.token, price)
					waits := r.hold == nil && r.want == ""
					if (h != nil) != (waits && price == r.price) {
						rt.Fatalf("taken: %v", h != nil)
					}
					switch {
					case h != nil:
						r.hold = h
					case waits:
						r.want = Released
					}
				},
				"settle":  func(rt *rapid.T) { r := pick(rt); r.hold.Settle(); end(r, Settled) },
				"release": func(rt *rapid.T) { r := pick(rt); r.hold.Release(); end(r, Released) },
				"wait": func(rt *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 40).Draw(rt, "s")) * time.Second)
				},
			})
			// What nobody takes is free in the end.
			for _, r := range rows {
				if r.hold != nil {
					r.hold.Settle()
					end(r, Settled)
				}
			}
			time.Sleep(time.Minute)
			check(rt)
			if reserved != 0 {
				rt.Fatalf("%d stay reserved", reserved)
			}
		})
	})
}
