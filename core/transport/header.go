package transport

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

const (
	typeJSON  = "application/json"
	typeSSE   = "text/event-stream"
	userAgent = "Drawbridge"
)

// reserved are the headers that a spec cannot set: they belong to the protocol, to
// HTTP, or to the connection (reference 3.4). What a spec says about them is
// dropped.
var reserved = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Type": true, "Content-Length": true, "Host": true, "User-Agent": true,
	mcp.HeaderVersion: true, mcp.HeaderMethod: true, mcp.HeaderName: true, mcp.HeaderSession: true, mcp.HeaderLastEventID: true,
	"Connection": true, "Keep-Alive": true, "Proxy-Authorization": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true, "Expect": true, idempotencyKey: true,
}

// baseHeader returns what every POST carries. The error says that a header cannot
// be sent, by its name alone.
func baseHeader(user *url.Userinfo, spec []Header, agent string) (http.Header, error) {
	if agent == "" {
		agent = userAgent
	}
	h := http.Header{
		"Accept": {typeJSON + ", " + typeSSE},
		// Asked for by hand, so that net/http does not ask for gzip: a compressing
		// proxy holds events back (field case 41).
		"Accept-Encoding": {"identity"},
		"Content-Type":    {typeJSON},
		"User-Agent":      {agent},
	}
	for _, f := range spec {
		name := http.CanonicalHeaderKey(strings.TrimSpace(f.Name))
		if reserved[name] || strings.HasPrefix(name, mcp.HeaderParamPrefix) {
			continue
		}
		// Secrets tend to come with the newline of the file they were in.
		value := strings.TrimSpace(f.Value)
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, &Error{Code: Blocked, Reason: "header"}
		}
		h[name] = append(h[name], value)
	}
	if user != nil && h["Authorization"] == nil {
		password, _ := user.Password()
		h["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))}
	}
	return h, nil
}

// idempotencyKey with no value is how net/http is told that it may repeat a
// request which a kept-alive connection lost; it is not sent.
const idempotencyKey = "Idempotency-Key"

// replayable reports whether a request that may have arrived can safely be sent
// again: nothing that runs a tool or changes a session.
func replayable(method string) bool {
	switch method {
	case mcp.MethodDiscover, mcp.MethodPing, mcp.MethodToolsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList,
		mcp.MethodResourcesRead, mcp.MethodPromptsList, mcp.MethodPromptsGet, mcp.MethodComplete:
		return true
	}
	return false
}
