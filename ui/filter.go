package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// filterEntry filters as the person types; Escape clears it.
type filterEntry struct {
	widget.Entry
}

func newFilterEntry(hint string, changed func(string)) *filterEntry {
	f := &filterEntry{}
	f.PlaceHolder = hint
	f.Icon = theme.SearchIcon()
	f.OnChanged = changed
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements fyne.Focusable.
func (f *filterEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		f.SetText("")
		return
	}
	f.Entry.TypedKey(k)
}
