package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Effect is what an authorizer says.
type Effect string

// The effects. The zero value is none of them and denies.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Decision is an authorizer's answer.
type Decision struct {
	Effect Effect
	// Text is the prompt of an [Ask], the reason of a [Deny]. The client sees it,
	// except the prompt of a read.
	Text string
	// Asker is asked instead of [Options.Asker].
	Asker Asker
	// About goes to the asker as it is.
	About any
}

// Authorizer decides about a tool call (S4). Peer is what the front door vouches
// for; nothing the client says of itself reaches an authorizer but the call. It runs
// in the call's worker. A panic, or an effect that is none, denies.
type Authorizer func(ctx context.Context, peer Peer, tool string, arguments json.RawMessage) Decision

// ReadAuthorizer decides about lists, reads, subscriptions, prompts, completion and
// the log level, by method. Of the params it sees what is read: {"uri"}, {"name",
// "arguments"}, {"ref"}, {"level"}, {"notifications"}, or {} for a list. [Ask] means
// denial here: there is nobody to ask (S4).
type ReadAuthorizer func(ctx context.Context, peer Peer, method string, subject json.RawMessage) Decision

// Why a decision is a denial although no authorizer said so.
const (
	authorizerFailed    = "authorizer_failed"
	contractViolation   = "authorizer_contract_violation"
	askUnsupported      = "interactive_approval_unsupported"
	sensitiveUnguarded  = "sensitive_tool_unguarded"
	authorizationNeeded = "authorization_required"
)

// Denied says that a tool call was not authorized. The client gets it as an isError
// result of one text, which is JSON: {"error":"authorization_required","tool",
// "decision","detail"}. A handler may return it too.
type Denied struct {
	Tool string
	// Decision is what the authorizer said: [Deny], or [Ask] when nobody approved.
	Decision Effect
	Detail   string
}

func (e *Denied) Error() string { return authorizationNeeded + ": " + e.Detail }

func (e *Denied) result() ToolResult {
	b, _ := json.Marshal(struct {
		Error    string `json:"error"`
		Tool     string `json:"tool"`
		Decision Effect `json:"decision"`
		Detail   string `json:"detail"`
	}{authorizationNeeded, e.Tool, e.Decision, e.Detail}) // strings always marshal
	return ToolResult{Content: []Content{Text(string(b))}, IsError: true}
}

// authorized lets the tool run only when the call may: in this order the guard of
// sensitive tools (S5), the authorizer, and who is asked.
func authorized(t *Tool) Handler {
	return func(ctx context.Context, c *Call) (any, error) {
		authorize := c.conn.server.authorizer
		switch {
		case authorize == nil && t.sensitive:
			return nil, &Denied{c.Name, Deny, sensitiveUnguarded}
		case authorize == nil:
			return t.Handle(ctx, c)
		}
		d := c.decide(func() Decision { return authorize(ctx, c.Peer, c.Name, c.Arguments()) })
		switch d.Effect {
		case Deny:
			return nil, &Denied{c.Name, Deny, d.Text}
		case Ask:
			if err := c.approve(ctx, d); err != nil {
				return nil, err
			}
		}
		return t.Handle(ctx, c)
	}
}

// decide asks an authorizer; what is no decision denies.
func (c *Call) decide(ask func() Decision) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			c.conn.server.logPanic(c.conn.ctx, c.Method, c.Name, p)
			d = Decision{Effect: Deny, Text: authorizerFailed}
		}
	}()
	switch d = ask(); d.Effect {
	case Allow, Ask, Deny:
		return d
	}
	return Decision{Effect: Deny, Text: contractViolation}
}

// mayRead is nil, or the error that the read authorizer's denial is. Its code is
// neither one that SDKs take for transient and retry, nor a reserved one.
func (c *Call) mayRead(ctx context.Context) *jsonrpc.Error {
	authorize := c.conn.server.readAuthorizer
	if authorize == nil {
		return nil
	}
	d := c.decide(func() Decision { return authorize(ctx, c.Peer, c.Method, c.subject()) })
	switch d.Effect {
	case Allow:
		return nil
	case Ask:
		d.Text = askUnsupported
	}
	e := jsonrpc.Errorf(mcp.CodeAuthorizationRequired, "%s: %s", authorizationNeeded, c.Method)
	e.Data, _ = json.Marshal(map[string]string{"error": authorizationNeeded, "method": c.Method, "detail": d.Text})
	return e
}

// subject is what of the params a read authorizer sees.
func (c *Call) subject() json.RawMessage {
	seen := map[string]json.RawMessage{}
	for _, name := range []string{"uri", "name", "arguments", "ref", "level", "notifications"} {
		if v := c.fields[name]; v != nil {
			seen[name] = v
		}
	}
	b, err := json.Marshal(seen)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}

// gated runs a read in a worker, after its authorizer said yes and before anything
// was looked up, so that a denial says nothing of what there is.
func (m method) gated(ctx context.Context, c *Call) (any, error) {
	if err := c.mayRead(ctx); err != nil {
		return nil, err
	}
	if m.inline != nil {
		result, err := m.inline(c)
		if err != nil {
			return nil, err
		}
		return result, nil
	}
	handle, err := m.prepare(c)
	if err == nil {
		err = c.openState()
	}
	if err != nil {
		return nil, err
	}
	return redeeming(handle)(ctx, c)
}

// ErrUnguarded says that a server has sensitive tools and no authorizer (S5).
var ErrUnguarded = errors.New("sensitive tools need an authorizer")

// sensitiveTools are the registered tools that need an authorizer.
func (r *Registry) sensitiveTools() (names []string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, e := range r.tools.order {
		if e.value.sensitive {
			names = append(names, e.value.name)
		}
	}
	return names
}
