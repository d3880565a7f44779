package hub

import (
	"context"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// maxCompletions is the most that a server may offer (server/utilities/completion).
const maxCompletions = 100

// Complete asks a server what an argument of a prompt or a template could be, at
// most 100 values, the best first. The error is a *CallError.
func (h *Hub) Complete(ctx context.Context, name string, c Completing) ([]string, error) {
	type ref struct {
		Type string `json:"type"`
		Name string `json:"name,omitempty"`
		URI  string `json:"uri,omitempty"`
	}
	type argument struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type given struct {
		Arguments map[string]string `json:"arguments"`
	}
	params := struct {
		Ref      ref      `json:"ref"`
		Argument argument `json:"argument"`
		Context  *given   `json:"context,omitempty"`
	}{ref{Type: "ref/prompt", Name: c.Prompt}, argument{c.Argument, c.Value}, nil}
	if c.Template != "" {
		params.Ref = ref{Type: "ref/resource", URI: c.Template}
	}
	if len(c.Others) > 0 {
		params.Context = &given{c.Others}
	}
	fields, err := json.Marshal(params)
	if err != nil {
		return nil, &CallError{Sentence: "The argument cannot be sent.", err: err}
	}
	raw, err := h.request(ctx, name, func(s *client.Session) (json.RawMessage, error) {
		return s.Do(ctx, client.Call{Method: mcp.MethodComplete, Fields: fields})
	})
	if err != nil {
		return nil, err
	}
	var values []string
	_ = json.Unmarshal(jsonrpc.Get(jsonrpc.Get(raw, "completion"), "values"), &values) // an odd one offers nothing
	return values[:min(len(values), maxCompletions)], nil
}
