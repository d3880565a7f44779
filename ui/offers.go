package ui

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"github.com/drawbridge-mcp/drawbridge/core/display"
)

const (
	// typing is how long a person must pause before the server is asked.
	typing = 150 * time.Millisecond
	// maxOffers is how many values are shown; typing on narrows them.
	maxOffers = 24
)

// offers shows what a server offers for one argument, as chips below its entry.
type offers struct {
	u *UI
	// ask asks the server, off the UI goroutine; nil offers nothing.
	ask func(ctx context.Context, value string, others map[string]string) ([]string, error)
	// pick is given the value that the person took, moved says that the height
	// changed.
	pick  func(string)
	moved func()

	values []string
	at     int // the value that was taken, -1 for none
	asked  int // counts questions, so that a late answer is known as such
	cancel context.CancelFunc
	row    *fyne.Container
	box    *container.Scroll
}

func newOffers(u *UI, pick func(string), moved func()) *offers {
	o := &offers{u: u, pick: pick, moved: moved, at: -1, row: container.NewHBox(), cancel: func() {}}
	o.box = container.NewHScroll(container.New(layout.NewCustomPaddedLayout(2, 4, 1, 1), o.row))
	o.box.Hide()
	return o
}

// want asks for what fits to a value, once the person pauses. Answers to earlier
// questions are not shown any more.
func (o *offers) want(value string, others map[string]string) {
	if o.ask == nil {
		return
	}
	o.cancel()
	ctx, cancel := context.WithCancel(o.u.ctx)
	o.cancel = cancel
	o.asked++
	n := o.asked
	o.u.background(func(context.Context) {
		defer cancel()
		t := time.NewTimer(typing)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		values, err := o.ask(ctx, value, others)
		if err != nil {
			values = nil // a server that cannot complete offers nothing
		}
		o.u.cfg.Do(func() {
			if n == o.asked {
				o.show(value, values)
			}
		})
	})
}

// show shows values, unless the only one is written already.
func (o *offers) show(written string, values []string) {
	values = values[:min(len(values), maxOffers)]
	if len(values) == 1 && values[0] == written {
		values = nil
	}
	if slices.Equal(values, o.values) && o.at < 0 {
		return
	}
	o.values, o.at = values, -1
	o.row.RemoveAll()
	for range values {
		o.row.Add(newChip())
	}
	o.draw()
	o.box.ScrollToOffset(fyne.Position{})
	setVisible(o.box, len(values) > 0)
	o.moved()
}

func (o *offers) draw() {
	for i, c := range o.row.Objects {
		c.(*chip).framed = true
		c.(*chip).set(display.Line(o.values[i], 40), i == o.at, func() { o.take(i) })
	}
	o.row.Refresh()
}

// take writes the value i.
func (o *offers) take(i int) {
	o.asked++ // what is still on its way was asked about something else
	o.at = i
	o.draw()
	o.pick(o.values[i])
	c := o.row.Objects[i]
	if left, width := c.Position().X, o.box.Size().Width; left < o.box.Offset.X || left+c.Size().Width > o.box.Offset.X+width {
		o.box.ScrollToOffset(fyne.NewPos(max(0, left+c.Size().Width-width), 0))
	}
}

// step takes the next value, or the one before; false when nothing is offered.
func (o *offers) step(by int) bool {
	n := len(o.values)
	if n == 0 {
		return false
	}
	next := o.at + by
	if o.at < 0 && by < 0 {
		next = n - 1
	}
	o.take((next + n) % n)
	return true
}
