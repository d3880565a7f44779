package ui

import (
	"bytes"
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/form"
)

// jsonView is a JSON object to be written by hand.
type jsonView struct {
	entry   *input
	problem *widget.Label
	valid   bool
	changed func()
	box     *fyne.Container
}

func newJSONView(keys keyboard, lines int, changed func()) *jsonView {
	v := &jsonView{entry: newInput(keys, lines), problem: caption("", widget.DangerImportance), changed: changed}
	v.entry.TextStyle.Monospace = true
	v.entry.OnChanged = func(string) {
		v.check()
		v.changed()
	}
	v.problem.Hide()
	v.box = container.NewBorder(nil, v.problem, nil, nil, v.entry)
	v.set(json.RawMessage("{}"))
	return v
}

// set shows an object, laid out for reading.
func (v *jsonView) set(raw json.RawMessage) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		b.Reset()
		b.Write(raw)
	}
	v.entry.fill(b.String())
	v.check()
}

func (v *jsonView) raw() json.RawMessage { return json.RawMessage(v.entry.Text) }

func (v *jsonView) check() {
	p := form.ObjectSyntax(v.raw())
	if len(v.entry.Text) > maxEditable {
		p = "This is too long to be written here."
	}
	v.valid = p == ""
	v.say(p)
}

// say shows what is wrong.
func (v *jsonView) say(p string) {
	if p != "" {
		p = "⚠ " + p
	}
	if p != v.problem.Text {
		setText(v.problem, p)
		setVisible(v.problem, p != "")
		v.box.Refresh()
	}
}

// encode returns the object as one compact line.
func (v *jsonView) encode() (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, v.raw()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
