package ui

import (
	"context"
	"encoding/json"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

// argument is one argument of a prompt or variable of a template: a text.
type argument struct {
	name, title, description string
	required                 bool
}

// completer asks what an argument could be, given what is written so far of it and
// of the others. It is called off the UI goroutine; nil completes nothing.
type completer func(ctx context.Context, argument, value string, others map[string]string) ([]string, error)

// argForm is a form of texts, which the server may complete.
type argForm struct {
	fields  []*argField
	changed func()
	none    string // what is said when there is nothing to fill in
	box     fyne.CanvasObject
	column  *fyne.Container
}

func newArgForm(u *UI, args []argument, none string, complete completer, keys keyboard, changed func()) *argForm {
	f := &argForm{changed: changed, none: none, column: container.New(layout.NewCustomPaddedVBoxLayout(12))}
	for _, a := range args {
		x := newArgField(u, f, a, complete, keys)
		f.fields = append(f.fields, x)
		f.column.Add(x.box)
	}
	if len(args) == 0 {
		f.box = container.NewVBox()
		if none != "" {
			f.box = container.NewVBox(caption(none, widget.LowImportance))
		}
		return f
	}
	f.box = container.NewBorder(container.NewBorder(nil, nil, heading("Arguments"), nil), nil, nil, nil, container.NewVScroll(container.NewPadded(f.column)))
	return f
}

func (f *argForm) object() fyne.CanvasObject { return f.box }

func (f *argForm) height() float32 {
	if len(f.fields) == 0 {
		return f.box.MinSize().Height
	}
	const head = 40
	return head + f.column.MinSize().Height + 20
}

// ready implements taskArgs: a form that lacks something says what when it is
// used.
func (f *argForm) ready() bool { return true }

// values are the arguments that are written.
func (f *argForm) values() map[string]string {
	vs := map[string]string{}
	for _, x := range f.fields {
		if t := x.entry.Text; t != "" {
			vs[x.arg.name] = t
		}
	}
	return vs
}

// encode implements taskArgs: the arguments as a JSON object of texts.
func (f *argForm) encode() (json.RawMessage, bool) {
	ok := true
	for _, x := range f.fields {
		ok = x.insist() && ok
	}
	if !ok {
		f.column.Refresh()
		return nil, false
	}
	b, err := json.Marshal(f.values())
	return b, err == nil
}

// argField is one argument, with what the server offers for it.
type argField struct {
	form    *argForm
	arg     argument
	entry   *argEntry
	problem *widget.Label
	offers  *offers
	box     *fyne.Container
}

func newArgField(u *UI, f *argForm, a argument, complete completer, keys keyboard) *argField {
	x := &argField{form: f, arg: a, problem: caption("", widget.DangerImportance)}
	x.problem.Hide()
	x.offers = newOffers(u, x.pick, x.moved)
	x.entry = newArgEntry(&argKeys{keys, x.offers})
	x.entry.OnChanged = func(string) { x.edited() }
	if complete != nil {
		x.offers.ask = func(ctx context.Context, value string, others map[string]string) ([]string, error) {
			return complete(ctx, a.name, value, others)
		}
		x.entry.gained = x.offer
	}
	name := widget.NewLabelWithStyle(display.Line(orElse(a.title, a.name), 70), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	name.Truncation = fyne.TextTruncateEllipsis
	label := container.New(&sideBySide{}, name)
	if a.required {
		label.Add(caption("required", widget.HighImportance))
	} else {
		label.Add(caption("optional", widget.LowImportance))
	}
	x.box = container.New(&column{gap: 2}, label)
	if d := strings.TrimSpace(a.description); d != "" {
		x.box.Add(caption(strings.Join(display.Lines(d, 5, 84), "\n"), widget.LowImportance))
	}
	x.box.Add(x.entry)
	x.box.Add(x.offers.box)
	x.box.Add(x.problem)
	return x
}

// edited follows what the person types.
func (x *argField) edited() {
	x.say("")
	x.offer()
	x.form.changed()
}

// offer asks for what could be written.
func (x *argField) offer() {
	others := x.form.values()
	delete(others, x.arg.name)
	x.offers.want(x.entry.Text, others)
}

// pick writes what was offered.
func (x *argField) pick(value string) {
	x.entry.fill(value)
	x.entry.CursorColumn = len([]rune(value))
	x.entry.Refresh()
	x.say("")
	x.form.changed()
}

// moved is called when the offers need another height.
func (x *argField) moved() {
	x.box.Refresh()
	x.form.column.Refresh()
}

// insist says when something required is missing.
func (x *argField) insist() bool {
	if !x.arg.required || x.entry.Text != "" {
		return true
	}
	x.say("This is required.")
	return false
}

func (x *argField) say(problem string) {
	if problem != "" {
		problem = "⚠ " + problem
	}
	if problem != x.problem.Text {
		x.problem.SetText(problem)
		setVisible(x.problem, problem != "")
		x.moved()
	}
}

// argEntry is an entry that tells when it gets the focus.
type argEntry struct {
	input
	gained func()
}

func newArgEntry(keys keyboard) *argEntry {
	e := &argEntry{}
	e.keys = keys
	e.Wrapping, e.Scroll = fyne.TextWrapOff, fyne.ScrollBoth
	e.ExtendBaseWidget(e)
	return e
}

// FocusGained implements fyne.Focusable.
func (e *argEntry) FocusGained() {
	e.input.FocusGained()
	if e.gained != nil {
		e.gained()
	}
}

// argKeys lets Down and Up go through what is offered.
type argKeys struct {
	keyboard
	offers *offers
}

func (k *argKeys) key(e *fyne.KeyEvent) bool {
	switch e.Name {
	case fyne.KeyDown:
		return k.offers.step(1)
	case fyne.KeyUp:
		return k.offers.step(-1)
	}
	return k.keyboard.key(e)
}
