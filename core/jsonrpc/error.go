package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The error codes of JSON-RPC 2.0 itself.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error is a JSON-RPC error object. Message is a peer's text: it is not for logs
// and is shown to a person only display-safe (T6, A7).
type Error struct {
	Code    int64
	Message string
	// Data is the data member as it came, nil when absent.
	Data json.RawMessage
	// Raw is the whole error object as it came, for passing it on unchanged;
	// nil when the error was made here.
	Raw json.RawMessage
}

// Errorf returns an error with a formatted message.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error gives the code alone; the message is a peer's own text.
func (e *Error) Error() string { return "JSON-RPC error " + strconv.FormatInt(e.Code, 10) }

func (e *Error) append(b []byte) []byte {
	if e.Raw != nil {
		return append(b, e.Raw...)
	}
	b = strconv.AppendInt(append(b, `{"code":`...), e.Code, 10)
	b = appendString(append(b, `,"message":`...), e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}
