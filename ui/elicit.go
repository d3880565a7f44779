package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/drawbridge-mcp/drawbridge/core/hub"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// asker shows the questions of servers, one at a time, oldest first, in a window
// of its own, which works while the main window is hidden.
type asker struct {
	u   *UI
	win fyne.Window // nil while nothing is asked
	// answered are the questions that have had their one answer and may still be
	// in a snapshot (field case 63).
	answered map[string]bool
	pending  []*hub.Question
	asked    *ask // the question in sight
	again    bool // it took the place of another one in the same window
}

// ask is one question in the window.
type ask struct {
	a     *asker
	q     *hub.Question
	guard *keyGuard
	head  *askHead
	body  askBody
	done  bool
}

// askBody is the part of a question that depends on its mode.
type askBody interface {
	object() fyne.CanvasObject
	buttons() fyne.CanvasObject
	// update shows a later state of the question.
	update(*hub.Question)
	// enable lets buttons be pressed, or not.
	enable(bool)
	// send is Ctrl+Enter.
	send()
	// first takes the focus; it may be nil.
	first() fyne.Focusable
}

func newAsker(u *UI) *asker { return &asker{u: u, answered: map[string]bool{}} }

// update takes the questions of a snapshot. One that is gone vanishes at once, and
// the next one comes with a guard of its own (field case 109).
func (a *asker) update(qs []*hub.Question) {
	for id := range a.answered {
		if !slices.ContainsFunc(qs, func(q *hub.Question) bool { return q.ID == id }) {
			delete(a.answered, id)
		}
	}
	a.pending = slices.DeleteFunc(slices.Clone(qs), func(q *hub.Question) bool { return a.answered[q.ID] })
	if a.asked != nil {
		i := slices.IndexFunc(a.pending, func(q *hub.Question) bool { return q.ID == a.asked.q.ID })
		if i >= 0 {
			a.asked.update(a.pending[i], i, len(a.pending))
			return
		}
		a.asked.end()
		a.asked = nil
	}
	a.next()
}

// next shows the oldest question, or closes the window.
func (a *asker) next() {
	if len(a.pending) == 0 {
		a.again = false
		if a.win != nil {
			a.win.Close()
			a.win = nil
		}
		return
	}
	if a.win == nil {
		a.win = a.u.cfg.App.NewWindow("Drawbridge: a server asks")
		a.win.Resize(fyne.NewSize(580, 620))
		a.win.SetCloseIntercept(a.dismiss)
		a.win.CenterOnScreen()
	}
	a.show(a.pending[0])
	a.win.Show()
	a.again = true
}

func (a *asker) show(q *hub.Question) {
	x := &ask{a: a, q: q}
	a.asked = x
	x.head = newAskHead(q, x)
	if q.URLMode {
		x.body = newAskURL(x)
	} else {
		x.body = newAskForm(x)
	}
	x.head.count(0, len(a.pending))
	foot := container.NewVBox(widget.NewSeparator(), container.NewPadded(x.body.buttons()))
	canvas := a.win.Canvas()
	content := container.NewBorder(container.NewPadded(x.head.box), foot, nil, nil, x.body.object())
	a.win.SetContent(content)
	content.Refresh() // wrapped text learns its height from the width of the first layout
	canvas.Unfocus()
	canvas.SetOnTypedKey(func(k *fyne.KeyEvent) { x.key(k) })
	canvas.SetOnTypedRune(func(rune) { x.guard.passes() })
	for _, s := range sendShortcuts() {
		canvas.AddShortcut(s, func(s fyne.Shortcut) { x.shortcut(s) })
	}
	x.body.enable(false)
	x.guard = newKeyGuard(a.u, x.ready)
}

// dismiss is the window's X: no answer to the question, but an end of it.
func (a *asker) dismiss() {
	// A second press of an impatient hand must not end the question behind.
	if a.asked != nil && (!a.again || a.asked.guard.open || len(a.pending) == 0) {
		a.asked.answer(hub.Answer{Action: string(mcp.Cancel)})
	}
}

// update shows a later state of the question in sight.
func (x *ask) update(q *hub.Question, i, n int) {
	x.q = q
	x.head.count(i, n)
	x.body.update(q)
}

// ready lets the question be answered.
func (x *ask) ready() {
	x.body.enable(true)
	if f := x.body.first(); f != nil && x.a.win.Canvas().Focused() == nil {
		x.a.win.Canvas().Focus(f)
	}
}

// end takes the question away.
func (x *ask) end() {
	x.done = true
	x.guard.stop()
}

// answer gives the question its one answer and shows the next one.
func (x *ask) answer(ans hub.Answer) {
	if x.done {
		return
	}
	x.end()
	x.a.answered[x.q.ID] = true
	x.a.u.cfg.Hub.Answer(x.q.ID, ans)
	x.a.pending = slices.DeleteFunc(x.a.pending, func(q *hub.Question) bool { return q.ID == x.q.ID })
	x.a.asked = nil
	x.a.next()
}

func (x *ask) decline() { x.answer(hub.Answer{Action: string(mcp.Decline)}) }

func (x *ask) cancel() { x.answer(hub.Answer{Action: string(mcp.Cancel)}) }

// key implements keyboard: Esc ends the question without an answer to it.
func (x *ask) key(k *fyne.KeyEvent) bool {
	if k.Name == fyne.KeyEscape && x.guard.passes() {
		x.cancel()
		return true
	}
	return !x.guard.passes()
}

// shortcut implements keyboard: Ctrl+Enter sends.
func (x *ask) shortcut(s fyne.Shortcut) bool {
	if !isSend(s) {
		return false
	}
	if x.guard.passes() {
		x.body.send()
	}
	return true
}

// position says which of the waiting questions this is.
func position(i, n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d", i+1, n)
}
