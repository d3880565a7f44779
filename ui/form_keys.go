package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// keyboard sees keys before the widget that has the focus. The toolkit gives keys
// to that widget alone, so each widget of a form passes them on.
type keyboard interface {
	// key reports whether it took a key.
	key(*fyne.KeyEvent) bool
	// shortcut reports whether it took a shortcut.
	shortcut(fyne.Shortcut) bool
}

// noKeys takes none.
type noKeys struct{}

func (noKeys) key(*fyne.KeyEvent) bool     { return false }
func (noKeys) shortcut(fyne.Shortcut) bool { return false }

// isSend reports whether a shortcut is Ctrl+Enter, on either Enter.
func isSend(s fyne.Shortcut) bool {
	c, ok := s.(*desktop.CustomShortcut)
	return ok && c.Modifier == fyne.KeyModifierShortcutDefault && (c.KeyName == fyne.KeyReturn || c.KeyName == fyne.KeyEnter)
}

// sendShortcuts are the two spellings of Ctrl+Enter.
func sendShortcuts() []*desktop.CustomShortcut {
	return []*desktop.CustomShortcut{
		{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault},
		{KeyName: fyne.KeyEnter, Modifier: fyne.KeyModifierShortcutDefault},
	}
}

// input is an entry of a form. Tab leaves it, also where it has several lines, and
// pasting keeps line ends: what was pasted is what is sent (field case 107).
type input struct {
	widget.Entry
	keys keyboard
}

func newInput(keys keyboard, lines int) *input {
	e := &input{keys: keys}
	e.Wrapping = fyne.TextWrapOff
	e.Scroll = fyne.ScrollBoth
	if lines > 1 {
		e.MultiLine = true
		e.SetMinRowsVisible(lines)
	}
	e.ExtendBaseWidget(e)
	return e
}

// AcceptsTab implements fyne.Tabbable.
func (e *input) AcceptsTab() bool { return false }

// TypedKey implements fyne.Focusable.
func (e *input) TypedKey(k *fyne.KeyEvent) {
	if !e.keys.key(k) {
		e.Entry.TypedKey(k)
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (e *input) TypedShortcut(s fyne.Shortcut) {
	if e.keys.shortcut(s) {
		return
	}
	if p, ok := s.(*fyne.ShortcutPaste); ok && p.Clipboard != nil && strings.ContainsAny(p.Clipboard.Content(), "\r\n") {
		e.grow()
	}
	e.Entry.TypedShortcut(s)
}

// grow makes room for several lines.
func (e *input) grow() {
	if !e.MultiLine && !e.Password {
		e.MultiLine = true
		e.SetMinRowsVisible(4)
		e.Refresh()
	}
}

// fill sets the text without an event.
func (e *input) fill(s string) {
	changed := e.OnChanged
	e.OnChanged = nil
	if strings.ContainsAny(s, "\r\n") {
		e.grow()
	}
	e.SetText(s)
	e.OnChanged = changed
}

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
