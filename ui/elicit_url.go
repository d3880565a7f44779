package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// askURL is a question in url mode. Nothing is fetched, and nothing is opened
// before the person presses the button that says so.
type askURL struct {
	x    *ask
	link *link
	open bool // the guard is
	// waiting says that the address was opened, now or before.
	waiting bool

	openB, declineB         *press
	againB, doneB, cancelB  *press
	state, trouble          *widget.Label
	before, after, box, row *fyne.Container
}

func newAskURL(x *ask) *askURL {
	a := &askURL{x: x, link: readLink(x.q.URL)}
	a.openB = newPress("Open in browser", nil, x, false, a.openIt)
	a.openB.Importance = widget.HighImportance
	a.declineB = newPress("Decline", nil, x, true, x.decline)
	a.againB = newPress("Open again", nil, x, false, a.openIt)
	a.doneB = newPress("Done, continue", nil, x, false, func() { x.answer(hub.Answer{Action: string(mcp.Accept)}) })
	a.doneB.Importance = widget.HighImportance
	a.cancelB = newPress("Cancel", nil, x, true, x.cancel)
	a.state = wrapped("Waiting for you to finish in the browser…")
	a.trouble = warning("")
	a.trouble.Hide()
	a.before = container.NewHBox(a.declineB, a.openB)
	a.after = container.NewHBox(a.cancelB, a.againB, a.doneB)
	hint := caption("Esc closes without an answer", widget.LowImportance)
	hint.Wrapping, hint.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	a.row = container.NewBorder(nil, nil, nil, container.NewHBox(a.before, a.after), hint)
	a.build()
	a.update(x.q)
	return a
}

func (a *askURL) build() {
	top := container.New(&column{gap: 4})
	if a.link.host != "" {
		host := widget.NewLabelWithStyle(display.Line(a.link.host, 120), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
		host.SizeName = theme.SizeNameSubHeadingText
		host.Wrapping = fyne.TextWrapBreak
		top.Add(caption("It wants to open a page at", widget.LowImportance))
		top.Add(host)
	}
	if len(a.link.warnings) > 0 {
		top.Add(newRoom(4))
	}
	for _, w := range a.link.warnings {
		top.Add(warning(w))
	}
	if a.link.refusal != "" {
		no := wrapped("⛔ " + a.link.refusal)
		no.Importance = widget.DangerImportance
		top.Add(no)
	}
	top.Add(newRoom(6))
	copyIt := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() { a.x.a.u.cfg.App.Clipboard().SetContent(a.x.q.URL) })
	copyIt.Importance = widget.LowImportance
	top.Add(container.NewBorder(nil, nil, nil, copyIt, caption("The whole address", widget.LowImportance)))
	full := newText(display.Lines(a.x.q.URL, 2000, 4096), true)
	full.keys = a.x.key
	end := container.NewVBox(a.trouble, a.state)
	a.box = container.NewPadded(container.NewBorder(top, end, nil, nil, framed(full)))
}

func (a *askURL) object() fyne.CanvasObject {
	return container.NewBorder(widget.NewSeparator(), nil, nil, nil, a.box)
}
func (a *askURL) buttons() fyne.CanvasObject { return a.row }
func (a *askURL) first() fyne.Focusable      { return nil }
func (a *askURL) send()                      {} // no key opens anything

func (a *askURL) update(q *hub.Question) {
	a.waiting = a.waiting || q.Opened
	setVisible(a.before, !a.waiting)
	setVisible(a.after, a.waiting)
	setVisible(a.state, a.waiting)
	setVisible(a.openB, a.link.target != nil)
	setVisible(a.againB, a.link.target != nil)
	a.row.Refresh()
	a.box.Refresh()
}

func (a *askURL) enable(on bool) {
	a.open = on
	for _, b := range []*press{a.openB, a.declineB, a.againB, a.doneB, a.cancelB} {
		b.enable(on)
	}
}

// openIt opens the address. The hub learns of it first: a fast server may say that
// all is done before the browser has returned.
func (a *askURL) openIt() {
	if !a.open || a.link.target == nil || a.x.done {
		return
	}
	u, x := a.x.a.u, a.x
	u.cfg.Hub.Answer(x.q.ID, hub.Answer{Action: hub.Opened})
	a.waiting = true
	a.update(x.q)
	a.trouble.Hide()
	u.background(func(context.Context) {
		err := u.cfg.Open(a.link.target)
		u.cfg.Do(func() {
			if err != nil && !x.done {
				a.trouble.SetText("⚠ The browser could not be opened. Copy the address and open it yourself.")
				a.trouble.Show()
			}
		})
	})
}

// framed draws a thin frame around machine text.
func framed(o fyne.CanvasObject) fyne.CanvasObject {
	return container.NewStack(newFrame(), container.New(layout.NewCustomPaddedLayout(6, 6, 2, 2), o))
}
