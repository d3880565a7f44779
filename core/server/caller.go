package server

import (
	"encoding/json"
	"slices"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Caller is what a client said of itself: in each modern request's _meta, or in
// its legacy session's initialize. Client is for display and logs only, never for
// decisions; Capabilities says what it may be asked.
type Caller struct {
	Version      mcp.Version
	Client       mcp.Implementation
	Capabilities mcp.Capabilities
	// LogLevel is the lowest level of log messages wanted, "" for none.
	LogLevel Level
}

// Modern reports whether the caller is served by the rules of 2026-07-28.
func (c Caller) Modern() bool { return c.Version.Modern() }

// opensModern reports whether a request carries modern per-request metadata, and
// so is served by itself whatever its connection said before (S1; basic/versioning
// "A dual-era server selects its behavior from how the client opens").
func opensModern(meta map[string]json.RawMessage) bool {
	for _, key := range []string{mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaCapabilities} {
		if _, ok := meta[key]; ok {
			return true
		}
	}
	return false
}

// modernCaller reads the required fields of a modern request's _meta (basic/index
// "Per-request protocol fields"). The error is -32602 for a missing or malformed
// one.
func modernCaller(meta map[string]json.RawMessage) (Caller, *jsonrpc.Error) {
	var c Caller
	missing := func(key string) (Caller, *jsonrpc.Error) {
		return c, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta must have %q", key)
	}
	if json.Unmarshal(meta[mcp.MetaVersion], &c.Version) != nil || c.Version == "" {
		return missing(mcp.MetaVersion)
	}
	if json.Unmarshal(meta[mcp.MetaCapabilities], &c.Capabilities) != nil || c.Capabilities == nil {
		return missing(mcp.MetaCapabilities)
	}
	_ = json.Unmarshal(meta[mcp.MetaClientInfo], &c.Client) // for display; a SHOULD
	if raw, ok := meta[mcp.MetaLogLevel]; ok {
		if json.Unmarshal(raw, &c.LogLevel) != nil || !c.LogLevel.valid() {
			return c, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid log level")
		}
	}
	return c, nil
}

// supports is nil for a version that requests may name, else -32022 with both
// sides' versions (basic/versioning "Protocol Version Negotiation").
func supports(v mcp.Version) *jsonrpc.Error {
	if v.Supported() && v.Modern() {
		return nil
	}
	data, _ := json.Marshal(map[string]any{"supported": mcp.Versions(), "requested": v})
	e := jsonrpc.Errorf(mcp.CodeUnsupportedVersion, "Unsupported protocol version")
	if v.Supported() {
		e.Message = "Unsupported protocol version: " + string(v) + " is served after initialize, not per request"
	}
	e.Data = data
	return e
}

// Level is a log level of RFC 5424.
type Level string

// levels from the most talkative to the gravest.
var levels = []Level{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (l Level) valid() bool { return slices.Contains(levels, l) }

// admits reports whether a message of the given level is wanted.
func (l Level) admits(message Level) bool {
	return l != "" && slices.Index(levels, message) >= slices.Index(levels, l)
}

// fieldsOf splits an object into its members; nil when it is none. Names are
// compared exactly, as S2 wants and encoding/json does not for structs.
func fieldsOf(obj json.RawMessage) map[string]json.RawMessage {
	if obj == nil {
		return nil
	}
	members, err := jsonrpc.Members(obj)
	if err != nil {
		return nil
	}
	fields := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		fields[m.Name] = m.Value
	}
	return fields
}
