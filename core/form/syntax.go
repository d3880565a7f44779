package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Syntax returns what is wrong with JSON that a person wrote, with line and
// column, or "".
func Syntax(raw json.RawMessage) string {
	if len(bytes.TrimSpace(raw)) == 0 {
		return "There is nothing here."
	}
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	if err == nil {
		return ""
	}
	var se *json.SyntaxError
	if !errors.As(err, &se) {
		return "This is not valid JSON."
	}
	at := min(max(int(se.Offset)-1, 0), len(raw))
	if se.Error() == "unexpected end of JSON input" {
		return "The JSON is not finished."
	}
	line := 1 + bytes.Count(raw[:at], []byte("\n"))
	column := 1 + utf8.RuneCount(raw[bytes.LastIndexByte(raw[:at], '\n')+1:at])
	return fmt.Sprintf("This is not valid JSON at line %d, column %d.", line, column)
}

// ObjectSyntax returns what is wrong with JSON that has to be an object, or "".
func ObjectSyntax(raw json.RawMessage) string {
	if p := Syntax(raw); p != "" {
		return p
	}
	if bytes.TrimSpace(raw)[0] != '{' {
		return "This must be a JSON object: { … }."
	}
	return ""
}
