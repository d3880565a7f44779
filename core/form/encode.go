package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Encode writes the values as a JSON object, in the order of the fields. What is
// not set is left out. Values that [Form.Check] finds fault with are an error.
func (f *Form) Encode(vs Values) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, fd := range f.Fields {
		if p := fd.Check(vs[i]); p != "" {
			return nil, fmt.Errorf("field %q: %s", fd.Name, p)
		}
		raw := fd.encode(vs[i])
		if raw == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(fd.Name))
		b.WriteByte(':')
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Draft writes the values like [Form.Encode], leaving out what is not valid, for
// a person who goes on in JSON.
func (f *Form) Draft(vs Values) json.RawMessage {
	kept := make(Values, len(vs))
	for i, fd := range f.Fields {
		if fd.Check(vs[i]) == "" {
			kept[i] = vs[i]
		}
	}
	loose := &Form{Fields: make([]*Field, len(f.Fields))}
	for i, fd := range f.Fields {
		free := *fd
		free.Required = false
		loose.Fields[i] = &free
	}
	raw, _ := loose.Encode(kept)
	return raw
}

// encode writes a checked value; nil when it is left out.
func (f *Field) encode(v Value) json.RawMessage {
	if !v.Set {
		return nil
	}
	switch f.Kind {
	case Text:
		return quote(v.Text)
	case Number:
		return json.RawMessage(strings.TrimSpace(v.Text))
	case Integer:
		// Some servers take 1e3 and 12.0 for fractions.
		typed := strings.TrimSpace(v.Text)
		r, _ := rational(typed)
		if plain := r.Num().String(); len(plain) <= maxDigits {
			return json.RawMessage(plain)
		}
		return json.RawMessage(typed)
	case Bool:
		if v.On {
			return json.RawMessage("true")
		}
		return json.RawMessage("false")
	case Choice:
		return f.Options[v.Picks[0]].Value
	case Multi:
		picked := make([][]byte, len(v.Picks))
		for i, p := range v.Picks {
			picked[i] = f.Options[p].Value
		}
		return slices.Concat([]byte("["), bytes.Join(picked, []byte(",")), []byte("]"))
	}
	return json.RawMessage(strings.TrimSpace(v.Text))
}

// quote writes a JSON string without the escapes meant for HTML.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string and a buffer: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
