package mcp

import (
	"bytes"
	"encoding/json"
)

// Implementation is a peer's name for itself: for display and logs only, never
// for decisions (server/discover "Data Types").
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Capabilities is the raw map of declared capabilities. A name whose value is
// null is not declared; odd value types are tolerated (field case 48).
type Capabilities map[string]json.RawMessage

// Has reports whether a capability is declared.
func (c Capabilities) Has(name string) bool {
	v, ok := c[name]
	return ok && !bytes.Equal(v, []byte("null")) && !bytes.Equal(v, []byte("false"))
}

// HasSub reports whether a capability is declared with a true or object member,
// such as ("resources", "subscribe").
func (c Capabilities) HasSub(name, member string) bool {
	if !c.Has(name) {
		return false
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(c[name], &m) != nil {
		return false
	}
	return Capabilities(m).Has(member)
}

// InitializeResult is what we read of a legacy server's answer.
type InitializeResult struct {
	ProtocolVersion Version        `json:"protocolVersion"`
	Capabilities    Capabilities   `json:"capabilities"`
	ServerInfo      Implementation `json:"serverInfo"`
	Instructions    string         `json:"instructions"`
}

// DiscoverResult is what we read of a modern server's answer to server/discover.
type DiscoverResult struct {
	SupportedVersions []Version    `json:"supportedVersions"`
	Capabilities      Capabilities `json:"capabilities"`
	Instructions      string       `json:"instructions"`
	// TTLMs is how long the result may be kept, in milliseconds.
	TTLMs      float64 `json:"ttlMs"`
	CacheScope string  `json:"cacheScope"`
	// ServerInfo is read from _meta.
	ServerInfo Implementation `json:"-"`
}

// ParseInitializeResult reads an InitializeResult; false when raw is none, that
// is without a protocolVersion string (E3: only a valid one proves legacy).
func ParseInitializeResult(raw json.RawMessage) (InitializeResult, bool) {
	var r InitializeResult
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["protocolVersion"], &r.ProtocolVersion) != nil || r.ProtocolVersion == "" {
		return InitializeResult{}, false
	}
	// The rest is for display: an odd member must not cost the session (C6).
	_ = json.Unmarshal(fields["capabilities"], &r.Capabilities)
	_ = json.Unmarshal(fields["serverInfo"], &r.ServerInfo)
	_ = json.Unmarshal(fields["instructions"], &r.Instructions)
	return r, true
}

// ParseDiscoverResult reads a DiscoverResult; false when raw is none, that is
// without a supportedVersions list.
func ParseDiscoverResult(raw json.RawMessage) (DiscoverResult, bool) {
	var r DiscoverResult
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["supportedVersions"], &r.SupportedVersions) != nil || len(r.SupportedVersions) == 0 {
		return DiscoverResult{}, false
	}
	_ = json.Unmarshal(fields["capabilities"], &r.Capabilities)
	_ = json.Unmarshal(fields["instructions"], &r.Instructions)
	_ = json.Unmarshal(fields["ttlMs"], &r.TTLMs)
	_ = json.Unmarshal(fields["cacheScope"], &r.CacheScope)
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(fields["_meta"], &meta)
	_ = json.Unmarshal(meta[MetaServerInfo], &r.ServerInfo)
	return r, true
}
