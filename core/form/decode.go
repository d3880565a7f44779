package form

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Decode puts a JSON object into the form's fields. It is an error when the form
// cannot hold all of it, so that nothing is lost on the way: another property, a
// value of another type, a choice that is not offered. Values that a field can
// hold and its rules forbid are no error; [Form.Check] names them. Errors are
// sentences for a person; names in them are as they came.
func (f *Form) Decode(raw json.RawMessage) (Values, error) {
	if p := ObjectSyntax(raw); p != "" {
		return nil, fmt.Errorf("%s", p)
	}
	n := object(raw)
	vs := make(Values, len(f.Fields))
	for _, name := range n.keys {
		i := slices.IndexFunc(f.Fields, func(fd *Field) bool { return fd.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is not a field of this form", name)
		}
		v, err := f.Fields[i].decode(n.vals[name])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		vs[i] = v
	}
	return vs, nil
}

// decode reads one value; the zero Value when raw is nil.
func (f *Field) decode(raw json.RawMessage) (Value, error) {
	if raw == nil {
		return Value{}, nil
	}
	switch f.Kind {
	case Text:
		if s, ok := text(raw); ok {
			return Value{Set: true, Text: s}, nil
		}
		return Value{}, fmt.Errorf("the form has text here")
	case Number, Integer:
		if numeric(raw) {
			return Value{Set: true, Text: string(raw)}, nil
		}
		return Value{}, fmt.Errorf("the form has a number here")
	case Bool:
		if s := string(raw); s == "true" || s == "false" {
			return Value{Set: true, On: s == "true"}, nil
		}
		return Value{}, fmt.Errorf("the form has yes or no here")
	case Choice:
		if i := find(f.Options, raw); i >= 0 {
			return Value{Set: true, Picks: []int{i}}, nil
		}
		return Value{}, fmt.Errorf("the form does not offer this value")
	case Multi:
		return f.decodeMulti(raw)
	}
	return Value{Set: true, Text: string(raw)}, nil
}

func (f *Field) decodeMulti(raw json.RawMessage) (Value, error) {
	if raw[0] != '[' {
		return Value{}, fmt.Errorf("the form has a list of choices here")
	}
	v := Value{Set: true}
	for _, item := range array(raw) {
		i := find(f.Options, item)
		if i < 0 || slices.Contains(v.Picks, i) {
			return Value{}, fmt.Errorf("the form does not offer these values")
		}
		v.Picks = append(v.Picks, i)
	}
	return v, nil
}
