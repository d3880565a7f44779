package form

import (
	"bytes"
	"encoding/json"
)

// options returns what a schema lets one choose, in any of the shapes that are in
// use (field case 60); nil when it is no choice.
func (r *reader) options(n *node) []Option {
	if values := n.list("enum"); len(values) > 0 && len(values) <= maxOptions {
		return named(values, n.list("enumNames"))
	}
	if v := n.vals["const"]; v != nil {
		return []Option{option(v, n.str("title"))}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		alternatives := n.list(key)
		if len(alternatives) == 0 || len(alternatives) > maxOptions {
			continue
		}
		out := make([]Option, 0, len(alternatives))
		for _, raw := range alternatives {
			a := r.object(raw)
			if a == nil || !a.has("const") {
				return nil
			}
			out = append(out, option(a.vals["const"], a.str("title")))
		}
		return out
	}
	return nil
}

// named pairs values with the older enumNames, which count only if there is one
// for each value.
func named(values, titles []json.RawMessage) []Option {
	out := make([]Option, len(values))
	for i, v := range values {
		title := ""
		if len(titles) == len(values) {
			title, _ = text(titles[i])
		}
		out[i] = option(v, title)
	}
	return out
}

func option(v json.RawMessage, title string) Option {
	if title == "" {
		if s, ok := text(v); ok {
			title = s
		} else {
			title = string(v)
		}
	}
	return Option{Title: title, Value: v}
}

// find returns the index of a value among the options, -1 when it is not there.
func find(options []Option, v json.RawMessage) int {
	for i, o := range options {
		if same(o.Value, v) {
			return i
		}
	}
	return -1
}

// same compares two JSON values: strings by what they say, numbers by their value,
// the rest by their compact bytes.
func same(a, b json.RawMessage) bool {
	if s, ok := text(a); ok {
		t, ok := text(b)
		return ok && s == t
	}
	if numeric(a) && numeric(b) {
		x, okX := rational(string(a))
		y, okY := rational(string(b))
		return okX && okY && x.Cmp(y) == 0
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
