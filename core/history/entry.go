package history

import "time"

// Outcome says how a call ended.
type Outcome string

// The outcomes.
const (
	OK         Outcome = "ok"
	ToolError  Outcome = "tool error" // the tool answered with isError
	Denied     Outcome = "denied"
	TimedOut   Outcome = "timed out"
	CallerGone Outcome = "caller gone"
	// Unknown is a call that may have run although no answer came (T5).
	Unknown Outcome = "outcome unknown"
	Failed  Outcome = "failed" // it did not reach its tool, or broke on the way
)

// Outcomes are all outcomes, in the order in which a person looks for them.
var Outcomes = []Outcome{OK, ToolError, Denied, TimedOut, CallerGone, Unknown, Failed}

// Call is one call to record.
type Call struct {
	// Time is when the call came.
	Time time.Time
	// Client, Server and Tool name the call: the configured client, the tool as its
	// server names it.
	Client, Server, Tool string
	// Decision is what was decided ("allow", "deny"), Decider who or what decided: a
	// rule, a grant, the window, the terminal (A9).
	Decision, Decider string
	// Duration is from the call's coming to its end, the wait for a person included.
	Duration time.Duration
	Outcome  Outcome
	// Arguments and Result are the bytes as they went over the wire, nil for none.
	// They are read before Record returns and not held on to.
	Arguments, Result []byte
}

// Entry is one call as it is kept.
type Entry struct {
	// ID orders the entries: when the call ended, in microseconds of Unix time, made
	// unique.
	ID                   int64
	Time                 time.Time
	Client, Server, Tool string
	Decision, Decider    string
	Duration             time.Duration
	Outcome              Outcome
	// ArgumentBytes and ResultBytes are the sizes of what was sent and received.
	ArgumentBytes, ResultBytes int64
	// Digest is a keyed hash of the arguments, in hex. Equal digests of one history
	// file mean equal arguments; without the file's key it tells nothing of them.
	Digest string
	// Arguments and Result are masked, and cut after [MaxText]. They are "" where the
	// person did not turn keeping on.
	Arguments, Result string
}
