package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
)

// relay returns a handler that sends the request to the server of that name and answers
// with what it answers (G3). Original is the server's own name for what is asked,
// member the parameter that has it: "name", "uri", "ref", or "" to leave them as they
// are.
func (v *view) relay(name, original, member string) server.Handler {
	return func(ctx context.Context, call *server.Call) (any, error) {
		target := original
		if member == "" {
			target = call.Name // what the client named is the server's own name
		}
		b, err := v.bridge(call, name, target, member)
		if err != nil {
			return ended(err)
		}
		result, err := b.serve(ctx, call)
		if err != nil {
			return ended(err)
		}
		return result, nil
	}
}

// ended is a request that has no answer of its server: a tool's failure is a result.
func ended(err error) (any, error) {
	var f toolFailure
	if errors.As(err, &f) {
		return server.Failed(string(f)), nil
	}
	return nil, err
}

// bridge begins the call to the server, or takes up one that waited for the client's
// answers.
func (v *view) bridge(call *server.Call, name, target, member string) (*bridge, error) {
	g := v.gateway
	var before kept
	if raw := call.Kept(); raw != nil {
		_ = json.Unmarshal(raw, &before) // sealed by us
	}
	if before.Held != "" {
		b := g.held.take(before.Held)
		if b == nil {
			return nil, failed(name, call, "expired", "the call had waited too long for an answer and was stopped")
		}
		b.resume(call)
		return b, nil
	}
	u, ok := g.find(name)
	if !ok {
		return nil, failed(name, call, "server_unavailable", "the server is not running")
	}
	fields, meta, err := rewrite(call, member, target)
	if err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the params are not of the method's form")
	}
	access := g.cfg.Clients.Access(v.client)
	b := newBridge(v, u, call, target, access.AskInClient)
	c := client.Call{
		Method: call.Method, Fields: fields, Meta: meta, Target: target,
		Progress: b.progress, Message: b.message, Input: b.input, Capabilities: b.capabilities(),
	}
	if b.passes() {
		c.PassInput = true
		if responses := call.Responses(); len(responses) > 0 {
			raw, _ := json.Marshal(responses)
			c.Fields, err = jsonrpc.With(c.Fields, "inputResponses", raw)
		}
		if err == nil && before.State != nil {
			c.Fields, err = jsonrpc.With(c.Fields, "requestState", before.State)
		}
		if err != nil {
			return nil, err
		}
	}
	b.run(u.Session, c)
	return b, nil
}

// kept is what the gateway seals into a modern client's requestState: the id of a
// call that is held, or the server's own state.
type kept struct {
	Held  string          `json:"h,omitempty"`
	State json.RawMessage `json:"s,omitempty"`
}

// rewrite splits the client's params into what is sent and _meta. All bytes but those
// of the name stay as they are. What only a retry carries is the bridge's.
func rewrite(call *server.Call, member, target string) (fields, meta json.RawMessage, err error) {
	if len(call.Params) == 0 {
		return nil, nil, nil
	}
	members, err := jsonrpc.Members(call.Params)
	if err != nil {
		return nil, nil, err
	}
	out := []byte{'{'}
	for _, m := range members {
		switch {
		case m.Name == "_meta":
			meta = m.Value
			continue
		case call.Caller.Modern() && (m.Name == "inputResponses" || m.Name == "requestState"):
			continue
		case m.Name == member && member == "ref":
			if m.Value, err = reference(m.Value, target); err != nil {
				return nil, nil, err
			}
		case m.Name == member:
			m.Value, _ = json.Marshal(target)
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), m.Value...)
	}
	return append(out, '}'), meta, nil
}

// reference gives a reference to a prompt the server's own name. Templates keep
// theirs.
func reference(ref json.RawMessage, name string) (json.RawMessage, error) {
	if text(ref, "type") != "ref/prompt" {
		return ref, nil
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	return jsonrpc.With(ref, "name", quoted)
}

// Record tells how a tool call ended, for the history.
type Record struct {
	Client, Server, Tool string
	Arguments, Result    json.RawMessage
	Began                time.Time
	Duration             time.Duration
	// Outcome is "ok", "tool error", or the word of the failure that the client got.
	Outcome string
}

func (b *bridge) record(result json.RawMessage, err error) {
	if b.method != mcp.MethodToolsCall {
		return
	}
	r := Record{
		Client: b.view.client, Server: b.upstream, Tool: b.target, Arguments: b.arguments, Result: result,
		Began: b.began, Duration: time.Since(b.began), Outcome: "ok",
	}
	switch {
	case err != nil:
		r.Outcome = strings.ReplaceAll(word(err), "_", " ")
	case string(jsonrpc.Get(result, "isError")) == "true":
		r.Outcome = "tool error"
	}
	b.view.gateway.cfg.Done(r)
}
