package ui

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/form"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// askForm is a question in form mode: fields, Send and Decline. Only the fields
// scroll.
type askForm struct {
	x    *ask
	view *formView // nil when the schema is not understood
	text *jsonView // used then
	open bool

	sendB, declineB *press
	box, row        fyne.CanvasObject
}

func newAskForm(x *ask) *askForm {
	a := &askForm{x: x}
	a.sendB = newPress("Send", nil, x, false, a.send)
	a.sendB.Importance = widget.HighImportance
	a.declineB = newPress("Decline", nil, x, true, x.decline)
	hint := caption("Ctrl+Enter sends · Esc closes without an answer", widget.LowImportance)
	hint.Wrapping = fyne.TextWrapOff
	hint.Truncation = fyne.TextTruncateEllipsis
	a.row = container.NewBorder(nil, nil, nil, container.NewHBox(a.declineB, a.sendB), hint)

	f := form.Parse(x.q.Schema)
	column := container.New(layout.NewCustomPaddedVBoxLayout(12))
	if f.Raw {
		a.text = newJSONView(x, 8, a.changed)
		column.Add(caption(f.Why+" Write the answer as JSON.", widget.WarningImportance))
		column.Add(a.text.box)
	} else {
		a.view = newFormView(f, x, a.changed)
		if a.view.secret() {
			column.Add(warning("This seems to ask for a secret. Forms are not for secrets: what you send passes through AI clients and logs. A server that needs one must ask through a web page."))
		}
		if len(f.Fields) == 0 {
			column.Add(caption("There is nothing to fill in: Send says yes.", widget.LowImportance))
		}
		column.Add(a.view.box)
	}
	a.box = container.NewBorder(widget.NewSeparator(), nil, nil, nil, container.NewVScroll(container.NewPadded(column)))
	return a
}

func (a *askForm) object() fyne.CanvasObject  { return a.box }
func (a *askForm) buttons() fyne.CanvasObject { return a.row }
func (a *askForm) update(*hub.Question)       {}

func (a *askForm) first() fyne.Focusable {
	if a.view == nil {
		return a.text.entry
	}
	return a.view.first()
}

func (a *askForm) enable(on bool) {
	a.open = on
	a.declineB.enable(on)
	a.changed()
}

func (a *askForm) valid() bool {
	if a.view == nil {
		return a.text.valid
	}
	return a.view.valid
}

func (a *askForm) changed() { a.sendB.enable(a.open && a.valid()) }

// send answers with what is in the form, if that is valid.
func (a *askForm) send() {
	if !a.open {
		return
	}
	var content json.RawMessage
	var err error
	switch {
	case a.view == nil && a.text.valid:
		content, err = a.text.encode()
	case a.view != nil && a.view.insist():
		content, err = a.view.encode()
	default:
		return
	}
	if err == nil {
		a.x.answer(hub.Answer{Action: string(mcp.Accept), Content: content})
	}
}

// warning is a remark that must be noticed.
func warning(text string) *widget.Label {
	l := wrapped("⚠ " + text)
	l.Importance = widget.WarningImportance
	return l
}
