package form

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Parse reads a schema. It always returns a form; one that cannot be made into
// fields has Raw set and says why.
func Parse(schema json.RawMessage) *Form {
	raw := func(why string) *Form { return &Form{Raw: true, Why: why} }
	switch {
	case len(schema) == 0:
		return raw("There is no schema.")
	case len(schema) > maxSchema:
		return raw("The schema is too long to be shown as a form.")
	case !json.Valid(schema):
		return raw("The schema is not valid JSON.")
	}
	r := &reader{root: schema, left: maxWork}
	root := r.node(schema, 0)
	if root == nil {
		return raw("The schema is not an object, or refers to something that is not in it.")
	}
	if t := kindOf(root); t != "object" && (t != "" || !root.has("properties")) {
		return raw("The schema does not describe an object with named fields.")
	}
	props := &node{}
	if root.has("properties") {
		if props = r.object(root.vals["properties"]); props == nil {
			return raw("The schema's properties are not an object.")
		}
	}
	required := names(root.list("required"))
	if len(props.keys)+len(required) > maxFields {
		return raw("The schema has too many fields for a form.")
	}
	f := &Form{Partial: partial(root)}
	for _, name := range props.keys {
		fd := r.field(name, props.vals[name])
		fd.Required = slices.Contains(required, name)
		f.Fields = append(f.Fields, fd)
	}
	for _, name := range required {
		if !slices.ContainsFunc(f.Fields, func(fd *Field) bool { return fd.Name == name }) {
			f.Fields = append(f.Fields, &Field{Name: name, Required: true, Secret: LooksSecret(name)})
		}
	}
	if len(f.Fields) == 0 && f.Partial {
		return raw("The schema describes its fields in a way that a form cannot show.")
	}
	return f
}

// partial reports whether an object schema has rules that no field holds.
func partial(n *node) bool {
	for _, key := range []string{
		"anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "dependentRequired",
		"dependentSchemas", "dependencies", "propertyNames", "minProperties", "maxProperties", "$dynamicRef",
	} {
		if n.has(key) {
			return true
		}
	}
	return false
}

func names(list []json.RawMessage) []string {
	var out []string
	for _, raw := range list {
		if s, ok := text(raw); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// kindOf returns the schema's type, leaving "or null" aside; "" when it names
// none, "?" when it names several.
func kindOf(n *node) string {
	raw, have := n.vals["type"]
	if !have {
		return ""
	}
	if s, ok := text(raw); ok {
		return s
	}
	kinds := slices.DeleteFunc(names(array(raw)), func(s string) bool { return s == "null" })
	if len(kinds) == 1 {
		return kinds[0]
	}
	return "?"
}

// field reads one property.
func (r *reader) field(name string, schema json.RawMessage) *Field {
	f := &Field{Name: name}
	n := r.node(schema, 0)
	if n == nil {
		f.Secret = LooksSecret(name)
		return f
	}
	f.Title, f.Description = n.str("title"), n.str("description")
	f.Format = n.str("format")
	f.Secret = LooksSecret(name) || LooksSecret(f.Title) || asksSecret(f.Description) ||
		f.Format == "password" || n.yes("writeOnly")
	f.Default = n.vals["default"]
	r.shape(f, n)
	if v, err := f.decode(f.Default); err != nil || !v.Set {
		f.Default = nil
	}
	return f
}

// shape finds out what kind of field a schema makes.
func (r *reader) shape(f *Field, n *node) {
	if f.Options = r.options(n); f.Options != nil {
		f.Kind = Choice
		return
	}
	switch kindOf(n) {
	case "string":
		f.Kind = Text
		f.min, f.max = limit{text: n.count("minLength")}, limit{text: n.count("maxLength")}
		if p := n.str("pattern"); p != "" && len(p) <= 1000 {
			// A pattern that is not RE2 is the server's to check.
			f.pattern, _ = regexp.Compile(p)
		}
	case "number", "integer":
		f.Kind = Number
		if kindOf(n) == "integer" {
			f.Kind = Integer
		}
		f.min = bound(n, "minimum", "exclusiveMinimum", 1)
		f.max = bound(n, "maximum", "exclusiveMaximum", -1)
		if m, ok := rational(n.num("multipleOf")); ok && m.Sign() > 0 {
			f.multipleOf = n.num("multipleOf")
		}
	case "boolean":
		f.Kind = Bool
	case "array":
		f.Shape = "array"
		if items := r.node(n.vals["items"], 0); items != nil {
			if f.Options = r.options(items); f.Options != nil {
				f.Kind = Multi
				f.min, f.max = limit{text: n.count("minItems")}, limit{text: n.count("maxItems")}
			}
		}
	case "object":
		f.Shape = "object"
	case "":
		if n.has("properties") {
			f.Shape = "object"
		}
	}
}

// bound reads one bound of a number, in the spelling of today and in that of
// draft 4, where the exclusive keyword is a boolean. sign is 1 for lower bounds.
func bound(n *node, key, exclusive string, sign int) limit {
	in := limit{text: n.num(key), open: n.yes(exclusive)}
	a, okA := rational(in.text)
	if !okA {
		in = limit{}
	}
	out := limit{text: n.num(exclusive), open: true}
	b, okB := rational(out.text)
	if okB && (!okA || b.Cmp(a)*sign >= 0) {
		return out
	}
	return in
}
