package client

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// inputRequired is what we read of an InputRequiredResult. State keeps its exact
// JSON text: it goes back byte for byte (C4).
type inputRequired struct {
	requests []jsonrpc.Member
	state    json.RawMessage
}

// rounds sends the call, and again with the inputs that the server asks for, until
// there is a final result (basic/patterns/mrtr; C4).
func (s *Session) rounds(ctx context.Context, o *opened, c Call) (json.RawMessage, int, error) {
	fields := c.Fields
	refused := false
	key := cacheKey(o, c)
	_, gen := o.cache.get(key)
	for round := 0; ; round++ {
		result, epoch, err := s.exchange(ctx, o, c)
		if err != nil {
			if retry, rerr := s.urlElicitations(ctx, o, c, err); retry && round < maxRounds {
				continue
			} else if rerr != nil {
				err = rerr
			}
			return nil, epoch, err
		}
		need, err := readResult(o, c.Method, result)
		if err == nil && need != nil && c.PassInput {
			return result, epoch, nil
		}
		if err == nil && need == nil && round == 0 && key != "" {
			o.cache.put(key, result, gen)
		}
		if err != nil || need == nil {
			return result, epoch, err
		}
		switch {
		case round == maxRounds:
			return nil, epoch, &transport.Error{Code: transport.Invalid, Reason: "too_many_rounds"}
		case refused && len(need.requests) > 0:
			// The person has said no; asking again would nag (case 65).
			return nil, epoch, &transport.Error{Code: transport.Cancelled, Reason: "declined"}
		}
		var responses json.RawMessage
		if len(need.requests) > 0 {
			if responses, refused, err = s.gather(ctx, o, c, need.requests); err != nil {
				return nil, epoch, err
			}
		} else if err := sleep(ctx, time.Duration(round)*100*time.Millisecond); err != nil {
			return nil, epoch, err
		}
		if c.Fields, err = withInputs(fields, responses, need.state); err != nil {
			return nil, epoch, err
		}
	}
}

// readResult tells a final result (nil, nil) from one that needs input. Absent
// resultType means complete; an unknown one is invalid (basic/index "ResultType").
func readResult(o *opened, method string, result json.RawMessage) (*inputRequired, error) {
	invalid := func(reason string) error {
		return &transport.Error{Code: transport.Invalid, Reason: reason}
	}
	if !o.modern() {
		return nil, nil
	}
	var kind string
	raw := jsonrpc.Get(result, "resultType")
	if raw == nil {
		return nil, nil
	}
	if json.Unmarshal(raw, &kind) != nil {
		return nil, invalid("result_type")
	}
	switch kind {
	case mcp.ResultComplete:
		return nil, nil
	case mcp.ResultInputRequired:
	default:
		return nil, invalid("result_type")
	}
	if !mcp.MayRequireInput(method) {
		return nil, invalid("input_required")
	}
	need := &inputRequired{state: jsonrpc.Get(result, "requestState")}
	if string(need.state) == "null" {
		need.state = nil
	}
	if need.state != nil && need.state[0] != '"' {
		return nil, invalid("request_state")
	}
	if raw := jsonrpc.Get(result, "inputRequests"); raw != nil && string(raw) != "null" {
		var err error
		if need.requests, err = jsonrpc.Members(raw); err != nil {
			return nil, invalid("input_requests")
		}
	}
	if len(need.requests) == 0 && need.state == nil {
		return nil, invalid("input_required")
	}
	if len(need.requests) > maxQuestions {
		return nil, invalid("input_requests")
	}
	return need, nil
}

// withInputs adds a round's inputs to the original params.
func withInputs(fields, responses, state json.RawMessage) (json.RawMessage, error) {
	var err error
	if responses != nil {
		if fields, err = jsonrpc.With(fields, "inputResponses", responses); err != nil {
			return nil, err
		}
	}
	if state != nil {
		return jsonrpc.With(fields, "requestState", state)
	}
	return fields, nil
}

// gather answers all input requests of a round together. It reports whether a
// person declined or cancelled one. Only kinds that we declared may be asked for.
func (s *Session) gather(ctx context.Context, o *opened, c Call, requests []jsonrpc.Member) (json.RawMessage, bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer watch(cancel, o.link, nil)()
	answers := make([]json.RawMessage, len(requests))
	errs := make([]error, len(requests))
	refused := make([]bool, len(requests))
	var wg sync.WaitGroup
	for i, m := range requests {
		var method string
		_ = json.Unmarshal(jsonrpc.Get(m.Value, "method"), &method)
		if c.Input != nil && asksForInput(method) {
			wg.Go(func() {
				r, err := c.Input(ctx, method, jsonrpc.Get(m.Value, "params"))
				if errs[i] = err; err != nil {
					cancel()
					return
				}
				answers[i], refused[i] = r, method == mcp.MethodElicit && !accepts(r)
			})
			continue
		}
		if method != mcp.MethodElicit || s.cfg.Elicit == nil {
			return nil, false, &transport.Error{Code: transport.Invalid, Reason: "undeclared_input"}
		}
		var p mcp.ElicitParams
		if err := json.Unmarshal(jsonrpc.Get(m.Value, "params"), &p); err != nil {
			return nil, false, &transport.Error{Code: transport.Invalid, Reason: "input_requests"}
		}
		wg.Go(func() {
			r, err := s.cfg.Elicit(ctx, Elicitation{ElicitParams: p, Call: c.Target})
			if errs[i] = err; err != nil {
				cancel()
				return
			}
			refused[i] = r.Action != mcp.Accept
			answers[i], errs[i] = json.Marshal(r)
		})
	}
	wg.Wait()
	no := false
	out := []byte{'{'}
	for i, m := range requests {
		if errs[i] != nil {
			return nil, false, unasked(errs[i])
		}
		no = no || refused[i]
		key, err := json.Marshal(m.Name)
		if err != nil {
			return nil, false, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), answers[i]...)
	}
	return append(out, '}'), no, nil
}

// urlElicitations handles the -32042 of 2025-11-25: every listed URL is shown to a
// person; when all are accepted the call is made once more.
func (s *Session) urlElicitations(ctx context.Context, o *opened, c Call, err error) (retry bool, _ error) {
	if rpcCode(err) != mcp.CodeURLElicitation || o.modern() || (s.cfg.Elicit == nil && c.Input == nil) {
		return false, nil
	}
	rpc := err.(*jsonrpc.Error)
	var data struct {
		Elicitations []mcp.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil || len(data.Elicitations) == 0 || len(data.Elicitations) > maxQuestions {
		return false, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer watch(cancel, o.link, nil)()
	for _, p := range data.Elicitations {
		p.Mode = "url"
		accepted, err := s.acceptURL(ctx, c, p)
		if err != nil {
			return false, unasked(err)
		}
		if !accepted {
			return false, &transport.Error{Code: transport.Cancelled, Reason: "declined"}
		}
	}
	return true, nil
}

// acceptURL asks whoever answers for the call whether to go to a URL.
func (s *Session) acceptURL(ctx context.Context, c Call, p mcp.ElicitParams) (bool, error) {
	if c.Input == nil {
		r, err := s.cfg.Elicit(ctx, Elicitation{ElicitParams: p, Call: c.Target})
		return r.Action == mcp.Accept, err
	}
	params, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	r, err := c.Input(ctx, mcp.MethodElicit, params)
	return err == nil && accepts(r), err
}

// asksForInput reports whether a method is one by which servers ask their client.
func asksForInput(method string) bool {
	switch method {
	case mcp.MethodElicit, mcp.MethodSample, mcp.MethodRootsList:
		return true
	}
	return false
}

// accepts reads the action of an ElicitResult.
func accepts(result json.RawMessage) bool {
	var action mcp.Action
	_ = json.Unmarshal(jsonrpc.Get(result, "action"), &action)
	return action == mcp.Accept
}

// unasked is the error of a call whose question could not be put to a person.
func unasked(err error) error {
	return &transport.Error{Code: transport.Cancelled, Reason: "unasked", Err: err}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &transport.Error{Code: transport.Cancelled, Err: ctx.Err()}
	}
}
