package ui

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// tryArgs are a tool's arguments, as a form or as JSON. The switch between the two
// loses nothing: what does not fit into the form stays JSON.
type tryArgs struct {
	form *form.Form
	view *formView // nil when the schema is not understood
	text *jsonView
	// asJSON says which of the two is in force.
	asJSON  bool
	kept    form.Values     // the form's values when it was left
	written json.RawMessage // the JSON they were written as
	changed func()

	mode *tick
	page *fyne.Container
	box  fyne.CanvasObject
}

func newTryArgs(schema json.RawMessage, keys keyboard, changed func()) *tryArgs {
	a := &tryArgs{form: form.Parse(schema), changed: changed}
	a.text = newJSONView(keys, 6, changed)
	a.mode = newTick("Write JSON", keys, a.toggle)
	a.page = container.NewStack()
	head := container.NewBorder(nil, nil, heading("Arguments"), a.mode, caption("", widget.LowImportance))
	if a.form.Raw {
		a.asJSON = true
		a.mode.Hide()
		head = container.NewBorder(nil, nil, heading("Arguments"), nil,
			caption("The schema is not understood: "+a.form.Why+" Write the arguments as JSON.", widget.WarningImportance))
	} else {
		a.view = newFormView(a.form, keys, changed)
	}
	a.box = container.NewBorder(head, nil, nil, nil, a.page)
	a.show()
	return a
}

func (a *tryArgs) show() {
	var o fyne.CanvasObject = a.text.box
	switch {
	case a.asJSON:
	case len(a.form.Fields) == 0:
		o = container.NewVBox(caption("This tool takes no arguments.", widget.LowImportance))
	default:
		rows := container.NewVBox(a.view.box)
		if a.form.Partial {
			rows.Add(caption("The schema has more rules than this form checks; the server checks them.", widget.LowImportance))
		}
		o = container.NewVScroll(container.NewPadded(rows))
	}
	a.page.Objects = []fyne.CanvasObject{o}
	a.page.Refresh()
}

func (a *tryArgs) object() fyne.CanvasObject { return a.box }

// height is what the arguments need to be seen whole.
func (a *tryArgs) height() float32 {
	const head = 40
	if a.asJSON {
		return head + a.text.box.MinSize().Height
	}
	return head + a.view.box.MinSize().Height + 30
}

// toggle goes from the form to JSON and back.
func (a *tryArgs) toggle(on bool) {
	if on == a.asJSON {
		return
	}
	if on {
		a.kept = a.view.values()
		a.text.set(a.form.Draft(a.kept))
		a.written = a.text.raw()
	} else if string(a.text.raw()) == string(a.written) {
		// Untouched JSON: what was half typed in the form comes back.
		a.view.set(a.kept)
	} else {
		vs, err := a.form.Decode(a.text.raw())
		if err != nil {
			a.text.say("This does not fit the form: " + display.Line(err.Error(), 200))
			a.mode.put(true)
			return
		}
		a.view.set(vs)
	}
	a.asJSON = on
	a.show()
	a.changed()
}

// ready reports whether a call can be tried. A form that lacks something can: it
// then says what.
func (a *tryArgs) ready() bool { return !a.asJSON || a.text.valid }

// encode returns the arguments; ok is false when something has to be put right
// first, which it then shows.
func (a *tryArgs) encode() (args json.RawMessage, ok bool) {
	var err error
	switch {
	case a.asJSON && a.text.valid:
		args, err = a.text.encode()
	case !a.asJSON && a.view.insist():
		args, err = a.view.encode()
	default:
		return nil, false
	}
	return args, err == nil
}
