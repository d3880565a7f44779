package server

import (
	"context"
	"slices"
	"sync"
)

// lot is where calls wait for approval (S7): so many in all, so many for one owner.
// A call leaves it once, by whoever ends it first.
type lot struct {
	total, perOwner int

	mu     sync.Mutex
	parked []*parked // oldest first
}

type parked struct {
	id    string
	owner string
	end   context.CancelCauseFunc
}

func newAskID() string { return "ask-" + newToken() }

// enter parks a call, or says why not. In a full lot, an owner that has fewer
// parked than the one with the most gets the place of that one's oldest call, which
// end ends; so whoever spreads over many calls crowds out only its own (4-reference
// 6.14).
func (l *lot) enter(owner string, end context.CancelCauseFunc) (p *parked, crowded string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := map[string]int{}
	for _, p := range l.parked {
		held[p.owner]++
	}
	if held[owner] >= l.perOwner {
		return nil, askCrowded
	}
	if len(l.parked) >= l.total {
		most := 0
		for _, n := range held {
			most = max(most, n)
		}
		if held[owner] >= most {
			return nil, askFull
		}
		i := slices.IndexFunc(l.parked, func(p *parked) bool { return held[p.owner] == most })
		l.parked[i].end(errRoom)
		l.parked = slices.Delete(l.parked, i, i+1)
	}
	p = &parked{newAskID(), owner, end}
	l.parked = append(l.parked, p)
	return p, ""
}

// leave takes the call out; false when it had to make room.
func (l *lot) leave(p *parked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.parked, p)
	if i >= 0 {
		l.parked = slices.Delete(l.parked, i, i+1)
	}
	return i >= 0
}
