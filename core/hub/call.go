package hub

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// CallError says in one sentence why a call had no result. It is what a person
// sees.
type CallError struct {
	Sentence string
	// Words are the server's own, masked and bounded.
	Words []string
	// Cancelled says that the person stopped the call.
	Cancelled bool
	err       error
}

func (e *CallError) Error() string { return e.Sentence }

func (e *CallError) Unwrap() error { return e.err }

// Call calls a tool with raw JSON arguments, which are sent byte for byte (A4).
// progress may be nil; it is called on the server's goroutine and must return at
// once. The error is a *CallError.
func (h *Hub) Call(ctx context.Context, name, tool string, args json.RawMessage, progress func(Progress)) (*Outcome, error) {
	began := time.Now()
	raw, err := h.request(ctx, name, func(s *client.Session) (json.RawMessage, error) {
		return s.CallTool(ctx, tool, args, h.progressing(progress))
	})
	if err != nil {
		return nil, err
	}
	out := outcomeOf(raw)
	out.Duration = time.Since(began)
	return out, nil
}

// request sends a person's request to a server. The error is a *CallError.
func (h *Hub) request(ctx context.Context, name string, send func(*client.Session) (json.RawMessage, error)) (json.RawMessage, error) {
	v, err := h.find(name)
	if err != nil {
		return nil, &CallError{Sentence: "There is no server of that name any more.", err: err}
	}
	v.mu.Lock()
	s, sp := v.session, v.entry.Spec
	v.mu.Unlock()
	if s == nil {
		return nil, &CallError{Sentence: "The server is not running.", err: &transport.Error{Code: transport.NotReady}}
	}
	raw, err := send(s)
	if err != nil {
		ce := &CallError{Cancelled: ctx.Err() != nil, err: err}
		ce.Sentence, ce.Words = v.masked(explain(err, hostOf(sp)))
		return nil, ce
	}
	return raw, nil
}

// progressing reads progress notifications; the value shown never falls (field
// case 67).
func (h *Hub) progressing(f func(Progress)) func(json.RawMessage) {
	if f == nil {
		return func(json.RawMessage) {}
	}
	var best Progress
	return func(params json.RawMessage) {
		var p struct {
			Progress json.RawMessage `json:"progress"`
			Total    json.RawMessage `json:"total"`
			Message  string          `json:"message"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		best.Done = max(best.Done, number(p.Progress))
		best.Total = max(0, number(p.Total))
		best.Message = h.cfg.Mask.Mask(p.Message)
		f(best)
	}
}

// number reads a number, also one that was written as a string.
func number(raw json.RawMessage) float64 {
	var f float64
	if json.Unmarshal(raw, &f) == nil {
		return f
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		_ = json.Unmarshal([]byte(s), &f)
	}
	return f
}

// outcomeOf decodes a tool's result for showing. Whatever is odd about it becomes
// a block that says so; nothing is dropped (field case 57).
func outcomeOf(raw json.RawMessage) *Outcome {
	out := &Outcome{Raw: raw, Structured: jsonrpc.Get(raw, "structuredContent")}
	_ = json.Unmarshal(jsonrpc.Get(raw, "isError"), &out.IsError)
	blocks := jsonrpc.Get(raw, "content")
	var list []json.RawMessage
	switch {
	case blocks == nil, string(blocks) == "null":
	case json.Unmarshal(blocks, &list) != nil:
		out.Content = []Content{{Type: "unknown", Raw: blocks, Problem: "The content is not a list."}}
	}
	for _, b := range list {
		out.Content = append(out.Content, contentOf(b))
	}
	if string(out.Structured) == "null" {
		out.Structured = nil
	}
	return out
}

func contentOf(raw json.RawMessage) Content {
	var b struct {
		Type     string   `json:"type"`
		Text     string   `json:"text"`
		Data     string   `json:"data"`
		MIME     string   `json:"mimeType"`
		URI      string   `json:"uri"`
		Name     string   `json:"name"`
		Title    string   `json:"title"`
		Resource contents `json:"resource"`
	}
	c := Content{Raw: raw}
	if json.Unmarshal(raw, &b) != nil {
		c.Type, c.Problem = "unknown", "The block is not what its type says."
		return c
	}
	c.Type, c.MIME = b.Type, b.MIME
	switch b.Type {
	case "text":
		c.Text = b.Text
	case "image", "audio":
		c.decode(b.Data)
	case "resource_link":
		c.URI, c.Name = b.URI, orElse(b.Title, b.Name)
	case "resource":
		c.resource(b.Resource)
	case "":
		c.Type, c.Problem = "unknown", "The block has no type."
	default:
		c.Problem = "Drawbridge does not know this kind of block."
	}
	return c
}

// contents are those of a resource.
type contents struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType"`
	Text *string `json:"text"`
	Blob string  `json:"blob"`
}

func (c *Content) resource(r contents) {
	c.URI, c.MIME = r.URI, r.MIME
	if r.Text != nil {
		c.Text = *r.Text
	} else {
		c.decode(r.Blob)
	}
}

func (c *Content) decode(data string) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		c.Problem = "The data is not valid base64."
		return
	}
	c.Data = b
}
