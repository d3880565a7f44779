package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/display"
	"github.com/drawbridge-mcp/drawbridge/core/hub"
)

// Bounds of what an approval shows: all of a large call, in lines of a readable width.
const (
	maxArgLines = 200_000
	argWidth    = 200
)

// decider names the window in the history.
const decider = "window"

// approver shows the calls that wait for a decision, one at a time, in a window of its
// own, which works while the main window is hidden.
type approver struct {
	u       *UI
	win     fyne.Window // nil while nothing waits
	decided map[string]bool
	pending []*hub.Ask
	shown   *approvalView
}

func newApprover(u *UI) *approver { return &approver{u: u, decided: map[string]bool{}} }

// update takes the asks of a snapshot. The one in sight stays until it is decided or
// gone; the next one comes with a guard of its own (field case 109).
func (a *approver) update(list []*hub.Ask) {
	for id := range a.decided {
		if !slices.ContainsFunc(list, func(x *hub.Ask) bool { return x.ID == id }) {
			delete(a.decided, id)
		}
	}
	a.pending = slices.DeleteFunc(slices.Clone(list), func(x *hub.Ask) bool { return a.decided[x.ID] })
	if v := a.shown; v != nil {
		if i := slices.IndexFunc(a.pending, func(x *hub.Ask) bool { return x.ID == v.ask.ID }); i >= 0 {
			v.update(a.pending[i], i, len(a.pending))
			return
		}
		v.guard.stop()
		a.shown = nil
	}
	a.next()
}

func (a *approver) next() {
	if len(a.pending) == 0 {
		if a.win != nil {
			a.win.Close()
			a.win = nil
		}
		return
	}
	if a.win == nil {
		a.win = a.u.cfg.App.NewWindow("Drawbridge: a call waits for you")
		a.win.Resize(fyne.NewSize(620, 640))
		a.win.SetCloseIntercept(func() {
			if a.shown != nil && a.shown.guard.open {
				a.shown.deny()
			}
		})
		a.win.CenterOnScreen()
	}
	a.show(a.pending[0])
	a.win.Show()
}

// approvalView is one call in the window.
type approvalView struct {
	a     *approver
	ask   *hub.Ask
	guard *keyGuard
	place *widget.Label
	note  *widget.Label

	denyButton, once, more *press
}

func (a *approver) show(x *hub.Ask) {
	v := &approvalView{a: a, ask: x}
	a.shown = v
	v.place = caption("", widget.LowImportance)
	v.place.Wrapping = fyne.TextWrapOff
	v.note = caption("", widget.LowImportance)
	who := widget.NewLabelWithStyle(display.Line(x.Client, 40)+"  →  "+display.Line(x.Server, 40), fyne.TextAlignLeading, fyne.TextStyle{})
	who.Truncation = fyne.TextTruncateEllipsis
	tool := widget.NewLabelWithStyle(display.Line(x.Tool, 120), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	tool.SizeName = theme.SizeNameSubHeadingText
	tool.Wrapping = fyne.TextWrapBreak
	head := container.New(&column{gap: 3},
		container.NewBorder(nil, nil, nil, container.NewCenter(v.place), who), tool)
	if x.Title != "" && x.Title != x.Tool {
		head.Add(caption(display.Line(x.Title, 160), widget.LowImportance))
	}
	if len(x.Hints) > 0 {
		importance := widget.LowImportance
		if strings.Contains(strings.Join(x.Hints, " "), "destructive") || strings.Contains(strings.Join(x.Hints, " "), "sensitive") {
			importance = widget.WarningImportance
		}
		head.Add(caption(strings.Join(x.Hints, " · "), importance))
	}
	head.Add(caption(x.Why, widget.MediumImportance))
	head.Add(v.note)
	args := indented(x.Arguments)
	if display.Hidden(string(x.Arguments)) || display.Hidden(x.Tool) {
		head.Add(caption("⚠ The call holds hidden characters; they are shown as ⟨…⟩.", widget.WarningImportance))
	}
	text := newText(display.Lines(args, maxArgLines, argWidth), true)
	text.keys = v.key
	var body fyne.CanvasObject = text
	if x.Diff != "" {
		diff := newText(display.Lines(x.Diff, maxArgLines, argWidth), true)
		diff.keys = v.key
		body = container.NewAppTabs(container.NewTabItem("What changed", diff), container.NewTabItem("Arguments", text))
	}
	v.denyButton = newPress("Deny", nil, v, true, v.deny)
	v.once = newPress("Allow once", nil, v, false, func() { v.allow(hub.AllowOnce) })
	v.more = newPress("Allow…", nil, v, false, v.menu)
	buttons := container.NewGridWithColumns(3, v.denyButton, v.once, v.more)
	canvas := a.win.Canvas()
	content := container.NewBorder(container.NewPadded(head), container.NewVBox(widget.NewSeparator(), container.NewPadded(buttons)), nil, nil, body)
	a.win.SetContent(content)
	content.Refresh()
	canvas.Unfocus()
	canvas.SetOnTypedKey(func(k *fyne.KeyEvent) { v.key(k) })
	canvas.SetOnTypedRune(func(rune) { v.guard.passes() })
	for _, s := range sendShortcuts() {
		canvas.AddShortcut(s, func(fyne.Shortcut) {
			if v.guard.passes() {
				v.allow(hub.AllowOnce)
			}
		})
	}
	v.enable(false)
	v.update(x, 0, len(a.pending))
	v.guard = newKeyGuard(a.u, func() { v.enable(true) })
}

// indented is the arguments as a person reads them: every byte of every value, with
// line breaks between the members.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func (v *approvalView) enable(on bool) {
	for _, b := range []*press{v.denyButton, v.once, v.more} {
		b.enable(on)
	}
}

// update shows a later state of the call.
func (v *approvalView) update(x *hub.Ask, i, n int) {
	v.ask = x
	setText(v.place, position(i, n))
	note := "Denied at " + x.Until.Format("15:04:05") + " unless you decide."
	if x.Gone {
		note = "The caller is gone. Allowing lets one identical retry through until " + x.Until.Format("15:04:05") + "."
	}
	setText(v.note, note)
}

// key implements keyboard: Esc denies, nothing else does anything.
func (v *approvalView) key(k *fyne.KeyEvent) bool {
	if k.Name == fyne.KeyEscape && v.guard.passes() {
		v.deny()
		return true
	}
	return !v.guard.passes()
}

// shortcut implements keyboard.
func (v *approvalView) shortcut(s fyne.Shortcut) bool {
	if !isSend(s) {
		return false
	}
	if v.guard.passes() {
		v.allow(hub.AllowOnce)
	}
	return true
}

func (v *approvalView) deny() {
	id := v.ask.ID
	v.decide(func(h Hub) error { return h.Deny(id, decider) })
}

func (v *approvalView) allow(s hub.Scope) {
	id := v.ask.ID
	v.decide(func(h Hub) error { return h.Allow(id, s, decider) })
}

// menu offers what else can be allowed.
func (v *approvalView) menu() {
	item := func(label string, s hub.Scope) *fyne.MenuItem {
		return fyne.NewMenuItem(label, func() { v.allow(s) })
	}
	m := widget.NewPopUpMenu(fyne.NewMenu("",
		item("This exact call for 5 minutes", hub.AllowThisCall),
		item("This tool for this client until Drawbridge quits", hub.AllowUntilQuit),
		item("This tool for this client, always", hub.AllowAlways),
	), v.a.win.Canvas())
	size := m.MinSize()
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(v.more)
	m.ShowAtPosition(fyne.NewPos(at.X+v.more.Size().Width-size.Width, at.Y-size.Height))
}

// decide gives the call its one decision and shows the next one. That it did not wait
// any more is no error of the person's: it is gone from sight either way.
func (v *approvalView) decide(how func(Hub) error) {
	if v.a.shown != v {
		return
	}
	v.guard.stop()
	v.a.decided[v.ask.ID] = true
	v.a.u.background(func(context.Context) { _ = how(v.a.u.cfg.Hub) })
	v.a.pending = slices.DeleteFunc(v.a.pending, func(x *hub.Ask) bool { return x.ID == v.ask.ID })
	v.a.shown = nil
	v.a.next()
}
