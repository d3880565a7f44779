package client

import (
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/era"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// State is where a session stands (C1).
type State string

// The states of a session. Off and "waiting for a secret" are the hub's: then
// there is no session.
const (
	Starting     State = "starting"     // spawning, dialling, probing
	Initializing State = "initializing" // handshake under way
	Ready        State = "ready"
	Retrying     State = "retrying" // next attempt at RetryAt
	Blocked      State = "blocked"  // by the provenance gate or the address policy
	SignIn       State = "authorizing"
	Failed       State = "failed" // needs a person
	Closed       State = "closed" // Run has ended
)

// Status is a session at one moment.
type Status struct {
	State   State
	Since   time.Time
	RetryAt time.Time
	// Err is why the session is not ready. LastErr is the last failure of the
	// connection, kept after recovery.
	Err, LastErr error
	LastErrAt    time.Time
	// Restarts counts failed attempts since the last sustained uptime.
	Restarts int

	// The rest is empty unless State is Ready.
	Version      mcp.Version
	Verdict      era.Verdict
	Cached       bool // the connection used a kept verdict
	Info         mcp.Implementation
	Capabilities mcp.Capabilities
	Instructions string
	Concurrency  Concurrency
	// InFlight of Slots are taken; Queued calls wait. Waited says that a call
	// has had to wait on this connection; the session's own requests, such as for
	// lists, are not counted.
	InFlight, Slots, Queued int
	Waited                  bool
	Lists                   map[ListKind]ListStatus
	Calls                   []CallRecord
}

// CallRecord is one finished exchange, for the health history.
type CallRecord struct {
	At       time.Time
	Method   string
	Duration time.Duration
	OK       bool
}

// maxHistory is how many exchanges are kept.
const maxHistory = 50

// history keeps the last exchanges. It takes no room before there are any.
type history struct {
	ring []CallRecord
	n    int
}

func (h *history) add(r CallRecord) {
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, r)
	} else {
		h.ring[h.n%maxHistory] = r
	}
	h.n++
}

// list returns the records, oldest first.
func (h *history) list() []CallRecord {
	out := make([]CallRecord, 0, len(h.ring))
	for i := max(0, h.n-len(h.ring)); i < h.n; i++ {
		out = append(out, h.ring[i%len(h.ring)])
	}
	return out
}

// Status returns the session's status.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.st
	out := Status{
		State: st.state, Since: st.since, RetryAt: st.retryAt,
		Err: st.err, LastErr: st.lastErr, LastErrAt: st.lastAt, Restarts: st.restarts,
		Calls: st.calls.list(), Lists: map[ListKind]ListStatus{},
	}
	for k, l := range st.lists {
		out.Lists[k] = l.status()
	}
	if o := st.conn; o != nil {
		out.Version, out.Verdict, out.Cached = o.version, o.verdict, o.cached
		out.Info, out.Capabilities, out.Instructions = o.info, o.caps, o.instructions
		out.Concurrency = o.policy
		out.InFlight, out.Slots, out.Queued, out.Waited = o.link.load()
	}
	return out
}
