package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// tick is a box, or a ring, to tick.
type tick struct {
	widget.Check
	keys keyboard
}

func newTick(label string, keys keyboard, changed func(bool)) *tick {
	t := &tick{keys: keys}
	t.Text, t.OnChanged = label, changed
	t.ExtendBaseWidget(t)
	return t
}

// TypedKey implements fyne.Focusable.
func (t *tick) TypedKey(k *fyne.KeyEvent) {
	if !t.keys.key(k) {
		t.Check.TypedKey(k)
	}
}

// put sets the tick without an event.
func (t *tick) put(on bool) {
	changed := t.OnChanged
	t.OnChanged = nil
	t.SetChecked(on)
	t.OnChanged = changed
}

// chooser is a drop-down.
type chooser struct {
	widget.Select
	keys keyboard
}

func newChooser(options []string, keys keyboard) *chooser {
	c := &chooser{keys: keys}
	c.Options, c.PlaceHolder = options, "Choose…"
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey implements fyne.Focusable.
func (c *chooser) TypedKey(k *fyne.KeyEvent) {
	if !c.keys.key(k) {
		c.Select.TypedKey(k)
	}
}
