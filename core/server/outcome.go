package server

import (
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// outcome turns what a handler returned into a result or an error.
func (c *Call) outcome(v any, err error) (json.RawMessage, *jsonrpc.Error) {
	if err != nil {
		return c.failure(err)
	}
	switch r := v.(type) {
	case json.RawMessage:
		if len(r) > 0 && r[0] == '{' {
			return r, nil
		}
		return c.failure(ErrBadResult)
	case string:
		if c.Method == mcp.MethodToolsCall {
			v = ToolResult{Content: []Content{Text(r)}}
		}
	}
	b, bad := json.Marshal(v)
	if bad != nil || len(b) == 0 || b[0] != '{' {
		return c.failure(ErrBadResult)
	}
	return b, nil
}

func (c *Call) failure(err error) (json.RawMessage, *jsonrpc.Error) {
	var wire *jsonrpc.Error
	var input *InputRequired
	var missing *MissingCapability
	var denied *Denied
	switch {
	case errors.As(err, &wire):
		return nil, wire
	case errors.As(err, &input):
		return c.inputRequired(input)
	case errors.As(err, &missing) && c.Caller.Modern():
		return nil, missing.wire()
	case c.Method != mcp.MethodToolsCall:
		return nil, internal(c.Method, err)
	}
	failed := Failed("Error: " + err.Error())
	if errors.As(err, &denied) {
		failed = denied.result()
	}
	b, bad := json.Marshal(failed)
	if bad != nil {
		return nil, internal(c.Method, ErrBadResult)
	}
	return b, nil
}
