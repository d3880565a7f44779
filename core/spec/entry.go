package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// entry decodes one server. It reads on after the first mistake, so that the
// refused spec can be shown whole; only the first is reported.
func (d *document) entry(m *hujson.ObjectMember, source Source) *Entry {
	r := &reader{d: d, pos: d.pos(&m.Name), spec: &Spec{Name: nameOf(m), Source: source}}
	obj, ok := m.Value.Value.(*hujson.Object)
	switch {
	case r.spec.Name == "":
		r.fail(r.pos, "give the server a name", "a server has an empty name")
	case len(r.spec.Name) > maxName:
		r.fail(r.pos, "shorten the name", "the name is longer than %d bytes", maxName)
	}
	if ok {
		r.server(obj)
		r.choose()
		r.check()
	} else {
		r.fail(d.pos(&m.Value), `write {"command": "…"} or {"url": "…"}`, "a server must be an object, not %s", kindOf(&m.Value))
	}
	e := &Entry{Name: r.spec.Name, Pos: r.pos, Spec: r.spec, Disabled: r.spec.Disabled, Notes: r.notes}
	if r.err != nil {
		r.err.Spec = r.spec.Redact()
		e.Spec, e.Err = nil, r.err
	}
	return e
}

// reader gathers what one entry says.
type reader struct {
	d     *document
	pos   Pos // of the entry's name
	spec  *Spec
	notes []Note
	err   *InvalidError

	hasCommand, hasURL bool
	typeWord           string
	typePos            Pos
	// misnamed is a key that was probably meant to be another.
	misnamed, meant string
	// ours is the switch below "drawbridge". It wins over the entry's own, which
	// other programs read and write.
	ours *bool
}

func (r *reader) fail(pos Pos, action, format string, args ...any) {
	if r.err == nil {
		r.err = &InvalidError{Pos: pos, Sentence: fmt.Sprintf(format, args...), Action: action}
	}
}

func (r *reader) note(v *hujson.Value, format string, args ...any) {
	addNote(&r.notes, r.d.pos(v), format, args...)
}

// server reads the keys of an entry. null is as good as absent.
func (r *reader) server(obj *hujson.Object) {
	s := r.spec
	r.members(obj, "", func(name string, m *hujson.ObjectMember) {
		v := &m.Value
		switch name {
		case "command":
			s.Command, r.hasCommand = r.text(name, v), true
		case "args":
			s.Args = r.list(name, v)
		case "env":
			s.Env = r.vars(name, v, func(name string) string { return name })
		case "cwd":
			s.Dir = r.text(name, v)
		case "url":
			s.URL, r.hasURL = r.text(name, v), true
		case "headers":
			s.Headers = r.vars(name, v, strings.ToLower)
		case "type":
			r.typeWord, r.typePos = r.text(name, v), r.d.pos(v)
		case "disabled":
			// Another program's key: what else it may hold there is its own affair.
			s.Disabled = v.Value.Kind() == 't'
		case extraKey:
			r.extra(v)
		default:
			r.unknown(name, m)
		}
	})
	if r.ours != nil {
		s.Disabled = *r.ours
	}
}

func (r *reader) unknown(name string, m *hujson.ObjectMember) {
	if slices.Contains(extraHints.known, name) {
		r.note(&m.Name, "%s is not read here; it belongs into %s", quote(name), quote(extraKey))
		return
	}
	if meant := serverHints.meant(name); meant == "url" || meant == "command" {
		r.misnamed, r.meant = name, meant
	}
	r.note(&m.Name, "%s is not read by Drawbridge%s", quote(name), serverHints.suggest(name))
}

// members calls use for every member that is not null, and refuses a key that
// stands twice where that would leave open what counts.
func (r *reader) members(obj *hujson.Object, prefix string, use func(string, *hujson.ObjectMember)) {
	seen := make(map[string]bool, len(obj.Members))
	for i := range obj.Members {
		m := &obj.Members[i]
		name := nameOf(m)
		if seen[name] {
			r.fail(r.d.pos(&m.Name), "remove one of the two", "%s stands twice", quote(prefix+name))
			continue
		}
		seen[name] = true
		if m.Value.Value.Kind() != 'n' {
			use(name, m)
		}
	}
}

func (r *reader) text(place string, v *hujson.Value) string {
	s, ok := text(v)
	switch {
	case !ok:
		r.fail(r.d.pos(v), "put the value in double quotes", "%s must be a text, not %s", place, kindOf(v))
	case strings.ContainsRune(s, 0):
		r.fail(r.d.pos(v), `remove the \u0000`, "%s holds a zero byte", place)
	}
	return s
}

func (r *reader) list(place string, v *hujson.Value) []string {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		r.fail(r.d.pos(v), `write a list such as ["a", "b"]`, "%s must be a list, not %s", place, kindOf(v))
		return nil
	}
	list := make([]string, 0, len(arr.Elements))
	for i := range arr.Elements {
		list = append(list, r.text(fmt.Sprintf("%s[%d]", place, i), &arr.Elements[i]))
	}
	return list
}

// vars reads env or headers; fold gives the spelling under which two names are
// the same.
func (r *reader) vars(place string, v *hujson.Value, fold func(string) string) []Var {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fail(r.d.pos(v), `write an object such as {"NAME": "value"}`, "%s must be an object, not %s", place, kindOf(v))
		return nil
	}
	vars := make([]Var, 0, len(obj.Members))
	seen := make(map[string]bool, len(obj.Members))
	for i := range obj.Members {
		m := &obj.Members[i]
		name := nameOf(m)
		at := place + "." + clip(name, 64)
		if seen[fold(name)] {
			r.fail(r.d.pos(&m.Name), "remove one of the two", "%s is set twice", at)
			continue
		}
		seen[fold(name)] = true
		vars = append(vars, Var{name, r.text(at, &m.Value)})
	}
	return vars
}
