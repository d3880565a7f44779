package hub

import (
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
)

// Ask is a tool call of an AI client that waits for the person's decision.
type Ask struct {
	ID string
	// Client, Server and Tool say who calls what; the tool's name is its server's.
	Client, Server, Tool string
	Title                string
	// Hints are what the tool claims about itself.
	Hints []string
	// Arguments are the bytes that will be sent if the call is allowed (A4).
	Arguments json.RawMessage
	// Why says in one sentence why it asks.
	Why string
	// Diff is how the tool's definition changed, "" where it did not. It is foreign
	// text.
	Diff  string
	Since time.Time
	// Until is when it ends as denied.
	Until time.Time
	// Gone says that the caller no longer waits: allowing lets one identical retry
	// through.
	Gone bool
}

// Scope is how much an answer allows.
type Scope = approval.Scope

// The scopes that the window offers.
const (
	AllowOnce      = approval.Once
	AllowThisCall  = approval.ThisCall
	AllowUntilQuit = approval.UntilQuit
	AllowAlways    = approval.Always
)

// why says in a sentence why a call asks.
var why = map[approval.Reason]string{
	approval.ByRule:      "A rule of yours says to ask.",
	approval.ByChange:    "The tool is not the one you decided about: its definition has changed.",
	approval.ByPrice:     "The call costs something.",
	approval.ByNewTool:   "You have not decided about this tool yet.",
	approval.ByDefault:   "You have not allowed this tool.",
	approval.Unconfirmed: "A rule would allow it, but you have not confirmed that rule.",
	approval.ByClaim:     "The tool claims to be destructive or sensitive.",
}

// asks are the calls that wait, in the order in which they are shown.
func (g *gate) asks() []*Ask {
	var out []*Ask
	for _, w := range g.desk.List() {
		c := w.Call
		a := &Ask{
			ID: w.ID, Client: c.Client, Server: c.Server, Tool: c.Tool, Title: c.Definition.Title,
			Hints: claims(c.Definition.Hints), Arguments: c.Arguments, Why: why[w.Verdict.Reason],
			Since: w.Since, Until: w.Until, Gone: w.Gone,
		}
		if x := w.Verdict.Change; x != nil {
			a.Diff = x.Diff()
			if x.ServerOnly() {
				a.Why = "The configuration of its server has changed since you decided."
			}
		}
		out = append(out, a)
	}
	return out
}

// Allow lets a waiting call run, and what the scope covers. by names who decided. The
// error says that the call does not wait any more.
func (h *Hub) Allow(id string, scope Scope, by string) error {
	if h.gate == nil {
		return ErrNoGateway
	}
	return h.gate.desk.Allow(id, scope, by)
}

// Deny refuses a waiting call; see [Hub.Allow].
func (h *Hub) Deny(id, by string) error {
	if h.gate == nil {
		return ErrNoGateway
	}
	return h.gate.desk.Deny(id, by)
}
