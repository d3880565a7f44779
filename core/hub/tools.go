package hub

import "github.com/drawbridge-mcp/drawbridge/core/mcp"

// Tools returns a server's tools in its order, unusable ones included.
func (h *Hub) Tools(name string) []Tool {
	v, err := h.find(name)
	if err != nil {
		return nil
	}
	v.mu.Lock()
	s := v.session
	v.mu.Unlock()
	if s == nil {
		return nil
	}
	mask := h.cfg.Mask.Mask
	entries := s.Tools()
	out := make([]Tool, 0, len(entries))
	for _, t := range entries {
		x := Tool{
			Name: t.Name, Title: mask(t.Title), Description: mask(t.Description), InputSchema: t.InputSchema,
			Oddity: mask(t.Oddity), Invalid: t.Invalid != "",
		}
		if x.Invalid {
			x.Oddity = mask(t.Invalid)
		}
		a := t.Annotations
		x.Destructive = is(a.DestructiveHint) || is(a.Sensitive)
		x.Hints = claims(a)
		out = append(out, x)
	}
	return out
}

// claims are a tool's hints in words: what it says about itself.
func claims(a mcp.Annotations) (out []string) {
	for _, hint := range []struct {
		on   bool
		text string
	}{
		{is(a.ReadOnlyHint), "claims: read-only"},
		{is(a.DestructiveHint), "claims: destructive"},
		{is(a.Sensitive), "claims: sensitive"},
		{is(a.IdempotentHint), "claims: idempotent"},
		{is(a.OpenWorldHint), "claims: reaches out"},
	} {
		if hint.on {
			out = append(out, hint.text)
		}
	}
	return out
}

func is(hint *bool) bool { return hint != nil && *hint }

// Log returns a server's log lines after seq, oldest first, at most max.
func (h *Hub) Log(name string, after uint64, max int) []LogLine {
	v, err := h.find(name)
	if err != nil {
		return nil
	}
	return v.log.after(after, max)
}
