package client

import (
	"bytes"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// declared returns the capabilities that we declare to servers, as JSON: only
// what a handler is there for (case 62).
func declared(h Handlers) []byte {
	if h.Capabilities != nil {
		return h.Capabilities
	}
	if h.Elicit != nil {
		return []byte(`{"elicitation":{"form":{},"url":{}}}`)
	}
	return []byte(`{}`)
}

// initializeParams offers the newest legacy revision (E1).
func (s *Session) initializeParams() json.RawMessage {
	b, _ := json.Marshal(struct {
		ProtocolVersion mcp.Version        `json:"protocolVersion"`
		Capabilities    json.RawMessage    `json:"capabilities"`
		ClientInfo      mcp.Implementation `json:"clientInfo"`
	}{mcp.LatestLegacy, s.caps, s.cfg.Info})
	return b
}

// withMeta returns fields, an object without _meta, with a _meta of the caller's
// members, what the version requires on every request (C3; basic/index
// "Per-request protocol fields"), and a progress token if one is given. The bytes
// of fields are kept.
func (s *Session) withMeta(fields, caller json.RawMessage, v mcp.Version, token, caps []byte) json.RawMessage {
	var meta []byte
	put := func(key string, value []byte) {
		if len(meta) > 0 {
			meta = append(meta, ',')
		}
		meta = append(meta, '"')
		meta = append(append(append(meta, key...), `":`...), value...)
	}
	members, _ := jsonrpc.Members(caller)
	for _, m := range members {
		if !ours(m.Name) {
			name, _ := json.Marshal(m.Name)
			put(string(name[1:len(name)-1]), m.Value)
		}
	}
	if token != nil {
		put(mcp.MetaProgressToken, token)
	}
	if v.Modern() {
		version, _ := json.Marshal(v)
		info, _ := json.Marshal(s.cfg.Info)
		put(mcp.MetaVersion, version)
		put(mcp.MetaClientInfo, info)
		put(mcp.MetaCapabilities, caps)
	}
	if meta == nil && (len(fields) == 0 || string(fields) == "{}") {
		return nil
	}
	out := make([]byte, 0, len(fields)+len(meta)+16)
	body := bytes.TrimSpace(fields)
	if len(body) < 2 {
		body = []byte("{}")
	}
	out = append(out, body[:len(body)-1]...)
	if meta != nil {
		if len(bytes.TrimSpace(body[1:len(body)-1])) > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, `"_meta":{`...), meta...), '}')
	}
	return append(out, '}')
}

// ours reports whether a _meta key is set by the session and not by its caller.
func ours(key string) bool {
	switch key {
	case mcp.MetaProgressToken, mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaCapabilities:
		return true
	}
	return false
}
