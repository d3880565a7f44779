package fakeserver

import (
	"encoding/json"
	"strconv"
)

const defaultSchema = `{"type":"object","properties":{"name":{"type":"string","title":"Your name"}},"required":["name"]}`

// question builds the parameters of elicitation/create. Revisions before
// 2025-11-25 have no mode; it is harmless there.
func (c *call) question() map[string]any {
	q := map[string]any{"message": c.args.Message}
	if c.args.Message == "" {
		q["message"] = "Who are you?"
	}
	if c.args.Mode == "url" {
		q["mode"], q["url"] = "url", c.args.URL
		if !c.modern {
			q["elicitationId"] = "elicitation-1"
		}
		return q
	}
	q["mode"], q["requestedSchema"] = "form", json.RawMessage(defaultSchema)
	if c.args.Schema != nil {
		q["requestedSchema"] = c.args.Schema
	}
	return q
}

// elicit asks the person: by a request of our own in the legacy era, by
// input_required in the modern one (case 66). There it takes args.rounds rounds,
// the last of which answers; a round without a question carries state alone.
func (c *call) elicit() (any, *Error) {
	if !c.modern {
		return c.relay("elicitation/create", c.question())
	}
	if _, ok := c.params.Meta.Capabilities["elicitation"]; !ok {
		return nil, &Error{
			Code: -32021, Message: "Missing required client capability",
			Data: json.RawMessage(`{"requiredCapabilities":{"elicitation":{}}}`),
		}
	}
	if c.params.RequestState == nil {
		return c.inputRequired(1), nil
	}
	c.peer.mu.Lock()
	round, ok := c.peer.rounds[*c.params.RequestState]
	delete(c.peer.rounds, *c.params.RequestState)
	c.peer.mu.Unlock()
	if !ok {
		return nil, &Error{Code: -32602, Message: "Invalid params: unknown requestState"}
	}
	if round < max(c.args.Rounds, 1) {
		return c.inputRequired(round + 1), nil
	}
	return c.text(string(encode(c.params.InputResponses))), nil
}

// inputRequired asks once more. Its state holds characters that a careless
// client changes: escapes, a non-ASCII letter, trailing space.
func (c *call) inputRequired(round int) any {
	c.peer.mu.Lock()
	c.peer.nextID++
	state := "round <" + strconv.Itoa(round) + "> of ask é/" + strconv.Itoa(c.peer.nextID) + " "
	c.peer.rounds[state] = round
	c.peer.mu.Unlock()
	result := map[string]any{"resultType": "input_required", "requestState": state}
	if c.args.Mode != "state" {
		result["inputRequests"] = map[string]any{
			"answer": map[string]any{"method": "elicitation/create", "params": c.question()},
		}
	}
	return result
}

// urlRequired is the -32042 of 2025-11-25: the call succeeds once the page was
// visited, which the next call stands for.
func (c *call) urlRequired() (any, *Error) {
	c.peer.mu.Lock()
	visited := c.peer.settled[c.args.URL]
	c.peer.settled[c.args.URL] = true
	c.peer.mu.Unlock()
	if visited {
		return c.text("visited"), nil
	}
	c.args.Mode = "url"
	go c.peer.announce("notifications/elicitation/complete", map[string]any{"elicitationId": "elicitation-1"})
	return nil, &Error{
		Code: -32042, Message: "This request requires more information.",
		Data: encode(map[string]any{"elicitations": []any{c.question()}}),
	}
}

// request sends any request to the client: roots/list, sampling/createMessage,
// ping, or one that nobody knows.
func (c *call) request() (any, *Error) {
	var given any
	if c.args.Params != nil {
		given = c.args.Params
	}
	return c.relay(c.args.Method, given)
}

// relay asks the client and answers with its result or error, as JSON text.
func (c *call) relay(method string, params any) (any, *Error) {
	answer, ok := c.peer.ask(c.ctx, method, params, c.to)
	switch {
	case !ok:
		return nil, nil
	case answer.Error != nil:
		return c.text(string(encode(map[string]any{"error": answer.Error}))), nil
	default:
		return c.text(string(answer.Result)), nil
	}
}
