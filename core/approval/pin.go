package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// Pin is the fingerprint of a tool as a person can judge it (A3). Equal pins mean
// the same definition from a server of the same configuration.
type Pin string

// pinned are the members of a definition that a pin covers, in the order in which
// a diff shows them.
var pinned = []string{"name", "title", "description", "annotations", "inputSchema", "outputSchema"}

// Definition is a tool's definition as far as a pin covers it.
type Definition struct {
	Pin Pin
	// Text is what the pin was taken of, as indented JSON for a diff.
	Text string
	// Hints are the tool's claims about itself.
	Hints mcp.Annotations
	// Title is the tool's own, "" for none. It is foreign text.
	Title string
}

// Define takes the pin of a tool whose server has the spec fingerprint (P6). The
// order of members and the spelling of texts and numbers do not matter, since
// servers change those from one answer to the next; every value does.
func Define(tool mcp.Tool, fingerprint string) Definition {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(tool.Raw, &members) // a tool's definition is an object
	h := sha256.New()
	field := func(b []byte) {
		sum := sha256.Sum256(b)
		h.Write(sum[:])
	}
	field([]byte(fingerprint))
	text := []byte{'{'}
	for _, name := range pinned {
		value := canonical(members[name])
		field(value)
		if value == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text, _ = jsontext.AppendQuote(text, name)
		text = append(append(text, ':'), value...)
	}
	text = append(text, '}')
	pretty := jsontext.Value(text)
	if pretty.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
		text = pretty
	}
	return Definition{
		Pin:   Pin(hex.EncodeToString(h.Sum(nil))),
		Text:  string(text),
		Hints: tool.Annotations,
		Title: tool.Title,
	}
}

// canonical is a value with its members sorted and without the freedoms of JSON;
// what cannot be brought into that form stays as it is. Nil stays nil.
func canonical(raw json.RawMessage) []byte {
	if raw == nil {
		return nil
	}
	v := jsontext.Value(append([]byte(nil), raw...))
	// Whole numbers beyond 2^53 must not become equal to their neighbours.
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false)) != nil {
		return raw
	}
	return v
}
