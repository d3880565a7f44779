package gateway

import (
	"encoding/json"
	"errors"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
	"github.com/drawbridge-mcp/drawbridge/core/server"
	"github.com/drawbridge-mcp/drawbridge/core/transport"
)

// outcomeUnknown is the word for a call that may have run although there is no
// answer. It is never repeated by itself.
const outcomeUnknown = "outcome_unknown"

// failed is the error of a request that has no answer of its server: of a tool an
// isError result whose text is JSON, {"error","server","tool","detail"}, for the
// model to act on; else an internal error with the same words.
func failed(name string, call *server.Call, word, detail string) error {
	data, _ := json.Marshal(struct {
		Error  string `json:"error"`
		Server string `json:"server"`
		Tool   string `json:"tool,omitempty"`
		Detail string `json:"detail"`
	}{word, name, toolOf(call), detail}) // strings always marshal
	if call.Method == mcp.MethodToolsCall {
		return toolFailure(data)
	}
	e := jsonrpc.Errorf(jsonrpc.CodeInternal, "%s: %s", name, detail)
	e.Data = data
	return e
}

func toolOf(call *server.Call) string {
	if call.Method == mcp.MethodToolsCall {
		return call.Name
	}
	return ""
}

// toolFailure is a tool's failure in the gateway's words.
type toolFailure string

func (f toolFailure) Error() string { return string(f) }

// failure turns what the session said into what the client gets.
func (b *bridge) failure(call *server.Call) error {
	var rpc *jsonrpc.Error
	if errors.As(b.err, &rpc) && transport.CodeOf(b.err) == "" {
		return translated(rpc, call)
	}
	return failed(b.upstream, call, word(b.err), detail(b.err))
}

// translated is a server's own error in the client's era: codes whose meaning is the
// connection's between us and the server would mislead the client.
func translated(rpc *jsonrpc.Error, call *server.Call) error {
	modern := call.Caller.Modern()
	e := *rpc
	switch {
	case e.Code == mcp.CodeResourceNotFound && modern:
		e.Code = jsonrpc.CodeInvalidParams
	case e.Code == mcp.CodeHeaderMismatch, e.Code == mcp.CodeUnsupportedVersion,
		e.Code == mcp.CodeMissingCapability && !modern, e.Code == mcp.CodeURLElicitation && modern:
		e.Code = jsonrpc.CodeInternal
	}
	return &e
}

// word is the failure in one word for programs.
func word(err error) string {
	var rpc *jsonrpc.Error
	var te *transport.Error
	switch {
	case errors.As(err, &rpc) && transport.CodeOf(err) == "":
		return "refused"
	case !errors.As(err, &te):
		return "failed"
	}
	switch te.Code {
	case transport.Cancelled:
		if te.Reason == "declined" || te.Reason == "unasked" {
			return "input_" + te.Reason
		}
		return "cancelled"
	case transport.Busy:
		return "server_busy"
	case transport.NotReady, transport.Blocked, transport.DNS, transport.BreakerOpen, transport.Spawn,
		transport.RedirectRefused, transport.VersionMismatch, transport.NotMCP, transport.UnmeteredCall, transport.UnknownPrice:
		return "server_unavailable"
	case transport.HTTPStatus:
		if te.Status < 500 {
			return "server_unavailable"
		}
	case transport.Timeout:
		if te.Reason == "connect" {
			return "server_unavailable"
		}
	}
	return outcomeUnknown
}

// detail is the failure in a sentence. Only our own closed words are in it: what a
// server said goes to the person's window, not to a model.
func detail(err error) string {
	var te *transport.Error
	text := "the call failed"
	if errors.As(err, &te) {
		text = te.Error()
	}
	switch word(err) {
	case "refused":
		return "the server refused the request"
	case "server_busy":
		return "the server has too many calls waiting; the call did not run and may be tried again later"
	case "server_unavailable":
		return "the server cannot be reached now (" + text + "); the call did not run"
	case "input_declined":
		return "the person declined to answer what the server asked"
	case "input_unasked":
		return "what the server asked for could not be had"
	case outcomeUnknown:
		return "there was no answer (" + text + "); the call may have run, so look before it is repeated"
	}
	return text
}
