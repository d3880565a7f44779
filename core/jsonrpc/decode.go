package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxMembers bounds the members of an envelope; JSON-RPC defines six.
const maxMembers = 64

// KindError says that the JSON text is valid but no message: a batch array or a
// bare scalar (acceptance 192).
type KindError struct {
	// Kind is "batch", "string", "number", "boolean" or "null".
	Kind string
}

func (e *KindError) Error() string { return "not a JSON-RPC message: a " + e.Kind }

// SyntaxError says that the text is not the JSON that was asked for. It holds no
// text of the peer, only the offset in bytes.
type SyntaxError struct {
	Offset int64
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// EnvelopeError says that the JSON object breaks the envelope's rules. ID is the
// request's id when it could be read, for the answer.
type EnvelopeError struct {
	ID     ID
	HasID  bool // an id member was present, legal or not
	Code   int64
	Reason string
}

func (e *EnvelopeError) Error() string { return e.Reason }

// Decode reads one message strictly (S2): UTF-8, case-sensitive names, no
// duplicate name at any depth, no trailing data, an id that is a string or an
// integer, params that are an object or null. Errors are [*SyntaxError],
// [*KindError] or [*EnvelopeError].
func Decode(data []byte) (*Message, error) {
	return decode(data, true)
}

// DecodeLenient reads one message of a server we are a client of; see the
// package comment for what it tolerates.
func DecodeLenient(data []byte) (*Message, error) {
	return decode(data, false, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func decode(data []byte, strict bool, opts ...jsontext.Options) (*Message, error) {
	data = bytes.TrimSpace(data)
	if err := kindOf(data); err != nil {
		return nil, err
	}
	members, err := Members(data, opts...)
	if err != nil {
		return nil, err
	}
	if len(members) > maxMembers {
		return nil, &EnvelopeError{Code: CodeInvalidRequest, Reason: "too many members"}
	}
	m := new(Message)
	fault := new(EnvelopeError)
	var idErr error
	versioned := false
	fail := func(code int64, format string, args ...any) {
		if fault.Reason == "" {
			fault.Code, fault.Reason = code, fmt.Sprintf(format, args...)
		}
	}
	for _, mem := range members {
		switch mem.Name {
		case "jsonrpc":
			versioned = string(mem.Value) == `"2.0"`
		case "id":
			fault.HasID = true
			m.ID, idErr = ParseID(mem.Value)
			fault.ID = m.ID
		case "method":
			if json.Unmarshal(mem.Value, &m.Method) != nil || m.Method == "" {
				fail(CodeInvalidRequest, "method must be a non-empty string")
			}
		case "params":
			if string(mem.Value) == "null" {
				break
			}
			if strict && mem.Value[0] != '{' {
				fail(CodeInvalidParams, "params must be an object")
			}
			m.Params = mem.Value
		case "result":
			m.Result = mem.Value
		case "error":
			e, err := parseError(mem.Value)
			if err != nil {
				fail(CodeInvalidRequest, "%v", err)
				e = &Error{Code: CodeInternal, Message: "malformed error object", Raw: nil}
			}
			m.Error = e
		}
	}
	switch {
	case !versioned && strict:
		fail(CodeInvalidRequest, `"jsonrpc" must be "2.0"`)
	case idErr != nil && m.Error == nil:
		// Only an error may have a null id: that of a request nobody could read.
		fail(CodeInvalidRequest, "%v", idErr)
	case m.Kind() == Invalid:
		fail(CodeInvalidRequest, "Missing method")
	case m.Kind() == Response && m.Error == nil && m.ID.IsZero():
		fail(CodeInvalidRequest, "a result needs an id")
	}
	if fault.Reason != "" && (strict || m.Kind() == Invalid) {
		return nil, fault
	}
	return m, nil
}

func kindOf(data []byte) error {
	if len(data) == 0 {
		return &SyntaxError{Reason: "empty"}
	}
	kind := ""
	switch c := data[0]; {
	case c == '{':
		return nil
	case c == '[':
		kind = "batch"
	case c == '"':
		kind = "string"
	case c == 'n':
		kind = "null"
	case c == 't' || c == 'f':
		kind = "boolean"
	case c == '-' || c >= '0' && c <= '9':
		kind = "number"
	}
	if kind == "" || !json.Valid(data) {
		return &SyntaxError{Reason: "not a JSON object"}
	}
	return &KindError{kind}
}

// Member is one name and its raw value.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members splits a JSON object into its members in order, values as they came.
// Without options it is strict: duplicate names and invalid UTF-8 are errors at
// any depth. The values share data's memory. The error is a [*SyntaxError].
func Members(data []byte, opts ...jsontext.Options) ([]Member, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), opts...)
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, syntax(dec, err)
	}
	if tok.Kind() != '{' {
		return nil, &SyntaxError{Reason: "not a JSON object"}
	}
	var out []Member
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, syntax(dec, err)
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, syntax(dec, err)
		}
		end := dec.InputOffset()
		out = append(out, Member{key, json.RawMessage(data[end-int64(len(v)) : end : end])})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(dec, err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &SyntaxError{Offset: dec.InputOffset(), Reason: "data after the object"}
	}
	return out, nil
}

func syntax(dec *jsontext.Decoder, err error) error {
	reason := "malformed"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		reason = "duplicate name"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		reason = "truncated"
	}
	return &SyntaxError{Offset: dec.InputOffset(), Reason: reason}
}

func parseError(raw json.RawMessage) (*Error, error) {
	members, err := Members(raw, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, errors.New("error must be an object")
	}
	e := &Error{Raw: raw}
	found := false
	for _, m := range members {
		switch m.Name {
		case "code":
			// Field case 42: some servers write the code as a string.
			text := string(m.Value)
			if s, err := strconv.Unquote(text); err == nil {
				text = s
			}
			e.Code, found = integer(text)
		case "message":
			if json.Unmarshal(m.Value, &e.Message) != nil {
				e.Message = ""
			}
		case "data":
			e.Data = m.Value
		}
	}
	if !found {
		return nil, errors.New("error code must be an integer")
	}
	return e, nil
}
