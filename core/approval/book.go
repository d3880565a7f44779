package approval

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept; the oldest goes first.
const (
	maxGrants = 4096
	maxKnown  = 4096
	maxPasses = 1024
	maxText   = 128 << 10 // bytes of one definition
)

// Book is what has been decided: the policy, the grants, the definitions they were
// given for, and the passes of single calls. Passes are kept in memory alone.
type Book struct {
	mu sync.Mutex
	// policy is the file as it stands, confirmed what the person has agreed to
	// (A9). Of two that differ the stricter verdict counts.
	policy, confirmed *Policy
	text, agreed      string // what they were parsed from
	grants            []Grant
	known             map[toolKey]known
	passes            map[exact]pass
	changed           func() // called without a lock held; the desk's

	path   string // "" keeps nothing on disk
	failed func(error)
	saving sync.Mutex
	saved  []byte // guarded by saving
}

type toolKey struct{ server, tool string }

// known is the definition that a person last decided about.
type known struct {
	pin  Pin
	text string
	at   time.Time
}

// pass lets a single call through, as often as it comes or once.
type pass struct {
	until time.Time
	once  bool
}

// NewBook returns a book in which nothing is decided, kept in memory.
func NewBook() *Book {
	return &Book{
		policy: new(Policy), confirmed: new(Policy),
		known: map[toolKey]known{}, passes: map[exact]pass{}, changed: func() {},
	}
}

// Decide looks the call up (A1). It changes nothing, except that a pass for one
// retry is used up by the call that it lets through.
func (b *Book) Decide(c *Call) Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.decide(c, true)
}

// Preview is what Decide would say, without using anything up: the rule tester.
func (b *Book) Preview(c *Call) Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.decide(c, false)
}

func (b *Book) decide(c *Call, use bool) Verdict {
	now := time.Now()
	rule, matched := b.policy.strictest(c)
	agreed, was := b.confirmed.strictest(c)
	for _, r := range []struct {
		Rule
		ok bool
	}{{rule, matched}, {agreed, was}} {
		if r.ok && r.Effect == Deny {
			return Verdict{Effect: Deny, Reason: ByRule, By: r.String()}
		}
	}
	if g := b.grant(c, Deny, now); g != nil {
		return Verdict{Effect: Deny, Reason: ByGrant, By: g.ID}
	}
	k, seen := b.known[toolKey{c.Server, c.Tool}]
	if seen && k.pin != c.Definition.Pin {
		return Verdict{Effect: Ask, Reason: ByChange, Change: &Change{k.text, c.Definition.Text}}
	}
	if b.pass(c, now, use) {
		return Verdict{Effect: Allow, Reason: ByCall}
	}
	if c.unpaid() {
		return Verdict{Effect: Ask, Reason: ByPrice}
	}
	if (matched && rule.Effect == Ask) || (was && agreed.Effect == Ask) {
		if !matched || rule.Effect != Ask {
			rule = agreed
		}
		return Verdict{Effect: Ask, Reason: ByRule, By: rule.String()}
	}
	if g := b.grant(c, Allow, now); g != nil {
		if g.Tool == "" {
			return Verdict{Effect: Allow, Reason: ByReadOnly, By: g.ID}
		}
		return Verdict{Effect: Allow, Reason: ByGrant, By: g.ID}
	}
	if matched && rule.Effect == Allow {
		if !was {
			return Verdict{Effect: Ask, Reason: Unconfirmed, By: rule.String()}
		}
		if c.claimsHarm() && strings.Contains(orAny(rule.Tool), "*") {
			return Verdict{Effect: Ask, Reason: ByClaim, By: rule.String()}
		}
		return Verdict{Effect: Allow, Reason: ByRule, By: rule.String()}
	}
	effect := stricter(b.policy.fallback(), b.confirmed.fallback())
	switch {
	case effect == Ask && !seen:
		return Verdict{Effect: Ask, Reason: ByNewTool}
	default:
		return Verdict{Effect: effect, Reason: ByDefault}
	}
}

func (b *Book) grant(c *Call, effect Effect, now time.Time) *Grant {
	for i := range b.grants {
		if g := &b.grants[i]; g.Effect == effect && g.covers(c, now) {
			return g
		}
	}
	return nil
}

// pass reports whether this very call was allowed before, and still is.
func (b *Book) pass(c *Call, now time.Time, use bool) bool {
	key := c.exact()
	p, ok := b.passes[key]
	if !ok || !now.Before(p.until) || (c.unpaid() && !p.once) {
		return false // one yes pays once
	}
	if p.once && use {
		delete(b.passes, key)
	}
	return true
}

// Met keeps the definition that a call was let through with, so that a change of it
// is noticed. The first definition stays until a person decides about another.
func (b *Book) Met(c *Call) {
	b.change(func() bool {
		if _, ok := b.known[toolKey{c.Server, c.Tool}]; ok {
			return false
		}
		b.learn(c)
		return true
	})
}

// learn keeps the definition that was decided about.
func (b *Book) learn(c *Call) {
	key := toolKey{c.Server, c.Tool}
	k := known{c.Definition.Pin, c.Definition.Text, time.Now().UTC().Truncate(time.Second)}
	if len(k.text) > maxText {
		k.text = "" // a diff then shows the whole definition as new
	}
	b.known[key] = k
	if len(b.known) > maxKnown {
		oldest := key
		for k, v := range b.known {
			if v.at.Before(b.known[oldest].at) {
				oldest = k
			}
		}
		delete(b.known, oldest)
	}
	// A grant for another definition is void (A3).
	b.grants = slices.DeleteFunc(b.grants, func(g Grant) bool {
		return g.Effect == Allow && g.Tool == c.Tool && g.Server == c.Server && g.Pin != c.Definition.Pin
	})
}

// Allow keeps what a person allowed beyond the call itself. The definition that
// was shown with it becomes the known one.
func (b *Book) Allow(c *Call, scope Scope) {
	b.change(func() bool {
		b.learn(c)
		switch scope {
		case ThisCall:
			b.admit(c, pass{until: time.Now().Add(CallFor)})
		case UntilQuit, Always:
			g := newGrant(Allow, c)
			g.Session = scope == UntilQuit
			b.add(g)
		case ReadOnly:
			g := newGrant(Allow, c)
			g.Tool, g.Pin = "", ""
			b.add(g)
		}
		return true
	})
}

// AllowRetry lets the identical call through once within [CallFor] (A5).
func (b *Book) AllowRetry(c *Call) {
	b.change(func() bool {
		b.learn(c)
		b.admit(c, pass{until: time.Now().Add(CallFor), once: true})
		return true
	})
}

// DenyAlways keeps that a tool is denied to everybody, whatever its definition.
func (b *Book) DenyAlways(server, tool string) {
	b.change(func() bool {
		g := newGrant(Deny, &Call{Server: server, Tool: tool})
		g.Client, g.Pin = "", ""
		b.grants = slices.DeleteFunc(b.grants, func(old Grant) bool { return old.Server == server && old.Tool == tool })
		b.add(g)
		return true
	})
}

// AskAgain drops every grant about a tool, denials included.
func (b *Book) AskAgain(server, tool string) {
	b.change(func() bool { return b.drop(func(g Grant) bool { return g.Server == server && g.Tool == tool }) })
}

// Revoke drops the grant of that id; false when there is none.
func (b *Book) Revoke(id string) (found bool) {
	b.change(func() bool {
		found = b.drop(func(g Grant) bool { return g.ID == id })
		return found
	})
	return found
}

// Forget drops all that was granted to a client, which is no longer one.
func (b *Book) Forget(client string) {
	b.change(func() bool {
		for key := range b.passes {
			if key.client == client {
				delete(b.passes, key)
			}
		}
		return b.drop(func(g Grant) bool { return g.Client == client })
	})
}

// Grants are the standing decisions, the newest first.
func (b *Book) Grants() []Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.grants)
	slices.Reverse(list)
	return list
}

func (b *Book) drop(which func(Grant) bool) bool {
	n := len(b.grants)
	b.grants = slices.DeleteFunc(b.grants, which)
	return len(b.grants) < n
}

func (b *Book) add(g Grant) {
	now := time.Now()
	b.drop(func(old Grant) bool {
		same := old.Effect == g.Effect && old.Client == g.Client && old.Server == g.Server && old.Tool == g.Tool && old.Session == g.Session
		return same || (!old.Expires.IsZero() && !now.Before(old.Expires))
	})
	b.grants = append(b.grants, g)
	if extra := len(b.grants) - maxGrants; extra > 0 {
		// Denials are kept: to lose one would let something through.
		b.drop(func(old Grant) bool {
			if old.Effect == Allow && extra > 0 {
				extra--
				return true
			}
			return false
		})
	}
}

func (b *Book) admit(c *Call, p pass) {
	now := time.Now()
	for key, old := range b.passes {
		if !now.Before(old.until) {
			delete(b.passes, key)
		}
	}
	if len(b.passes) < maxPasses {
		b.passes[c.exact()] = p
	}
}

// change makes one change under the lock, writes it down and announces it.
func (b *Book) change(do func() bool) {
	b.mu.Lock()
	changed := do()
	b.mu.Unlock()
	if changed {
		b.save()
		b.changed()
	}
}
