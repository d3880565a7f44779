package server

import (
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
)

// refusal is the answer to what could not be decoded, nil when it asks for none:
// a notification or an empty object (S2, acceptance 148).
func refusal(err error) *jsonrpc.Message {
	var envelope *jsonrpc.EnvelopeError
	var kind *jsonrpc.KindError
	var syntax *jsonrpc.SyntaxError
	switch {
	case errors.As(err, &envelope):
		if !envelope.HasID {
			return nil
		}
		return jsonrpc.Refuse(envelope.ID, jsonrpc.Errorf(envelope.Code, "%s", envelope.Reason))
	case errors.As(err, &kind):
		return jsonrpc.Refuse(jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", kind.Error()))
	case errors.As(err, &syntax):
		return jsonrpc.Refuse(jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "%s", syntax.Error()))
	}
	return jsonrpc.Refuse(jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "Parse error"))
}
