package form

import (
	"encoding/json"
	"regexp"
)

// Form is a schema as a person fills it in.
type Form struct {
	// Fields are in the order of the schema's bytes.
	Fields []*Field
	// Raw says that the schema is not understood; there are no fields, and the
	// person writes the JSON object. Why says in one sentence why.
	Raw bool
	Why string
	// Partial says that the schema has rules beside its fields that are not
	// checked here.
	Partial bool
}

// Kind is what a field takes.
type Kind uint8

// The kinds of fields.
const (
	JSON    Kind = iota // any JSON, written as such
	Text                // a string
	Number              // a number
	Integer             // a whole number
	Bool                // true or false
	Choice              // one of Options
	Multi               // several of Options
)

// Field is one property.
type Field struct {
	Name string
	// Title and Description are the server's words; Title is "" when it gave none.
	Title, Description string
	Kind               Kind
	Required           bool
	// Secret says that the field seems to ask for a secret, which forms are not
	// for (elicitation, user interaction model).
	Secret bool
	// Format is email, uri, date, date-time, or a word that is not checked.
	Format string
	// Options are what can be chosen, for Choice and Multi.
	Options []Option
	// Default is the schema's default, nil when there is none that fits.
	Default json.RawMessage
	// Shape is the JSON type a JSON field must have, "" when any will do.
	Shape string

	min, max   limit // of a length, a count or a number
	multipleOf string
	pattern    *regexp.Regexp
}

// Option is one value that can be chosen: Title is shown, Value is sent.
type Option struct {
	Title string
	Value json.RawMessage
}

// limit is one bound; text is a number as the schema wrote it, "" for no bound.
type limit struct {
	text string
	open bool // the bound itself is not allowed
}

// Label is the title, or the name when there is none.
func (f *Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}
