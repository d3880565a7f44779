package form

// Value is what a person has put into one field. The zero Value is nothing: the
// field is left out.
type Value struct {
	// Set says that there is a value, even if it is an empty one.
	Set bool
	// Text is what was typed, for Text, Number, Integer and JSON.
	Text string
	// On is a Bool's value.
	On bool
	// Picks are indexes of Options: one for Choice, any number for Multi.
	Picks []int
}

// Typed returns the value of an entry that a person typed into: nothing if it is
// empty.
func Typed(s string) Value { return Value{Set: s != "", Text: s} }

// Values are the values of a form, one for each of its fields, in their order.
type Values []Value

// Defaults returns what the form starts with: the schema's defaults, false for a
// required boolean, and no picks for a required choice of several.
func (f *Form) Defaults() Values {
	vs := make(Values, len(f.Fields))
	for i, fd := range f.Fields {
		switch {
		case fd.Default != nil:
			vs[i], _ = fd.decode(fd.Default)
		case fd.Required && (fd.Kind == Bool || fd.Kind == Multi):
			vs[i].Set = true
		}
	}
	return vs
}
