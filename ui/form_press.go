package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// press is a button that only a pointer presses when it says yes to something: no
// key approves by accident (rule A8).
type press struct {
	widget.Button
	keys  keyboard
	typed bool // may be pressed by Space
}

func newPress(label string, icon fyne.Resource, keys keyboard, typed bool, tapped func()) *press {
	p := &press{keys: keys, typed: typed}
	p.Text, p.Icon, p.OnTapped = label, icon, tapped
	p.ExtendBaseWidget(p)
	return p
}

// TypedKey implements fyne.Focusable.
func (p *press) TypedKey(k *fyne.KeyEvent) {
	if !p.keys.key(k) && p.typed {
		p.Button.TypedKey(k)
	}
}

// enable switches the button if it has to.
func (p *press) enable(on bool) {
	switch {
	case on && p.Disabled():
		p.Enable()
	case !on && !p.Disabled():
		p.Disable()
	}
}
