package server

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// S7, acceptance 200–202: whatever comes and goes, the bounds hold, whoever has its
// fair share is never refused nor put out, and each call leaves once.
func TestLotIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 8).Draw(t, "total")
		l := lot{total: total, perOwner: rapid.IntRange(1, total).Draw(t, "share")}
		var in []*parked
		ended := map[string]int{}
		count := func(owner string) (n int) {
			for _, p := range in {
				if p.owner == owner {
					n++
				}
			}
			return n
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(in) > 0 && rapid.Bool().Draw(t, "leave") {
				i := rapid.IntRange(0, len(in)-1).Draw(t, "which")
				if !l.leave(in[i]) || l.leave(in[i]) {
					t.Fatal("a call does not leave exactly once")
				}
				in = append(in[:i:i], in[i+1:]...)
				continue
			}
			owner := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "owner")
			most, mine := 0, count(owner)
			for _, p := range in {
				most = max(most, count(p.owner))
			}
			id := ""
			p, why := l.enter(owner, func(err error) {
				if !errors.Is(err, errRoom) {
					t.Fatal("ended with", err)
				}
				ended[id]++
			})
			full := len(in) == l.total
			switch {
			case mine >= l.perOwner:
				if p != nil || why != askCrowded {
					t.Fatal("beyond its share:", why)
				}
			case full && mine >= most:
				if p != nil || why != askFull {
					t.Fatal("the heaviest got a place:", why)
				}
			case p == nil:
				t.Fatal("refused:", why)
			case full: // the oldest of the heaviest went
				for i, old := range in {
					if count(old.owner) == most {
						if l.leave(old) {
							t.Fatal("another call was put out")
						}
						in = append(in[:i:i], in[i+1:]...)
						break
					}
				}
			}
			if p != nil {
				in = append(in, p)
			}
			if len(l.parked) != len(in) || len(in) > l.total {
				t.Fatalf("%d are parked, want %d", len(l.parked), len(in))
			}
		}
	})
}

// Making room ends the call that made it, with its own cause.
func TestMakingRoomEndsTheOldest(t *testing.T) {
	l := lot{total: 2, perOwner: 2}
	ctx, end := context.WithCancelCause(context.Background())
	p, _ := l.enter("a", end)
	l.enter("a", func(error) { t.Error("the younger call was ended") })
	if q, _ := l.enter("b", nil); q == nil || !errors.Is(context.Cause(ctx), errRoom) || l.leave(p) {
		t.Error("the oldest call was not ended:", context.Cause(ctx))
	}
}
