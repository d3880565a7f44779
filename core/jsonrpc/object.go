package jsonrpc

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// With returns the object obj with member name set to value: replaced in place
// where it stands, appended otherwise. All other bytes stay as they are. A nil
// obj is an empty object. The error is a [*SyntaxError].
func With(obj json.RawMessage, name string, value json.RawMessage) (json.RawMessage, error) {
	if obj == nil {
		obj = json.RawMessage(`{}`)
	}
	members, err := Members(obj, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(obj)+len(name)+len(value)+8)
	b = append(b, '{')
	done := false
	put := func(n string, v json.RawMessage) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, n), ':'), v...)
	}
	for _, m := range members {
		if m.Name == name {
			if !done {
				put(name, value)
			}
			done = true
			continue
		}
		put(m.Name, m.Value)
	}
	if !done {
		put(name, value)
	}
	return append(b, '}'), nil
}

// Get returns the value of one member of an object as it came; nil when obj is no
// object or has no such member. Of duplicates the last counts, as in most JSON
// readers.
func Get(obj json.RawMessage, name string) json.RawMessage {
	members, err := Members(obj, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	var v json.RawMessage
	for _, m := range members {
		if m.Name == name {
			v = m.Value
		}
	}
	return v
}
