package approval

import (
	"errors"
	"time"
)

// Waiting is a call that waits for a person, as of one moment.
type Waiting struct {
	ID   string
	Call *Call
	// Verdict says why it waits.
	Verdict Verdict
	Since   time.Time
	// Until is when it ends unanswered.
	Until time.Time
	// Gone says that the caller no longer waits: what can be allowed is one retry
	// of the identical call (A5).
	Gone bool
}

// How says how an ask ended.
type How string

// The ways. Each is said to the caller in its own words; only Decided is the
// person's answer, and silence is no consent.
const (
	Decided   How = "decided"   // by a person, about this ask
	Covered   How = "covered"   // by a grant or rule that came meanwhile
	TimedOut  How = "timed out" // nobody answered
	Crowded   How = "crowded"   // too many asks wait for this server
	Muted     How = "muted"     // the person wants no asks of this server now
	Cancelled How = "cancelled" // the caller took the call back
	Left      How = "left"      // the caller went away
	Closed    How = "closed"    // the program ends
)

// Outcome is how an ask ended. Effect is [Allow] or [Deny].
type Outcome struct {
	Effect Effect
	How    How
	// Scope is how much a person's yes covers.
	Scope Scope
	// By names who or what decided: a decider given to the desk, or the rule or
	// grant.
	By string
	// Waited is how long the call was held up.
	Waited time.Duration
}

// ErrCancelled is the cause of a context whose caller cancelled explicitly. Any
// other end of the context is taken for a caller that went away or timed out, and
// may retry (A5).
var ErrCancelled = errors.New("the caller cancelled the call")

// ErrNoAsk says that an ask is not there any more: answered, expired, or cancelled
// by its caller.
var ErrNoAsk = errors.New("the ask is gone")
