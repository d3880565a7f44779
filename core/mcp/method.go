package mcp

// Requests of either era.
const (
	MethodInitialize             = "initialize"
	MethodPing                   = "ping"
	MethodDiscover               = "server/discover"
	MethodToolsList              = "tools/list"
	MethodToolsCall              = "tools/call"
	MethodResourcesList          = "resources/list"
	MethodResourcesTemplatesList = "resources/templates/list"
	MethodResourcesRead          = "resources/read"
	MethodResourcesSubscribe     = "resources/subscribe"
	MethodResourcesUnsubscribe   = "resources/unsubscribe"
	MethodPromptsList            = "prompts/list"
	MethodPromptsGet             = "prompts/get"
	MethodComplete               = "completion/complete"
	MethodSetLevel               = "logging/setLevel"
	MethodListen                 = "subscriptions/listen"

	// Requests of a legacy server; input requests in the modern era.
	MethodElicit    = "elicitation/create"
	MethodSample    = "sampling/createMessage"
	MethodRootsList = "roots/list"
)

// Notifications of either era.
const (
	NotifyInitialized          = "notifications/initialized"
	NotifyCancelled            = "notifications/cancelled"
	NotifyProgress             = "notifications/progress"
	NotifyMessage              = "notifications/message"
	NotifyToolsChanged         = "notifications/tools/list_changed"
	NotifyResourcesChanged     = "notifications/resources/list_changed"
	NotifyResourceUpdated      = "notifications/resources/updated"
	NotifyPromptsChanged       = "notifications/prompts/list_changed"
	NotifyRootsChanged         = "notifications/roots/list_changed"
	NotifyElicitationComplete  = "notifications/elicitation/complete"
	NotifySubscriptionAccepted = "notifications/subscriptions/acknowledged"
)

// TargetParam returns the params member that names what a request is about, for
// the Mcp-Name header; "" for methods without one (streamable-http "Standard
// Request Headers").
func TargetParam(method string) string {
	switch method {
	case MethodToolsCall, MethodPromptsGet:
		return "name"
	case MethodResourcesRead:
		return "uri"
	}
	return ""
}

// MayRequireInput reports whether a modern server may answer the method with
// input_required (basic/patterns/mrtr "Supported Requests").
func MayRequireInput(method string) bool {
	return method == MethodToolsCall || method == MethodPromptsGet || method == MethodResourcesRead
}
