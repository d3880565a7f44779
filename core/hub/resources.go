package hub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/drawbridge-mcp/drawbridge/core/client"
	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Resources returns a server's resources and then its templates, in its order,
// unusable ones included.
func (h *Hub) Resources(name string) []Resource {
	s := h.session(name)
	if s == nil {
		return nil
	}
	var out []Resource
	for _, raw := range s.Items(client.Resources) {
		out = append(out, h.resource(raw, false))
	}
	for _, raw := range s.Items(client.ResourceTemplates) {
		out = append(out, h.resource(raw, true))
	}
	return out
}

// session returns a server's session, nil when none runs.
func (h *Hub) session(name string) *client.Session {
	v, err := h.find(name)
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session
}

// resource reads a definition member by member: an odd one costs nothing else.
func (h *Hub) resource(raw json.RawMessage, template bool) Resource {
	mask := h.cfg.Mask.Mask
	r := Resource{
		Template: template, Name: mask(textOf(raw, "name")), Title: mask(textOf(raw, "title")),
		Description: mask(textOf(raw, "description")), MIME: textOf(raw, "mimeType"), Size: -1,
	}
	if size := jsonrpc.Get(raw, "size"); size != nil && !template {
		if f := number(size); f >= 0 && f < 1<<53 {
			r.Size = int64(f)
		}
	}
	if !template {
		r.URI = textOf(raw, "uri")
		if r.URI == "" {
			r.Oddity = "The resource has no URI."
		}
		return r
	}
	r.URI = textOf(raw, "uriTemplate")
	var err error
	switch r.Vars, err = templateVars(r.URI); {
	case r.URI == "":
		r.Oddity = "The template has no URI."
	case err != nil:
		r.Oddity = "The template cannot be read (RFC 6570)."
	}
	return r
}

// Read reads a resource. It always asks the server, since a person who reads
// wants what is there now, and takes back the mark that the resource was updated.
// progress is as for Call; the error is a *CallError.
func (h *Hub) Read(ctx context.Context, name, uri string, progress func(Progress)) (*Outcome, error) {
	fields, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return nil, &CallError{Sentence: "The URI cannot be sent.", err: err}
	}
	undo := h.seen(name, uri)
	began := time.Now()
	raw, err := h.request(ctx, name, func(s *client.Session) (json.RawMessage, error) {
		return s.Do(ctx, client.Call{
			Method: mcp.MethodResourcesRead, Fields: fields, Target: uri, Progress: h.progressing(progress), Fresh: true,
		})
	})
	if err != nil {
		undo()
		return nil, err
	}
	out := readOf(raw)
	out.Duration = time.Since(began)
	return out, nil
}

// readOf decodes what was read for showing; nothing is dropped (field case 57).
func readOf(raw json.RawMessage) *Outcome {
	out := &Outcome{Raw: raw}
	list := jsonrpc.Get(raw, "contents")
	var parts []json.RawMessage
	if json.Unmarshal(list, &parts) != nil {
		out.Content = []Content{{Type: "resource", Raw: raw, Problem: "The contents are not a list."}}
	}
	for _, part := range parts {
		c := Content{Type: "resource", Raw: part}
		var r contents
		switch {
		case json.Unmarshal(part, &r) != nil:
			c.Problem = "The contents are not those of a resource."
		case r.Text == nil && jsonrpc.Get(part, "blob") == nil:
			c.Problem = "There is neither a text nor a blob."
		default:
			c.resource(r)
		}
		out.Content = append(out.Content, c)
	}
	return out
}
