package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
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
