package client

import (
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// ToolEntry is one entry of a server's tool list.
type ToolEntry struct {
	mcp.Tool
	// Invalid says in one sentence why the tool cannot be offered; "" when it
	// can. Its neighbours are unaffected (C6).
	Invalid string
	headers []paramHeader
}

// Tools returns the server's tools in its order, invalid ones included. The slice
// is not to be changed.
func (s *Session) Tools() []ToolEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.lists[Tools].tools
}

// readTools reads definitions; odd ones are kept and marked (C6).
func (s *Session) readTools(items []json.RawMessage) []ToolEntry {
	out := make([]ToolEntry, 0, len(items))
	names := map[string]bool{}
	http := s.cfg.Dialer.Kind() == transport.HTTP
	for _, raw := range items {
		t, err := mcp.ParseTool(raw)
		e := ToolEntry{Tool: t}
		switch {
		case err != nil:
			e.Invalid = sentence(err)
		case names[t.Name]:
			e.Invalid = "The server lists another tool of this name."
		case http:
			if e.headers, err = paramHeadersOf(t.InputSchema); err != nil {
				e.Invalid = sentence(err)
			}
		}
		names[t.Name] = true
		if e.Invalid != "" {
			s.cfg.Log.Warn("a tool definition is unusable", "server", s.cfg.Name, "tool", clip(t.Name), "reason", e.Invalid)
		}
		out = append(out, e)
	}
	return out
}

func sentence(err error) string {
	b := []byte(err.Error())
	if b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b) + "."
}
