package transport

import (
	"net/http"
	"strings"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// sessionLost reports whether an answer to a request that carried a session id says
// that the server does not know the session. 404 does by the book (2025-11-25
// "Session Management"), unless its error is about the method; other servers say it
// in words, under 400, 503 or even 200 (field case 32). Under 200 the error may
// be a tool's own about sessions of another kind, so it has to be one that answers
// no particular request, or the TypeScript SDK's code.
func sessionLost(status int, rpc *jsonrpc.Error, unaddressed bool) bool {
	switch {
	case status == http.StatusNotFound:
		return rpc == nil || rpc.Code != jsonrpc.CodeMethodNotFound
	case rpc == nil, status == http.StatusUnauthorized, status == http.StatusForbidden:
		return false
	case status < 300:
		return (unaddressed || rpc.Code == codeSessionNotFound) && namesSession(rpc.Message)
	}
	return namesSession(rpc.Message)
}

// codeSessionNotFound is what the TypeScript SDK gives.
const codeSessionNotFound = -32001

// namesSession reports whether a server's words are plainly about a session that it
// does not have.
func namesSession(words string) bool {
	w := strings.ToLower(words)
	if strings.Contains(w, "server not initialized") {
		return true // the TypeScript SDK, of a session that another process held
	}
	if !strings.Contains(w, "session") {
		return false
	}
	for _, sign := range []string{
		"not found", "no valid", "invalid", "not valid", "unknown", "expired", "missing", "required", "terminated",
		"not exist", "doesn't exist", "no longer", "closed", "unrecognized", "no session", "not initialized", "no active",
	} {
		if strings.Contains(w, sign) {
			return true
		}
	}
	return false
}
