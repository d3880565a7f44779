package ui

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// formView is the fields of a schema, filled with its defaults.
type formView struct {
	form    *form.Form
	fields  []*formField
	changed func()
	valid   bool
	box     *fyne.Container
}

// newFormView shows a form that is not raw. changed is called after each change.
func newFormView(f *form.Form, keys keyboard, changed func()) *formView {
	v := &formView{form: f, changed: changed, box: container.New(layout.NewCustomPaddedVBoxLayout(12))}
	for _, fd := range f.Fields {
		x := newFormField(fd, keys, v.edited)
		v.fields = append(v.fields, x)
		v.box.Add(x.box)
	}
	v.set(f.Defaults())
	return v
}

func (v *formView) values() form.Values {
	vs := make(form.Values, len(v.fields))
	for i, x := range v.fields {
		vs[i] = x.value
	}
	return vs
}

// set shows values that come from elsewhere.
func (v *formView) set(vs form.Values) {
	for i, x := range v.fields {
		x.set(vs[i])
	}
	v.check()
}

func (v *formView) edited() {
	v.check()
	v.changed()
}

// check says beside each field what is wrong with it.
func (v *formView) check() {
	problems, ok := v.form.Check(v.values())
	v.valid = ok
	moved := false
	for i, x := range v.fields {
		moved = x.say(problems[i]) || moved
	}
	if moved {
		v.box.Refresh()
	}
}

// insist says what is missing also in fields that nobody has touched.
func (v *formView) insist() bool {
	for _, x := range v.fields {
		x.touched = true
	}
	v.check()
	return v.valid
}

// encode writes the values; the form must be valid.
func (v *formView) encode() (json.RawMessage, error) { return v.form.Encode(v.values()) }

// secret reports whether a field seems to ask for a secret.
func (v *formView) secret() bool {
	for _, x := range v.fields {
		if x.field.Secret {
			return true
		}
	}
	return false
}

// first is what takes the focus first; nil when nothing can.
func (v *formView) first() fyne.Focusable {
	for _, x := range v.fields {
		if x.first != nil {
			return x.first
		}
	}
	return nil
}
