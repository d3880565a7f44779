package server

import (
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Why a call ended without a result of its handler. As an answer to tools/call
// they are the first word of an isError text; elsewhere they are data.error.
var (
	ErrBusy      = errors.New("server_busy")
	ErrTimeout   = errors.New("callback_timeout")
	ErrPanicked  = errors.New("callback_panicked")
	ErrBadResult = errors.New("invalid_callback_result")
)

// ErrCancelled is the cause of a handler's context when the client cancelled.
var ErrCancelled = errors.New("the client cancelled the request")

// ErrGone is the cause of a handler's context when the connection ended, and what
// sending to it gives.
var ErrGone = errors.New("the connection is closed")

// MissingCapability says that a request cannot be served without a capability that
// the client did not declare: -32021 in the modern era, an error result in the
// legacy one.
type MissingCapability struct {
	// Required is a ClientCapabilities object of what is missing, such as
	// {"sampling":{}}.
	Required json.RawMessage
	// Name is the capability in words, such as "elicitation".
	Name string
}

func (e *MissingCapability) Error() string {
	return "the client does not support " + e.Name
}

func (e *MissingCapability) wire() *jsonrpc.Error {
	err := jsonrpc.Errorf(mcp.CodeMissingCapability, "Missing required client capability: %s", e.Name)
	err.Data = json.RawMessage(`{"requiredCapabilities":` + string(e.Required) + `}`)
	return err
}

// internal is the error of a callback that failed outside tools/call. Its text
// stays here: it may hold what the client must not see.
func internal(method string, why error) *jsonrpc.Error {
	word := "callback_failed"
	for _, known := range []error{ErrBusy, ErrTimeout, ErrPanicked, ErrBadResult} {
		if errors.Is(why, known) {
			word = known.Error()
		}
	}
	e := jsonrpc.Errorf(jsonrpc.CodeInternal, "MCP callback failed")
	e.Data, _ = json.Marshal(map[string]string{"error": word, "method": method})
	return e
}
