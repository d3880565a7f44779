package mcp

// Error codes of MCP beyond those of JSON-RPC.
const (
	CodeHeaderMismatch     = -32020 // modern
	CodeMissingCapability  = -32021 // modern
	CodeUnsupportedVersion = -32022 // modern
	CodeResourceNotFound   = -32002 // 2025-11-25 and earlier
	CodeURLElicitation     = -32042 // 2025-11-25 only
	// CodeAuthorizationRequired is our own, outside the reserved range (S4).
	CodeAuthorizationRequired = -31090
)

// ModernError reports whether the code is one that only a modern server gives
// (E2; streamable-http "Backward Compatibility").
func ModernError(code int64) bool {
	return code == CodeHeaderMismatch || code == CodeMissingCapability || code == CodeUnsupportedVersion
}

// HTTP header names of Streamable HTTP.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	HeaderMethod      = "Mcp-Method"
	HeaderName        = "Mcp-Name"
	HeaderParamPrefix = "Mcp-Param-"
	HeaderSession     = "Mcp-Session-Id" // legacy
	HeaderLastEventID = "Last-Event-Id"  // legacy
)

// Keys in _meta (basic/index "Reserved keys").
const (
	MetaVersion        = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo     = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities   = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel       = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
	MetaServerInfo     = "io.modelcontextprotocol/serverInfo"
	MetaProgressToken  = "progressToken"
)

// Values of resultType. An absent one means complete (basic/index "ResultType").
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
)
