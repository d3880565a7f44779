package spec

import (
	"strconv"
	"strings"
)

// value is something to be written into a file.
type value interface {
	// render gives the value for a line that begins with indent.
	render(s style, indent string) string
}

type (
	// raw is a literal as it stands in the file.
	raw string
	// list is a list of texts on one line.
	list []string
	// object has a line for each member, inline has one for all.
	object []member
	inline []member
	member struct {
		name  string
		value value
	}
)

func (v raw) render(style, string) string { return string(v) }

func (v list) render(style, string) string {
	var b strings.Builder
	for i, s := range v {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(jsonString(s))
	}
	return "[" + b.String() + "]"
}

func (v object) render(s style, indent string) string {
	if len(v) == 0 {
		return "{}"
	}
	var b strings.Builder
	for i, m := range v {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(s.newline + indent + s.unit + jsonString(m.name) + ": " + m.value.render(s, indent+s.unit))
	}
	return "{" + b.String() + s.newline + indent + "}"
}

func (v inline) render(s style, indent string) string {
	var b strings.Builder
	for i, m := range v {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(jsonString(m.name) + ": " + inlined(m.value).render(s, indent))
	}
	return "{" + b.String() + "}"
}

// inlined returns v in one line.
func inlined(v value) value {
	if o, ok := v.(object); ok {
		return inline(o)
	}
	return v
}

// server gives a spec in the shape of the file. What is the default is left out.
func (style) server(s *Spec) value {
	var o object
	word := func(key, text string) {
		if text != "" {
			o = append(o, member{key, raw(jsonString(text))})
		}
	}
	vars := func(key string, vars []Var) {
		var values object
		for _, v := range vars {
			values = append(values, member{v.Name, raw(jsonString(v.Value))})
		}
		if len(values) > 0 {
			o = append(o, member{key, values})
		}
	}
	if s.Type == SSE {
		word("type", string(SSE))
	}
	word("command", s.Command)
	if len(s.Args) > 0 {
		o = append(o, member{"args", list(s.Args)})
	}
	vars("env", s.Env)
	word("cwd", s.Dir)
	word("url", s.URL)
	vars("headers", s.Headers)
	if extra := s.extra(); len(extra) > 0 {
		o = append(o, member{extraKey, extra})
	}
	return o
}

// extra gives what stands below "drawbridge".
func (s *Spec) extra() object {
	var o object
	if s.Disabled {
		o = append(o, member{"disabled", raw("true")})
	}
	if s.Concurrency != "" {
		o = append(o, member{"concurrency", raw(jsonString(string(s.Concurrency)))})
	}
	for _, t := range tunings {
		n, set := t.get(&s.Tuning)
		switch {
		case !set:
		case t.duration:
			o = append(o, member{t.key, raw(jsonString(t.show(n)))})
		default:
			o = append(o, member{t.key, raw(strconv.FormatInt(n, 10))})
		}
	}
	if s.AllowInsecureHTTP {
		o = append(o, member{"allowInsecureHttp", raw("true")})
	}
	return o
}
