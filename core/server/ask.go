package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Input is one request for input from the client: elicitation/create,
// sampling/createMessage or roots/list, with the params as they will be sent.
type Input struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Inputs are requests for input by keys that the handler chooses.
type Inputs map[string]Input

// Answers are the client's results by the keys of their Inputs.
type Answers map[string]json.RawMessage

// InputRequired says that a modern client must answer first. A handler returns it
// as its error; the client sees an input_required result and retries (basic/
// patterns/mrtr). The gateway makes it itself from an upstream's.
type InputRequired struct {
	Inputs Inputs
}

func (e *InputRequired) Error() string { return "input from the client is required" }

// ErrUnanswered says that a legacy client did not answer in time or could not be
// reached, ErrRefused that it answered with an error.
var (
	ErrUnanswered = errors.New("the client did not answer")
	ErrRefused    = errors.New("the client refused the request")
)

// Ask gets input from the client.
//
// A legacy client is sent the requests on its connection, all at once, and Ask
// waits without holding a worker; the errors are [ErrUnanswered], [ErrRefused] and
// the context's. For a modern client Ask returns the answers that came with the
// request, or [*InputRequired] for those that are missing. Answers of earlier
// rounds travel in the sealed requestState and are given to the same sequence of
// Asks again, so a handler may ask several times, and again under the same key.
//
// In both eras [*MissingCapability] says that the client did not declare what an
// input needs.
func (c *Call) Ask(ctx context.Context, inputs Inputs) (Answers, error) {
	for _, in := range inputs {
		if err := c.Caller.can(in); err != nil {
			return nil, err
		}
	}
	if c.Caller.Modern() {
		return c.rounds.take(inputs)
	}
	return c.askNow(ctx, inputs)
}

// Elicit asks a person under the key; see [Call.Ask].
func (c *Call) Elicit(ctx context.Context, key string, params json.RawMessage) (mcp.ElicitResult, error) {
	answers, err := c.Ask(ctx, Inputs{key: {mcp.MethodElicit, params}})
	if err != nil {
		return mcp.ElicitResult{}, err
	}
	var r mcp.ElicitResult
	if json.Unmarshal(answers[key], &r) != nil || (r.Action != mcp.Accept && r.Action != mcp.Decline && r.Action != mcp.Cancel) {
		return r, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the answer to the elicitation has no valid action")
	}
	return r, nil
}

// Can reports whether the client declared what the input needs.
func (c *Call) Can(in Input) bool { return c.Caller.can(in) == nil }

// can is nil or [*MissingCapability] (client/elicitation, client/sampling,
// client/roots "Capabilities"). An elicitation capability without modes means form.
func (c Caller) can(in Input) error {
	missing := func(name, required string) error {
		return &MissingCapability{Name: name, Required: json.RawMessage(required)}
	}
	caps := c.Capabilities
	switch in.Method {
	case mcp.MethodElicit:
		var p mcp.ElicitParams
		_ = json.Unmarshal(in.Params, &p)
		if p.Mode == "url" {
			if !caps.HasSub("elicitation", "url") {
				return missing("url elicitation", `{"elicitation":{"url":{}}}`)
			}
		} else if !caps.Has("elicitation") || (caps.HasSub("elicitation", "url") && !caps.HasSub("elicitation", "form")) {
			return missing("elicitation", `{"elicitation":{}}`)
		}
	case mcp.MethodSample:
		if !caps.Has("sampling") {
			return missing("sampling", `{"sampling":{}}`)
		}
	case mcp.MethodRootsList:
		if !caps.Has("roots") {
			return missing("roots", `{"roots":{}}`)
		}
	default:
		return fmt.Errorf("%q is no request for input", in.Method)
	}
	return nil
}

// askNow sends the requests to a legacy client and waits for all answers. The
// worker is given up meanwhile (S3: parked calls hold no worker).
func (c *Call) askNow(ctx context.Context, inputs Inputs) (Answers, error) {
	c.clock.pause()
	c.leaveWorker()
	answers, err := c.gather(ctx, inputs)
	if back := c.conn.server.workers.retake(c.ctx, c.Peer.Owner); err == nil {
		err = back
	}
	c.working = true
	c.clock.start()
	return answers, err
}

func (c *Call) gather(ctx context.Context, inputs Inputs) (Answers, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.conn.server.limits.AnswerTimeout, ErrUnanswered)
	defer cancel()
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		answers = Answers{}
		first   error
	)
	for key, in := range inputs {
		wg.Go(func() {
			r, err := c.conn.ask(ctx, newAskID(), c.id, in)
			mu.Lock()
			defer mu.Unlock()
			answers[key] = r
			if err != nil && first == nil {
				first = err
				cancel()
			}
		})
	}
	wg.Wait()
	return answers, first
}

// ask sends one request to a legacy client, on the stream of the call it belongs
// to, and waits for the answer. Only this connection can give it: the name is
// unguessable, but no authority.
func (c *Conn) ask(ctx context.Context, name string, about jsonrpc.ID, in Input) (json.RawMessage, error) {
	id := jsonrpc.StringID(name)
	answer := make(chan *jsonrpc.Message, 1)
	c.mu.Lock()
	c.asked[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asked, id)
		c.mu.Unlock()
	}()
	if err := c.send(ctx, jsonrpc.Call(id, in.Method, legacyParams(in)), about); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%w with code %d", ErrRefused, m.Error.Code)
		}
		return m.Result, nil
	case <-ctx.Done():
		// We stop waiting, so the client's dialog should go (basic/utilities/
		// cancellation of 2025-11-25: either side may cancel its requests).
		raw, _ := id.MarshalJSON()
		_ = c.send(c.ctx, jsonrpc.Notify(mcp.NotifyCancelled, json.RawMessage(`{"requestId":`+string(raw)+`}`)), about)
		return nil, context.Cause(ctx)
	}
}

// legacyParams gives a url elicitation the elicitationId that 2025-11-25 asks for.
func legacyParams(in Input) json.RawMessage {
	var p mcp.ElicitParams
	if in.Method != mcp.MethodElicit || json.Unmarshal(in.Params, &p) != nil || p.Mode != "url" || p.ElicitationID != "" {
		return in.Params
	}
	with, err := jsonrpc.With(in.Params, "elicitationId", quote(newToken()))
	if err != nil {
		return in.Params
	}
	return with
}

// answered takes a client's response. One to nothing we asked is never answered
// back, so two strict peers cannot loop.
func (c *Conn) answered(m *jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.asked[m.ID]; ok {
		delete(c.asked, m.ID)
		answer <- m
	}
}
