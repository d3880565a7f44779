package mcp

import (
	"encoding/json"
	"errors"
)

// Tool is one tool definition: its bytes as the server sent them, and the fields
// we act on (C6).
type Tool struct {
	Name        string
	Title       string
	Description string
	// InputSchema is the schema as it came; nil when absent.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Raw is the whole definition as it came.
	Raw json.RawMessage
	// Oddity says in one sentence what is wrong with the definition although the
	// tool can be called; "" when nothing is (field case 52).
	Oddity string
}

// Annotations are a tool's claims about itself. They are hints of an untrusted
// server and only ever add caution (A1).
type Annotations struct {
	Title           string `json:"title"`
	ReadOnlyHint    *bool  `json:"readOnlyHint"`
	DestructiveHint *bool  `json:"destructiveHint"`
	IdempotentHint  *bool  `json:"idempotentHint"`
	OpenWorldHint   *bool  `json:"openWorldHint"`
	Sensitive       *bool  `json:"sensitive"`
}

// ErrNoName says that a definition has no usable name, so the tool cannot be called.
var ErrNoName = errors.New("the tool has no name")

// ParseTool reads a tool definition. The error is [ErrNoName], or says that the
// definition is no JSON object. Everything else that is odd is kept and marked in
// Oddity, never at the cost of the tool's neighbours (C6).
func ParseTool(raw json.RawMessage) (Tool, error) {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return Tool{Raw: raw}, errors.New("the tool definition is no JSON object")
	}
	t := Tool{Raw: raw, InputSchema: f["inputSchema"], OutputSchema: f["outputSchema"]}
	if json.Unmarshal(f["name"], &t.Name) != nil || t.Name == "" {
		return t, ErrNoName
	}
	_ = json.Unmarshal(f["title"], &t.Title)
	_ = json.Unmarshal(f["description"], &t.Description)
	_ = json.Unmarshal(f["annotations"], &t.Annotations)
	if t.Title == "" {
		t.Title = t.Annotations.Title
	}
	t.Oddity = schemaOddity(t.InputSchema)
	return t, nil
}

func schemaOddity(schema json.RawMessage) string {
	if schema == nil {
		return "The tool has no input schema."
	}
	var f map[string]json.RawMessage
	if json.Unmarshal(schema, &f) != nil || f == nil {
		return "The input schema is not an object."
	}
	var typ string
	if json.Unmarshal(f["type"], &typ) != nil || typ != "object" {
		return `The input schema is not of type "object".`
	}
	if p, ok := f["properties"]; ok {
		var props map[string]json.RawMessage
		if json.Unmarshal(p, &props) != nil {
			return "The input schema's properties are not an object."
		}
		for _, s := range props {
			var sub map[string]json.RawMessage
			var b bool
			if json.Unmarshal(s, &sub) != nil && json.Unmarshal(s, &b) != nil {
				return "A property of the input schema is not a schema."
			}
		}
	}
	return ""
}
