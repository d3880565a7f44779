package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// maxState bounds a requestState's content, which travels with every retry.
const maxState = 1 << 20

// rounds is what a call knows of its earlier rounds. Only the handler's goroutine
// touches it.
type rounds struct {
	// past are the answers of earlier rounds in the order they were taken.
	past []roundAnswer
	next int
	// fresh came with this request.
	fresh Answers
	// kept is the handler's own.
	kept json.RawMessage
	// ask is the key under which approval was asked for, until askUntil; approved
	// says that it was given.
	ask      string
	askUntil time.Time
	approved bool
	// ticket is of the state that came with this request, zero for none.
	ticket ticket
}

type roundAnswer struct {
	Key    string          `json:"k"`
	Answer json.RawMessage `json:"a"`
}

// roundState is what a requestState holds.
type roundState struct {
	Past []roundAnswer   `json:"p,omitempty"`
	Kept json.RawMessage `json:"s,omitempty"`

	Ask      string `json:"q,omitempty"`
	AskUntil int64  `json:"u,omitempty"` // Unix time in ms
	Approved bool   `json:"y,omitempty"`
}

// take answers inputs from earlier rounds and this one. What is missing is asked
// for again (basic/patterns/mrtr "Error Handling"), and only that.
func (r *rounds) take(inputs Inputs) (Answers, error) {
	answers, missing := Answers{}, Inputs{}
	for len(answers) < len(inputs) && r.next < len(r.past) {
		got := r.past[r.next]
		if _, asked := inputs[got.Key]; !asked || answers[got.Key] != nil {
			break
		}
		answers[got.Key] = got.Answer
		r.next++
	}
	for key, in := range inputs {
		if answers[key] != nil {
			continue
		}
		a, ok := r.fresh[key]
		if !ok {
			missing[key] = in
			continue
		}
		delete(r.fresh, key)
		answers[key] = a
		r.past = append(r.past, roundAnswer{key, a})
		r.next = len(r.past)
	}
	if len(missing) > 0 {
		return nil, &InputRequired{missing}
	}
	return answers, nil
}

// Keep has v, any JSON, sealed into the requestState that a modern client brings
// with its retry, where Kept gives it back.
func (c *Call) Keep(v json.RawMessage) { c.rounds.kept = v }

// Kept is what an earlier round kept, or this one; nil for nothing.
func (c *Call) Kept() json.RawMessage { return c.rounds.kept }

// Responses are the answers that came with this very request, raw. They are a
// client's word and were checked for being objects only.
func (c *Call) Responses() Answers { return c.rounds.fresh }

// openState reads the retry's fields. The error is -32602 for answers that are no
// objects and for a state that is not ours, was changed, has expired, or was given
// for another client or request.
func (c *Call) openState() *jsonrpc.Error {
	if !c.Caller.Modern() || !mcp.MayRequireInput(c.Method) {
		return nil
	}
	c.rounds.fresh = Answers{}
	if raw := c.fields["inputResponses"]; raw != nil && string(raw) != "null" {
		fields := fieldsOf(raw)
		if fields == nil {
			return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "inputResponses must be an object")
		}
		for key, v := range fields {
			if v[0] != '{' {
				return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "every input response must be an object")
			}
			c.rounds.fresh[key] = v
		}
	}
	raw := c.fields["requestState"]
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var text string
	var st roundState
	if json.Unmarshal(raw, &text) != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "requestState must be a string")
	}
	plain, t, err := c.conn.server.states.open(text, c.binding())
	if err != nil || json.Unmarshal(plain, &st) != nil {
		return errStale()
	}
	c.rounds.ticket = t
	c.rounds.past, c.rounds.kept = st.Past, st.Kept
	c.rounds.ask, c.rounds.askUntil, c.rounds.approved = st.Ask, time.UnixMilli(st.AskUntil), st.Approved
	return nil
}

func errStale() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "requestState is not valid for this request")
}

// redeeming redeems the state that came with a call once a worker begins with it, so
// that a call refused before that, such as for a busy server, can come again with
// the same answers (S8).
func redeeming(handle Handler) Handler {
	return func(ctx context.Context, c *Call) (any, error) {
		if t := c.rounds.ticket; t.nonce != "" && !c.conn.server.states.redeem(t) {
			return nil, errStale()
		}
		return handle(ctx, c)
	}
}

// inputRequired is the result for a modern client. The state is sealed only when
// there is something to carry.
func (c *Call) inputRequired(e *InputRequired) (json.RawMessage, *jsonrpc.Error) {
	if !c.Caller.Modern() || !mcp.MayRequireInput(c.Method) {
		return nil, internal(c.Method, ErrBadResult)
	}
	result := struct {
		ResultType string `json:"resultType"`
		Inputs     Inputs `json:"inputRequests,omitempty"`
		State      string `json:"requestState,omitempty"`
	}{ResultType: mcp.ResultInputRequired, Inputs: e.Inputs}
	r := &c.rounds
	if len(r.past) > 0 || r.kept != nil || r.ask != "" || r.approved || len(e.Inputs) == 0 {
		plain, err := json.Marshal(roundState{r.past, r.kept, r.ask, r.askUntil.UnixMilli(), r.approved})
		if err != nil || len(plain) > maxState {
			return nil, internal(c.Method, ErrBadResult)
		}
		result.State = c.conn.server.states.seal(plain, c.binding())
	}
	b, err := json.Marshal(result)
	if err != nil {
		return nil, internal(c.Method, ErrBadResult)
	}
	return b, nil
}

// binding names what a state was given for: the client and the request, without
// what a retry may change.
func (c *Call) binding() []byte {
	b := []byte(c.Peer.Owner + "\x00" + c.Method + "\x00" + c.Name + "\x00")
	return append(b, c.Arguments()...)
}
