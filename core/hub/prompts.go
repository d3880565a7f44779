package hub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Prompts returns a server's prompts in its order, unusable ones included.
func (h *Hub) Prompts(name string) []Prompt {
	s := h.session(name)
	if s == nil {
		return nil
	}
	var out []Prompt
	for _, raw := range s.Items(client.Prompts) {
		out = append(out, h.prompt(raw))
	}
	return out
}

// prompt reads a definition member by member: an odd one costs nothing else.
func (h *Hub) prompt(raw json.RawMessage) Prompt {
	mask := h.cfg.Mask.Mask
	p := Prompt{
		Name: textOf(raw, "name"), Title: mask(textOf(raw, "title")), Description: mask(textOf(raw, "description")),
	}
	if p.Name == "" {
		p.Oddity = "The prompt has no name."
	}
	args := jsonrpc.Get(raw, "arguments")
	if args == nil || string(args) == "null" {
		return p
	}
	var list []json.RawMessage
	if json.Unmarshal(args, &list) != nil {
		p.Oddity = orElse(p.Oddity, "Its arguments are not a list.")
	}
	for _, arg := range list {
		a := Argument{
			Name: textOf(arg, "name"), Title: mask(textOf(arg, "title")), Description: mask(textOf(arg, "description")),
		}
		_ = json.Unmarshal(jsonrpc.Get(arg, "required"), &a.Required)
		if a.Name == "" {
			p.Oddity = orElse(p.Oddity, "One of its arguments has no name.")
			continue
		}
		p.Arguments = append(p.Arguments, a)
	}
	return p
}

// textOf returns a member of a definition, "" when it is no text.
func textOf(raw json.RawMessage, member string) (s string) {
	_ = json.Unmarshal(jsonrpc.Get(raw, member), &s)
	return s
}

// GetPrompt has a server fill in a prompt. args is a JSON object of texts, which is
// sent byte for byte; nil means none. progress is as for Call; the error is a
// *CallError.
func (h *Hub) GetPrompt(ctx context.Context, name, prompt string, args json.RawMessage, progress func(Progress)) (*Outcome, error) {
	fields, err := json.Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}{prompt, args})
	if err != nil {
		return nil, &CallError{Sentence: "The arguments cannot be sent.", err: err}
	}
	began := time.Now()
	raw, err := h.request(ctx, name, func(s *client.Session) (json.RawMessage, error) {
		return s.Do(ctx, client.Call{
			Method: mcp.MethodPromptsGet, Fields: fields, Target: prompt, Progress: h.progressing(progress),
		})
	})
	if err != nil {
		return nil, err
	}
	out := messagesOf(raw)
	out.Duration = time.Since(began)
	return out, nil
}

// messagesOf decodes a prompt's messages for showing; nothing is dropped (field
// case 57).
func messagesOf(raw json.RawMessage) *Outcome {
	out := &Outcome{Raw: raw}
	var list []json.RawMessage
	if json.Unmarshal(jsonrpc.Get(raw, "messages"), &list) != nil {
		out.Content = []Content{{Type: "unknown", Raw: raw, Problem: "The messages are not a list."}}
	}
	for _, m := range list {
		content := jsonrpc.Get(m, "content")
		var blocks []json.RawMessage
		if json.Unmarshal(content, &blocks) != nil { // one block is the rule
			blocks = []json.RawMessage{content}
		}
		for _, b := range blocks {
			c := Content{Type: "unknown", Raw: m, Problem: "The message has no content."}
			if b != nil {
				c = contentOf(b)
			}
			c.Role = orElse(textOf(m, "role"), "nobody")
			out.Content = append(out.Content, c)
		}
	}
	return out
}
