package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/approval"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// authorize decides about a tool call (A1). The client's word is in none of it: who
// calls is the view's, and the tool is the one that will be called.
func (v *view) authorize(_ context.Context, _ server.Peer, tool string, arguments json.RawMessage) server.Decision {
	g := v.gateway
	if g.cfg.Book == nil {
		return server.Decision{Effect: server.Allow}
	}
	o, ok := v.find(tools, tool)
	if !ok {
		return server.Decision{Effect: server.Deny, Text: "the tool is not offered any more"}
	}
	u, ok := g.find(o.server)
	if !ok {
		return server.Decision{Effect: server.Deny, Text: "the server is not running; the call did not run"}
	}
	call := &approval.Call{
		Client: v.client, Server: o.server, Tool: o.name,
		Definition: approval.Define(o.tool, u.Fingerprint),
		Arguments:  arguments, Trusted: u.Trusted,
	}
	verdict := g.cfg.Book.Decide(call)
	switch verdict.Effect {
	case approval.Allow:
		g.cfg.Book.Met(call)
		return server.Decision{Effect: server.Allow}
	case approval.Deny:
		g.denied(call, "denied")
		return server.Decision{Effect: server.Deny, Text: "a rule of the person who runs Drawbridge denies this call; do not repeat it"}
	}
	return server.Decision{Effect: server.Ask, Asker: deskAsker{g}, About: pending{call, verdict}}
}

// pending is what the asker is asked about.
type pending struct {
	call    *approval.Call
	verdict approval.Verdict
}

// deskAsker asks the person at the desk.
type deskAsker struct{ gateway *Gateway }

// Reaches implements [server.Asker]: who is away may come back within the limit.
func (deskAsker) Reaches(*server.Call) bool { return true }

// Ask implements [server.Asker].
func (d deskAsker) Ask(ctx context.Context, q server.Question) (server.Answer, error) {
	p := q.About.(pending)
	waits, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, server.ErrCancelled) {
			cause = approval.ErrCancelled
		}
		cancel(cause)
	})
	defer stop()
	o := d.gateway.cfg.Desk.Ask(waits, p.call, p.verdict, 0)
	if o.Effect == approval.Allow {
		return server.Answer{Approved: true}, nil
	}
	d.gateway.denied(p.call, string(o.How))
	return server.Answer{Detail: denials[o.How]}, nil
}

// denials say why a call was not approved, worded for a model.
var denials = map[approval.How]string{
	approval.Decided:   "the person denied this call; do not repeat it",
	approval.Covered:   "a rule of the person who runs Drawbridge denies this call; do not repeat it",
	approval.TimedOut:  "nobody answered in time; the call did not run, and the person may be asked again later",
	approval.Crowded:   "too many calls wait for the person's decision; try again later",
	approval.Muted:     "the person takes no questions about this server now; do not repeat the call",
	approval.Cancelled: "the call was cancelled while it waited for the person",
	approval.Left:      "the caller went away while the call waited for the person",
	approval.Closed:    "Drawbridge is closing; the call did not run",
}

// denied notes a call that did not run.
func (g *Gateway) denied(c *approval.Call, outcome string) {
	if outcome == string(approval.Decided) || outcome == string(approval.Covered) {
		outcome = "denied"
	}
	g.cfg.Done(Record{Client: c.Client, Server: c.Server, Tool: c.Tool, Arguments: c.Arguments, Began: time.Now(), Outcome: outcome})
}
