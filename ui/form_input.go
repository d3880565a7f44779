package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

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
