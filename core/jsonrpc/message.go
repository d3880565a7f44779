package jsonrpc

import (
	"encoding/json"
	"fmt"
)

// Message is one decoded envelope. Which fields are set tells its kind; see
// [Message.Kind].
type Message struct {
	// ID is the id, zero for notifications and for errors whose id is null.
	ID ID
	// Method is the method of a request or notification.
	Method string
	// Params is the params member as it came; nil when absent or null (S2).
	Params json.RawMessage
	// Result is the result member as it came. A present null is the four bytes
	// "null", an absent one is nil (acceptance 193).
	Result json.RawMessage
	// Error is the error member of a response.
	Error *Error
}

// Kind is what a message is.
type Kind int

// The kinds of a message.
const (
	Invalid      Kind = iota // neither method nor result nor error
	Request                  // method and id
	Notification             // method without id
	Response                 // result or error
)

// Kind tells requests, notifications and responses apart by which members are
// present. A message with both a method and a result counts by its method.
func (m *Message) Kind() Kind {
	switch {
	case m.Method != "" && !m.ID.IsZero():
		return Request
	case m.Method != "":
		return Notification
	case m.Result != nil || m.Error != nil:
		return Response
	}
	return Invalid
}

// MarshalJSON writes the envelope with its raw members untouched. A response
// without an id is written with "id": null; a notification has no id member
// (acceptance 194).
func (m *Message) MarshalJSON() ([]byte, error) { return m.Append(nil), nil }

// Append appends the message's JSON to b. Raw members must be valid JSON; they
// are copied, not checked.
func (m *Message) Append(b []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if !m.ID.IsZero() {
		b = append(append(b, `,"id":`...), m.ID.text...)
	} else if m.Method == "" {
		b = append(b, `,"id":null`...)
	}
	if m.Method != "" {
		b = append(appendString(append(b, `,"method":`...), m.Method), ""...)
		if m.Params != nil {
			b = append(append(b, `,"params":`...), m.Params...)
		}
	} else if m.Error != nil {
		b = m.Error.append(append(b, `,"error":`...))
	} else {
		b = append(append(b, `,"result":`...), m.Result...)
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("a string did not marshal: %v", err))
	}
	return append(b, q...)
}

// Call returns a request.
func Call(id ID, method string, params json.RawMessage) *Message {
	return &Message{ID: id, Method: method, Params: params}
}

// Notify returns a notification.
func Notify(method string, params json.RawMessage) *Message {
	return &Message{Method: method, Params: params}
}

// Reply returns a success response.
func Reply(id ID, result json.RawMessage) *Message {
	return &Message{ID: id, Result: result}
}

// Refuse returns an error response.
func Refuse(id ID, err *Error) *Message { return &Message{ID: id, Error: err} }
