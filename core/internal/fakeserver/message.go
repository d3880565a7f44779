package fakeserver

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// message is any JSON-RPC message, as far as a server needs it.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

func isAnswer(m any) bool {
	msg, ok := m.(message)
	return ok && msg.Method == ""
}

// params are the parameters that the fake server looks at.
type params struct {
	Name            string                     `json:"name"`
	Arguments       json.RawMessage            `json:"arguments"`
	Cursor          *string                    `json:"cursor"`
	ProtocolVersion string                     `json:"protocolVersion"`
	RequestID       json.RawMessage            `json:"requestId"`
	RequestState    *string                    `json:"requestState"`
	InputResponses  map[string]json.RawMessage `json:"inputResponses"`
	Notifications   json.RawMessage            `json:"notifications"`
	Meta            struct {
		ProtocolVersion string                     `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		ProgressToken   json.RawMessage            `json:"progressToken"`
	} `json:"_meta"`
}

// encode marshals without escaping HTML, as most servers do. What it is given
// always marshals.
func encode(v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// disguise writes an id the way the script wants it.
func disguise(id json.RawMessage, how string) json.RawMessage {
	switch how {
	case AsNull:
		return json.RawMessage("null")
	case AsStrings, AsFractions:
		if _, err := strconv.ParseInt(string(id), 10, 64); err != nil {
			return id
		}
		if how == AsStrings {
			return json.RawMessage(`"` + string(id) + `"`)
		}
		return json.RawMessage(string(id) + ".0")
	default:
		return id
	}
}

// notification builds one; params may be nil.
func notification(method string, params any) message {
	m := message{JSONRPC: "2.0", Method: method}
	if params != nil {
		m.Params = encode(params)
	}
	return m
}
